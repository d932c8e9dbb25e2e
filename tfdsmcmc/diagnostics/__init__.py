"""Has the chain settled? Traces, R̂ and effective sample sizes, ArviZ's data, TensorBoard."""

from tfdsmcmc.diagnostics.inference import inference_data
from tfdsmcmc.diagnostics.summaries import summary
from tfdsmcmc.diagnostics.tensorboard import TensorBoard
from tfdsmcmc.diagnostics.traces import trace

__all__ = ["TensorBoard", "inference_data", "summary", "trace"]
