"""What values the entries of rows may have, one kind a file; `base` is the contract."""

from tfdsmcmc.supports.amounts import Amounts
from tfdsmcmc.supports.base import Support
from tfdsmcmc.supports.binary import Binary
from tfdsmcmc.supports.checked_array import checked_array
from tfdsmcmc.supports.counts import Counts
from tfdsmcmc.supports.one_hot import OneHot
from tfdsmcmc.supports.real import Real
from tfdsmcmc.supports.side_by_side import SideBySide
from tfdsmcmc.supports.skewed import Skewed
from tfdsmcmc.supports.spin import Spin

__all__ = [
    "Amounts",
    "Binary",
    "Counts",
    "OneHot",
    "Real",
    "SideBySide",
    "Skewed",
    "Spin",
    "Support",
    "checked_array",
]
