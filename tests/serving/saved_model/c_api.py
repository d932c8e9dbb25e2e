"""Runs SavedModels as TensorFlow Serving does: through TensorFlow's C API, without Python's TensorFlow and with XLA
compilation disabled.

    python c_api.py requests.json inputs.npz outputs.npz

requests.json has a list of models {"path", "calls"}; each call has a `key`, the tensors' names {input: "name:0"} and
{output: "name:1"}. inputs.npz has the arrays KEY/INPUT. What a call answers goes to outputs.npz as KEY/OUTPUT; its
status is printed, {"calls": {KEY: [code, message]}, "models": {path: [code, message]}}, in which code 0 is success.
One session answers all calls to a model, in their order.

Source: tensorflow/c/c_api.h of TensorFlow 2; the model server disables XLA in its main function.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import pathlib
import sys

import numpy as np

# the numbers of TF_DataType
DTYPES = {1: np.float32, 3: np.int32, 4: np.uint8, 9: np.int64, 10: np.bool_}
NUMBERS = {np.dtype(dtype): number for number, dtype in DTYPES.items()}
LIBRARIES = ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2")


class Output(ctypes.Structure):
    """TF_Output: one output of an operation."""

    _fields_ = [("operation", ctypes.c_void_p), ("index", ctypes.c_int)]


P, INT, N, S = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p
OUTPUTS, POINTERS = ctypes.POINTER(Output), ctypes.POINTER(ctypes.c_void_p)
FUNCTIONS = {  # name: (type of what it returns, types of the arguments)
    "TF_NewStatus": (P, []),
    "TF_DeleteStatus": (None, [P]),
    "TF_GetCode": (INT, [P]),
    "TF_Message": (S, [P]),
    "TF_NewSessionOptions": (P, []),
    "TF_DeleteSessionOptions": (None, [P]),
    "TF_NewGraph": (P, []),
    "TF_DeleteGraph": (None, [P]),
    "TF_LoadSessionFromSavedModel": (P, [P, P, S, ctypes.POINTER(S), INT, P, P, P]),
    "TF_CloseSession": (None, [P, P]),
    "TF_DeleteSession": (None, [P, P]),
    "TF_GraphOperationByName": (P, [P, S]),
    "TF_AllocateTensor": (P, [INT, ctypes.POINTER(ctypes.c_int64), INT, N]),
    "TF_DeleteTensor": (None, [P]),
    "TF_TensorType": (INT, [P]),
    "TF_NumDims": (INT, [P]),
    "TF_Dim": (ctypes.c_int64, [P, INT]),
    "TF_TensorByteSize": (N, [P]),
    "TF_TensorData": (P, [P]),
    "TF_SessionRun": (None, [P, P, OUTPUTS, POINTERS, INT, OUTPUTS, POINTERS, INT, POINTERS, INT, P, P]),
}
DISABLE_XLA = "_ZN10tensorflow21DisableXlaCompilationEv"  # void tensorflow::DisableXlaCompilation()


def main(requests, inputs, outputs):
    library = TensorFlow()
    arrays, answers, status = np.load(inputs), {}, {"models": {}, "calls": {}}
    for model in json.loads(pathlib.Path(requests).read_text()):
        session, status["models"][model["path"]] = library.load(model["path"])
        for call in model["calls"] if session else []:
            feeds = {tensor: arrays[f"{call['key']}/{name}"] for name, tensor in call["inputs"].items()}
            values, status["calls"][call["key"]] = session.run(feeds, list(call["outputs"].values()))
            answers.update({f"{call['key']}/{name}": value for name, value in zip(call["outputs"], values)})
        if session:
            session.close()
    np.savez(outputs, **answers)
    assert not {"tensorflow", "keras", "tfdsmcmc"} & set(sys.modules)
    print(json.dumps(status))


class TensorFlow:
    """The C functions of the libraries that TensorFlow's wheel brings."""

    def __init__(self):
        folder = pathlib.Path(importlib.util.find_spec("tensorflow").submodule_search_locations[0])
        libraries = [ctypes.CDLL(str(folder / name), ctypes.RTLD_GLOBAL) for name in LIBRARIES]
        for name, (result, arguments) in FUNCTIONS.items():
            function = _symbol(libraries, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name.removeprefix("TF_"), function)
        disable_xla = _symbol(libraries, DISABLE_XLA)
        disable_xla.restype = None
        disable_xla()

    def load(self, path):
        """(a session or None, the status) of the SavedModel at a path."""
        graph, options, status = self.NewGraph(), self.NewSessionOptions(), self.NewStatus()
        tags = (S * 1)(b"serve")
        handle = self.LoadSessionFromSavedModel(options, None, path.encode(), tags, 1, graph, None, status)
        self.DeleteSessionOptions(options)
        code, message = self.taken(status)
        return None if code else Session(self, graph, handle), [code, message]

    def taken(self, status):
        """[code, message] of a status, which is freed."""
        code, message = self.GetCode(status), self.Message(status).decode()
        self.DeleteStatus(status)
        return [code, message]

    def tensor(self, array):
        """A TF_Tensor with a copy of an array. TensorFlow allocates it, so nothing of Python's has to outlive it."""
        array = np.asarray(array, order="C")
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        tensor = self.AllocateTensor(NUMBERS[array.dtype], shape, array.ndim, array.nbytes)
        ctypes.memmove(self.TensorData(tensor), array.ctypes.data, array.nbytes)
        return tensor

    def array(self, tensor):
        """A copy of a TF_Tensor, which is freed."""
        shape = [self.Dim(tensor, axis) for axis in range(self.NumDims(tensor))]
        array = np.empty(shape, DTYPES[self.TensorType(tensor)])
        assert array.nbytes == self.TensorByteSize(tensor)
        ctypes.memmove(array.ctypes.data, self.TensorData(tensor), array.nbytes)
        self.DeleteTensor(tensor)
        return array


class Session:
    """A loaded SavedModel."""

    def __init__(self, library, graph, handle):
        self.library, self.graph, self.handle = library, graph, handle

    def run(self, feeds, fetches):
        """([array of each fetch], status), none of them after an error.

        Args:
          feeds: {name of a tensor: array}.
          fetches: names of tensors.
        """
        library, status = self.library, self.library.NewStatus()
        inputs, outputs = (self._outputs(names) for names in (feeds, fetches))
        given = (P * len(feeds))(*(library.tensor(array) for array in feeds.values()))
        taken = (P * len(fetches))()
        ends = (inputs, given, len(feeds), outputs, taken, len(fetches))
        library.SessionRun(self.handle, None, *ends, None, 0, None, status)
        for tensor in given:
            library.DeleteTensor(tensor)
        code, message = library.taken(status)
        return [] if code else [library.array(tensor) for tensor in taken], [code, message]

    def close(self):
        library, status = self.library, self.library.NewStatus()
        library.CloseSession(self.handle, status)
        library.DeleteSession(self.handle, status)
        library.DeleteGraph(self.graph)
        library.DeleteStatus(status)

    def _outputs(self, names):
        found = (Output * len(names))()
        for output, name in zip(found, names):
            operation, index = name.rsplit(":", 1)
            output.operation = self.library.GraphOperationByName(self.graph, operation.encode())
            output.index = int(index)
            assert output.operation, f"no operation {operation}"
        return found


def _symbol(libraries, name):
    """A function that one of the libraries has."""
    for library in libraries:
        if hasattr(library, name):
            return library[name]
    raise AttributeError(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
