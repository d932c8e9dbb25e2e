"""What TensorFlow Serving is told about a model, as files beside the folders of its versions.

    models.config     a `tensorflow.serving.ModelServerConfig`, for --model_config_file
    batching.config   a `tensorflow.serving.BatchingParameters`, for --batching_parameters_file

Both are protocol buffers as text. With --enable_batching the server joins the rows of several requests to one
signature, pads them to the next allowed size with copies of a row, and gives each request its own part of the answer.
So every input and output must have rows: it refuses the signatures whose number of samples is a scalar
("Batching session Run() input tensors must have at least one dimension"; GitHub, tensorflow/serving 494), and only the
row-wise `NAME_rows` and `NAME_rows_packed` can be asked. An error of one row is then the answer to all requests of the
batch.

Source: TensorFlow Serving's guides "Serving Configuration" and "Batching".
"""

from __future__ import annotations

import pathlib
import re

from tfdsmcmc import checks, files

BATCH_SIZES = (1, 2, 4, 8, 16, 32)
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

_BATCHING = """\
# TensorFlow Serving's --batching_parameters_file, read with --enable_batching.
#
# With batching only the row-wise signatures NAME_rows and NAME_rows_packed can be asked: the server joins the rows of
# several requests, and refuses a signature with a scalar input, such as num_samples of log_likelihood
# ("Batching session Run() input tensors must have at least one dimension"; GitHub, tensorflow/serving 494). Requests to
# warm up with go the same way: one for such a signature keeps the version from being loaded.
#
# A request has at most max_batch_size rows. An error of one row is the answer to all requests of its batch.
max_batch_size {{ value: {largest} }}
batch_timeout_micros {{ value: 2000 }}  # how long a request waits for others
num_batch_threads {{ value: 4 }}  # as many as the server has cores
max_enqueued_batches {{ value: 100 }}  # beyond them requests are answered "unavailable"
{sizes}
"""


def write(model_path, model_name, batch_sizes=BATCH_SIZES, overwrite=False):
    """Writes `models.config` and `batching.config`.

    Args:
      model_path: the served model's folder, in which its versions lie.
      model_name: the name by which the server knows the model, of letters, digits, "_", "." and "-".
      batch_sizes: increasing sizes to which the server pads, the last one the largest batch.
      overwrite: whether to replace files of other content.

    Returns:
      The paths of the two files, strings.

    Raises:
      ValueError: for another name or sizes, or a file of other content without `overwrite`; nothing is written then.

    Example:

    >>> import pathlib, tempfile
    >>> models, batching = write(tempfile.mkdtemp(), "tiny", batch_sizes=[1, 8])
    >>> print("".join(pathlib.Path(batching).read_text().splitlines(keepends=True)[-2:]), end="")
    allowed_batch_sizes: 1
    allowed_batch_sizes: 8
    """
    texts = check(model_path, model_name, overwrite, batch_sizes)
    for path, text in texts.items():
        if not path.exists() or _read(path) != text:
            with files.replacing(path) as temporary:
                temporary.write_text(text, encoding="utf-8")
    return tuple(str(path) for path in texts)


def check(model_path, model_name, overwrite=False, batch_sizes=BATCH_SIZES):
    """What `write` would write, after its checks.

    Args:
      model_path: the served model's folder.
      model_name: its name.
      overwrite: whether files of other content may be replaced.
      batch_sizes: increasing sizes.

    Returns:
      Dictionary of texts by path.

    Raises:
      ValueError: as `write` does.
    """
    if not isinstance(model_name, str) or not _NAME.fullmatch(model_name):
        raise ValueError(
            f'model_name must be made of letters, digits, "_", "." and "-". Received: model_name={model_name!r}'
        )
    sizes = _checked_sizes(batch_sizes)
    listed = "\n".join(f"allowed_batch_sizes: {size}" for size in sizes)
    folder = pathlib.Path(model_path)
    texts = {
        folder / "models.config": _MODELS.format(name=model_name),
        folder / "batching.config": _BATCHING.format(largest=sizes[-1], sizes=listed),
    }
    for path, text in texts.items():
        if path.exists() and not overwrite and _read(path) != text:
            raise ValueError(f"The file exists with other content; overwrite=True replaces it. Received: {path}")
    return texts


def _checked_sizes(batch_sizes):
    try:
        sizes = [checks.positive_integer("a batch size", size) for size in batch_sizes]
    except TypeError:
        sizes = []
    if not sizes or sizes != sorted(set(sizes)):
        raise ValueError(f"batch_sizes must be increasing positive integers. Received: batch_sizes={batch_sizes!r}")
    return sizes


def _read(path):
    """The content of a file, None where it is no text."""
    try:
        return path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, IsADirectoryError):
        return None
