"""Who may import whom: rooms import from lower levels only, and private modules of other packages from nowhere.

Nor does any module but `compiling` have XLA compile a function: what is traced is to know it.
"""

import ast
import itertools
import pathlib
import re

import pytest

import tfdsmcmc

PACKAGE = pathlib.Path(tfdsmcmc.__file__).parent

LEVELS = [
    {"_common", "files"},
    {"random"},
    {"distributions", "mcmc", "datasets", "supports"},
    {"columns"},
    {"contract", "layers", "priors", "rows"},
    {"networks"},
    {"programs", "sweeps"},
    {"annealing"},
    {"latents", "proposals", "likelihood", "imputation"},
    {"training"},
    {"augmentation"},
    {"methods"},
    {"model", "boltzmann", "posterior"},
    {"cluster", "serving", "diagnostics", "models", "plots", "pretrained", "pretraining"},
    {"imputer"},
    {"public"},  # its names
    {"__init__"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}

FORBIDDEN = ("keras.src", "tensorflow.python", "tensorflow_probability.python", "tf_keras", "tf.keras", "tf.python",
             "tfp.python")
LAZY = (
    "matplotlib", "arviz", "joblib", "pandas", "tensorboard", "requests", "urllib3", "grpc", "tensorflow_serving"
)  # inside functions, or for types alone

CONTRIBUTING = pathlib.Path(__file__).parents[1] / "CONTRIBUTING.md"
MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(path):
    """The room that a module of the package belongs to; "__init__" for the package's own."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree, package):
    """Pairs (node, dotted name) of all imports; `from a import b` counts as a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node, f"{stem}.{alias.name}") for alias in node.names)


def is_lazy(node):
    """Whether what is imported within a node is not imported where the module is loaded."""
    for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not node.orelse
    return isinstance(node, ast.FunctionDef) or for_types


def violations(source, room, package=("tfdsmcmc",), compiles=False):
    """What a module of a room does against the rules, as a list of words.

    Args:
      source: text of the module.
      room: its room.
      package: the packages around the module, for relative imports.
      compiles: whether it is the module that has XLA compile functions.
    """
    tree = ast.parse(source)
    found = []
    lazy = {id(inner) for outer in ast.walk(tree) if is_lazy(outer) for inner in ast.walk(outer)}
    for node, name in imported(tree, list(package)):
        parts = name.split(".")
        if any(name == word or name.startswith(f"{word}.") for word in FORBIDDEN):
            found.append(f"imports {name}")
        if parts[0] in LAZY and id(node) not in lazy:
            found.append(f"imports {name} where the module is loaded")
        # what is no room is a public name, or the package itself
        other = parts[1] if len(parts) > 1 and parts[1] in LEVEL else "__init__"
        if parts[0] == "tfdsmcmc" and other != room and LEVEL[other] >= LEVEL[room]:
            found.append(f"{room} (level {LEVEL[room]}) imports {name} (level {LEVEL[other]})")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in FORBIDDEN:
            found.append(f"uses {ast.unparse(node)}")
        called = map(ast.unparse, [node.func, *node.args]) if isinstance(node, ast.Call) else ()
        if not compiles and "tf.function" in called:
            found.extend("compiles a function" for keyword in node.keywords if keyword.arg == "jit_compile")
    return found


def test_every_room_has_its_level():
    rooms = {room_of(path) for path in MODULES}
    assert len(MODULES) > 10 and rooms <= set(LEVEL), f"rooms without a level: {sorted(rooms - set(LEVEL))}"


def test_every_room_is_there():
    kinds = {room: [(PACKAGE / f"{room}.py").is_file(), (PACKAGE / room / "__init__.py").is_file()] for room in LEVEL}
    assert [room for room, kind in kinds.items() if sum(kind) != 1] == []
    assert len(LEVEL) == sum(map(len, LEVELS)), "a room on two levels"


def rooms_in_table(text):
    """The table of levels in a text, as pairs (level, room as it is written), in its order.

    The table is the one whose header begins with "| level | room |". A line has a number, then a file `NAME.py` or a
    folder `NAME/`.
    """
    lines = text[text.index("| level | room |") :].splitlines()[2:]
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines)
    return [(int(level), room) for level, room in (re.match(r"\| (\d+) \| `([^`]+)` \|", row).groups() for row in rows)]


def test_the_map_of_the_code_is_right():
    """CONTRIBUTING.md has a line for each room, from the lowest level to the highest; folders end in a slash."""
    written = rooms_in_table(CONTRIBUTING.read_text(encoding="utf-8"))
    assert [level for level, _ in written] == sorted(level for level, _ in written), "not from below"
    in_code = [
        (level, f"{room}.py" if (PACKAGE / f"{room}.py").is_file() else f"{room}/")
        for level, rooms in enumerate(LEVELS)
        for room in rooms
    ]
    assert sorted(written) == sorted(in_code)


def test_tables_are_read():
    text = "| a | b |\n\n| level | room | what |\n| --- | --- | --- |\n"
    text += "| 0 | `a.py` | x |\n| 10 | `b/` | `c` |\n\n| 1 | `d` |"
    assert rooms_in_table(text) == [(0, "a.py"), (10, "b/")]
    with pytest.raises(AttributeError):
        rooms_in_table("| level | room |\n| --- | --- |\n| | `a.py` |")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_from_below(path):
    package = ("tfdsmcmc", *path.relative_to(PACKAGE).parts[:-1])
    compiles = path == PACKAGE / "_common" / "compiling.py"
    assert violations(path.read_text(encoding="utf-8"), room_of(path), package, compiles) == []


@pytest.mark.parametrize(
    ("source", "room"),
    [
        ("from tfdsmcmc import networks", "layers"),
        ("from tfdsmcmc.networks import evaluated_at", "layers"),
        ("from tfdsmcmc import random, model", "training"),
        ("import tfdsmcmc.model", "training"),
        ("from tfdsmcmc import DeepGenerativeModel", "serving"),
        ("import tfdsmcmc as ds", "serving"),
        ("from tfdsmcmc.cli import main", "__init__"),
        ("from tfdsmcmc.no_such_room import anything", "model"),
        ("from tfdsmcmc.priors import Prior", "layers"),
        ("from tfdsmcmc.latents.nais import NAIS", "proposals"),
        ("from .. import model", "training"),
        ("from ..model import DeepGenerativeModel", "training"),
        ("def f():\n    from tfdsmcmc import model", "networks"),
        ("from keras.src import ops", "model"),
        ("import tensorflow.python.ops", "model"),
        ("from tensorflow_probability.python import distributions", "model"),
        ("import tf_keras", "__init__"),
        ("import keras\nkeras.src.ops", "model"),
        ("import tensorflow as tf\ntf.keras.layers", "model"),
        ("import matplotlib.pyplot as plt", "plots"),
        ("if True:\n    from matplotlib import pyplot", "plots"),
        ("if TYPE_CHECKING:\n    from tfdsmcmc.model import DeepGenerativeModel", "training"),
        ("import tensorflow as tf\ntf.function(f, autograph=False, jit_compile=jit)", "model"),
        ("import tensorflow as tf\n@tf.function(jit_compile=True)\ndef f(x):\n    return x", "model"),
        ("import functools, tensorflow as tf\nfunctools.partial(tf.function, jit_compile=True)", "model"),
    ],
)
def test_the_rules_can_be_broken(source, room):
    assert violations(source, room, ("tfdsmcmc", "training"))


@pytest.mark.parametrize(
    ("source", "room"),
    [
        ("from tfdsmcmc import files, random", "distributions"),
        ("from tfdsmcmc.layers.base import StochasticLayer", "layers"),
        ("from .chain import Chain", "training"),
        ("from tfdsmcmc.model import DeepGenerativeModel", "__init__"),
        ("import tfdsmcmc as ds\nfrom tfdsmcmc import DeepGenerativeModel, plots", "cli"),
        ("from tfdsmcmc.cli import main", "__main__"),
        ("def f():\n    import matplotlib.pyplot as plt", "plots"),
        ("if TYPE_CHECKING:\n    from matplotlib.figure import Figure", "plots"),
        ("import keras\nimport tensorflow as tf\nimport tensorflow_probability as tfp\ntfp.distributions", "layers"),
        ("import tensorflow as tf\ntf.function(f, autograph=False)\nmodel.compile(jit_compile=True)", "model"),
    ],
)
def test_the_rules_can_be_kept(source, room):
    assert violations(source, room, ("tfdsmcmc", "training")) == []
    assert violations("import tensorflow as tf\ntf.function(f, jit_compile=True)", "_common", compiles=True) == []
