"""Plain data as a short word that tells it from others."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from tfdsmcmc.rows.source import RandomAccessSource


def digest_of(content: Any) -> str:
    """Sixteen hexadecimal digits; names and seeds, which differ between chains of one posterior, do not count."""
    return hashlib.blake2b(json.dumps(_bare(content), sort_keys=True).encode(), digest_size=8).hexdigest()


def _bare(part):
    if isinstance(part, dict):
        return {str(key): _bare(value) for key, value in part.items() if key not in ("name", "seed")}
    if isinstance(part, (list, tuple)):
        return [_bare(each) for each in part]
    if isinstance(part, np.generic):
        part = part.item()
    if isinstance(part, RandomAccessSource):
        return int(part.checksum)
    if hasattr(part, "__array__"):  # a pandas Series or a tensor, of which a text shows the ends alone
        part = np.asarray(part)
        return [list(part.shape), hashlib.blake2b(np.ascontiguousarray(part)).hexdigest()]
    return part if isinstance(part, (str, int, float, bool, type(None))) else str(part)
