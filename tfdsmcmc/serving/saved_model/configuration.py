"""What TensorFlow Serving is told about a model, as files beside the folders of its versions.

    models.config     a `tensorflow.serving.ModelServerConfig`, for --model_config_file
    batching.config   a `tensorflow.serving.BatchingParameters`, for --batching_parameters_file

Both are protocol buffers as text. With --enable_batching the server joins the rows of several requests to one
signature, pads them to the next allowed size with copies of a row, and gives each request its own part of the answer.
What follows from it the file says.

Source: TensorFlow Serving's guides "Serving Configuration" and "Batching".
"""

from __future__ import annotations

import pathlib
import re
from typing import TYPE_CHECKING

from tfdsmcmc import files

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath

BATCH_SIZES: tuple[int, ...] = (1, 2, 4, 8, 16, 32)  # to which the server pads; the last is the largest batch
_NAME = re.compile(r"[\w.-]+", re.ASCII)  # stands in addresses and in quoted text

_MODELS = """\
# TensorFlow Serving's --model_config_file, where this folder is mounted at /models/{name}.
# Without a version policy the version of the largest number is served.
model_config_list {{
  config {{
    name: "{name}"
    base_path: "/models/{name}"
    model_platform: "tensorflow"
  }}
}}
"""

_BATCHING = f"""\
# TensorFlow Serving's --batching_parameters_file, read with --enable_batching.
#
# With batching only the row-wise signatures NAME_rows and NAME_rows_packed can be asked: the server joins the rows of
# several requests, and refuses a signature with a scalar input, such as num_samples of log_likelihood
# ("Batching session Run() input tensors must have at least one dimension"; GitHub, tensorflow/serving 494). Requests to
# warm up with go the same way: one for such a signature keeps the version from being loaded.
#
# A request has at most max_batch_size rows. An error of one row is the answer to all requests of its batch.
max_batch_size {{ value: {BATCH_SIZES[-1]} }}
batch_timeout_micros {{ value: 2000 }}  # how long a request waits for others
num_batch_threads {{ value: 4 }}  # as many as the server has cores
max_enqueued_batches {{ value: 100 }}  # beyond them requests are answered "unavailable"
""" + "".join(f"allowed_batch_sizes: {size}\n" for size in BATCH_SIZES)


def write(model_path: FilePath, model_name: str, overwrite: bool = False) -> None:
    """Writes `models.config` and `batching.config`; arguments and errors are those of `check`."""
    for path, text in check(model_path, model_name, overwrite).items():
        with files.replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def check(model_path: FilePath, model_name: str, overwrite: bool = False) -> dict[pathlib.Path, str]:
    """The texts that `write` would write, by path.

    Args:
      model_path: the served model's folder, in which its versions lie.
      model_name: the name by which the server knows the model, of letters, digits, "_", "." and "-".
      overwrite: whether to replace files of other content.

    Raises:
      ValueError: for another name, or a file of other content without `overwrite`.
    """
    if not isinstance(model_name, str) or not _NAME.fullmatch(model_name):
        raise ValueError(
            f'model_name must be made of letters, digits, "_", "." and "-". Received: model_name={model_name!r}'
        )
    folder = pathlib.Path(model_path)
    texts = {folder / "models.config": _MODELS.format(name=model_name), folder / "batching.config": _BATCHING}
    for path, text in texts.items():
        if path.exists() and not overwrite and (path.is_dir() or path.read_bytes() != text.encode()):
            raise ValueError(f"The file exists with other content; overwrite=True replaces it. Received: {path}")
    return texts
