"""What a SavedModel may hold, read off its file.

A server has TensorFlow's own operations, no Python, and the seeds of a request: so a graph may call nothing else, draw
nothing from a state of its own and, unless asked to, not be compiled by XLA, which a server refuses by default.
"""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath

_PYTHON = {"PyFunc", "EagerPyFunc", "PyFuncStateless", "NumpyFunction"}
# stateful by name: they read fixed weights, save and load them, check, or call what is looked at by itself
_HARMLESS = set(
    "Assert AssignVariableOp DisableCopyOnRead If MergeV2Checkpoints PartitionedCall ReadVariableOp ResourceGather "
    "RestoreV2 SaveV2 ShardedFilename StatefulPartitionedCall VarHandleOp While".split()
)


def faults(path: FilePath, jit: bool = False) -> list[str]:
    """What in a SavedModel's folder a stock server cannot run or must not; `jit` allows functions compiled by XLA."""
    saved = saved_model_pb2.SavedModel.FromString((pathlib.Path(path) / "saved_model.pb").read_bytes())
    found, graph = set(), tf.Graph()
    for graph_def in (meta_graph.graph_def for meta_graph in saved.meta_graphs):
        functions = graph_def.library.function
        nodes = [*graph_def.node, *[node for function in functions for node in function.node_def]]
        found.update(fault for op in {node.op for node in nodes} if (fault := _fault_of(op, graph)))
        if not jit and any(part.attr["_XlaMustCompile"].b for part in [*nodes, *functions]):
            found.add("a function compiled by XLA")
    return sorted(found)


def _fault_of(op, graph):
    if op in _PYTHON:
        return f"{op}, which needs Python"
    if not hasattr(tf.raw_ops, op):
        return f"{op}, which is no operation of TensorFlow"
    return f"{op}, which has a state" if op not in _HARMLESS and graph.op_def_for_type(op).is_stateful else None
