"""Two directives: what a module makes public, in full, and what the command line takes.

    .. public-names:: tfdsmcmc.mcmc

has the module's docstring, a table of its public names, and each of them. A name that two modules share is described
in the one that it comes from, and named in the other. A name that is added to `__all__` needs no change here.
"""

from __future__ import annotations

import argparse
import importlib
import inspect

import keras
from sphinx.util.docutils import SphinxDirective

PACKAGE = "tfdsmcmc"
HOOKS = (  # of models, for Keras and for the rest of the package: who uses a model calls none of them
    "call", "check_rows", "compile_from_config", "from_config", "get_compile_config", "get_config",
    "get_metrics_result", "instead", "load_own_variables", "make_train_function", "metrics", "next_seed",
    "save_own_variables", "source", "source_to_estimate", "takes_gaps", "test_on_batch", "train_on_batch", "uses_xla",
    "validates", "validation_source", "watchers",
)  # fmt: skip


def public_names(module) -> list[str]:
    """The public names of a module: its `__all__`, or else the functions and classes that it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__ and callable(value)
    ]


def home(value, module, modules) -> str:
    """The name of the module in which a value is described: where it comes from, if that is public; else `module`."""
    origin = getattr(value, "__module__", "")
    above = [name for name in modules if name != PACKAGE and f"{origin}.".startswith(f"{name}.")]
    named = [name for name in above if any(value is other for other in vars(importlib.import_module(name)).values())]
    return max(named, key=len, default=module.__name__)


def public_modules(module, found=None) -> list[str]:
    """The dotted names of a module and of all modules that are public in it."""
    found = [] if found is None else found
    if module.__name__ not in found:
        found.append(module.__name__)
        for name in public_names(module):
            value = getattr(module, name)
            if inspect.ismodule(value):
                public_modules(value, found)
    return found


def page_of(module, modules) -> list[str]:
    """The page of a module, in reStructuredText."""
    names = {name: getattr(module, name) for name in public_names(module)}
    members = {name: value for name, value in names.items() if not inspect.ismodule(value)}
    lines = [f".. automodule:: {module.__name__}", "   :no-members:", ""]
    for listed in filter(None, (list(members), [name for name in names if name not in members])):
        lines += [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in listed), ""]
    for name, value in members.items():
        lines += _described(name, value, module, modules)
    return lines


def _described(name, value, module, modules):
    """A name in full, or where that is."""
    kind = "function"
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
    place = home(value, module, modules)
    full = f"{module.__name__}.{name}"
    if place != module.__name__:
        described = f"The same as :py:obj:`{place}.{value.__name__}`."
        return [f".. py:{kind}:: {name}", f"   :module: {module.__name__}", "", f"   {described}", ""]
    options = []
    if kind == "class":
        bases = [base.__name__ for base in described_bases(value, modules)]
        options = [":members:", f":inherited-members: {','.join(bases) or 'object'}"]
        options += [f":exclude-members: {','.join(HOOKS)}"] if issubclass(value, keras.Model) else []
        options += [":show-inheritance:"] if value.__bases__[0].__name__ in bases else []
    elif kind == "exception":
        options = [":show-inheritance:"]
    return [f".. auto{kind}:: {full}", *(f"   {option}" for option in options), ""]


def described_bases(cls, modules) -> list[type]:
    """The classes above a class that have a description of their own: what they have is not said again."""
    public = {id(value) for name in modules for value in vars(importlib.import_module(name)).values()}
    return [base for base in cls.__mro__[1:] if base.__module__.startswith(PACKAGE) and id(base) in public]


class PublicNames(SphinxDirective):
    required_arguments = 1

    def run(self):
        modules = public_modules(importlib.import_module(PACKAGE))
        lines = page_of(importlib.import_module(self.arguments[0]), modules)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


class CommandLine(SphinxDirective):
    """The help of `python -m tfdsmcmc`, and of each command."""

    def run(self):
        parser = importlib.import_module(f"{PACKAGE}.cli.arguments").parser()
        lines = _as_text(parser.format_help())
        [commands] = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
        for name, command in commands.choices.items():
            lines += [f".. rubric:: {name}", "", *_as_text(command.format_help())]
        return self.parse_text_to_nodes("\n".join(lines))


def _as_text(text):
    return [".. code-block:: text", "", *(f"   {line}" for line in text.splitlines()), ""]


def _mark_second_names(app, env):
    """Of two names of a thing a word means the one by which it is described."""
    modules = public_modules(importlib.import_module(PACKAGE))
    objects = env.get_domain("py").objects
    for place in modules:
        module = importlib.import_module(place)
        for name in public_names(module):
            value, full = getattr(module, name), f"{place}.{name}"
            if full in objects and not inspect.ismodule(value) and home(value, module, modules) != place:
                objects[full] = objects[full]._replace(aliased=True)


def setup(app):
    app.connect("env-updated", _mark_second_names)
    app.add_directive("public-names", PublicNames)
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
