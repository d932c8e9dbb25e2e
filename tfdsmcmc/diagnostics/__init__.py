"""How far is the run, has the chain settled, which units are of use? Progress, traces, R̂, ArviZ's data, TensorBoard."""

from tfdsmcmc.diagnostics.activity import active_units
from tfdsmcmc.diagnostics.inference import inference_data
from tfdsmcmc.diagnostics.progress import Progress
from tfdsmcmc.diagnostics.summaries import summary
from tfdsmcmc.diagnostics.temperature import configurational_temperature
from tfdsmcmc.diagnostics.tensorboard import TensorBoard
from tfdsmcmc.diagnostics.traces import trace

__all__ = [
    "Progress",
    "TensorBoard",
    "active_units",
    "configurational_temperature",
    "inference_data",
    "summary",
    "trace",
]
