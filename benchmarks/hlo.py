"""What a program of XLA does, read from its text: operations of matrix products, bytes moved, transfers to the host.

    operations   2 · entries of the result · length of the contracted axes, of each `dot` and each call of a library
    bytes        operands and results of each instruction outside of fusions; of an operand that is only sliced, or
                 gathered from, and of a result that is only updated, the part that is

A loop counts as often as its body runs where XLA knows that, else once; of branches the dearer counts.
"""

import collections
import math
import re

BYTES = {"pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s64": 8, "u64": 8, "f64": 8, "c64": 8}
FREE = {"parameter", "constant", "get-tuple-element", "tuple", "bitcast", "iota", "after-all", "partition-id"}
CALLS = {"while", "conditional", "call"}
SLICES, UPDATE = {"slice", "dynamic-slice", "gather"}, "dynamic-update-slice"
TRANSFERS = {"infeed", "outfeed", "send", "recv"}

_LINE = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)$")
_HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
_SHAPE = re.compile(r"\b([a-z]+\d*)\[([\d,]*)\]")

# of a `dot`, and of a product that XLA hands to a library, as on GPUs
_AXES = re.compile(r'lhs_contracting_dim(?:s=\{|ensions":\[)([\d,"]*)')
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')

Instruction = collections.namedtuple("Instruction", "name shape opcode operands rest")
Costs = collections.namedtuple("Costs", "operations bytes")


class Program:
    """The computations of a program.

    Args:
      text: the program as XLA prints it.
    """

    def __init__(self, text):
        self.computations, self.entry, lines = {}, None, None
        for line in text.splitlines():
            if head := _HEAD.match(line):
                lines = self.computations[head[2]] = {}
                self.entry = head[2] if head[1] else self.entry
            elif lines is not None and (found := _LINE.match(line)):
                inside, rest = _split(found[4])
                lines[found[1]] = Instruction(found[1], found[2], found[3], re.findall(r"%([\w.\-]+)", inside), rest)

    def costs(self, name=None):
        """`Costs` of a computation, the whole program by default."""
        total = Costs(0, 0)
        for one in self.computations[name or self.entry].values():
            total = _sum(total, self._costs_of(one, self.computations[name or self.entry]))
        return total

    def transfers(self):
        """How many instructions hand data to the host or take it from there."""
        every = [one for lines in self.computations.values() for one in lines.values()]
        return sum(one.opcode in TRANSFERS for one in every)

    def trips(self):
        """The numbers of passes of the loops of which they are known, a set."""
        every = [one.rest for lines in self.computations.values() for one in lines.values()]
        return {int(found[1]) for rest in every if (found := _TRIPS.search(rest))}

    def _costs_of(self, one, lines):
        if one.opcode in FREE:
            return Costs(0, 0)
        if one.opcode in CALLS:
            return self._costs_of_call(one)
        inside = self._called(one)
        moved = self._moved(one, lines, inside)
        if one.opcode == "dot" or one.opcode == "custom-call" and _AXES.search(one.rest):
            return Costs(_products(one, lines), moved)
        return Costs(sum(self._operations(called) for called in inside), moved)

    def _costs_of_call(self, one):
        if one.opcode == "while":
            body, condition = (self.costs(_named(one, part)) for part in ("body", "condition"))
            known = _TRIPS.search(one.rest)
            trips = int(known[1]) if known else 1
            return Costs(*(trips * part for part in _sum(body, condition)))
        found = [self.costs(called) for called in self._called(one)]
        return max(found, default=Costs(0, 0))

    def _operations(self, name):
        """Operations of the products in a fusion."""
        lines = self.computations[name]
        own = sum(_products(one, lines) for one in lines.values() if one.opcode == "dot")
        return own + sum(self._operations(called) for one in lines.values() for called in self._called(one))

    def _called(self, one):
        """Names of the computations that an instruction calls."""
        branches = re.search(r"branch_computations=\{([^}]*)\}", one.rest)
        names = re.findall(r"(?:calls|to_apply|true_computation|false_computation)=%?([\w.\-]+)", one.rest)
        return [*names, *(re.findall(r"%([\w.\-]+)", branches[1]) if branches else [])]

    def _moved(self, one, lines, inside):
        fused = self.computations[inside[0]] if one.opcode == "fusion" else {one.name: one, **lines}
        total = 0
        for place, name in enumerate(one.operands):
            total += _read(fused, one, place, _size(lines[name].shape))
        return total + _written(fused, one)


def _read(fused, one, place, whole):
    """Bytes that an instruction reads of its operand at a place: all, or what is sliced from it."""
    if one.opcode != "fusion":
        names, users = {one.operands[place]}, [one]
    else:
        names = {x.name for x in fused.values() if x.opcode == "parameter" and x.rest.startswith(f"#{place} ")}
        users = [x for x in fused.values() if names & set(x.operands)]
    parts = [_size(x.shape) if x.opcode in SLICES else 0 if x.opcode == UPDATE else whole for x in users]
    first = all(x.operands[0] in names and not names & set(x.operands[1:]) for x in users)
    return min(whole, sum(parts)) if first else whole


def _written(fused, one):
    """Bytes of the result, or of the part that is updated in place."""
    updates = [x for x in fused.values() if x.opcode == UPDATE] if one.opcode == "fusion" else []
    last = updates[-1] if updates and updates[-1].shape == one.shape else one
    if last.opcode == UPDATE and last.operands[1] in fused:
        return _size(fused[last.operands[1]].shape)
    return _size(one.shape)


def _products(one, lines):
    """2 · entries of the result · length of the contracted axes."""
    axes = re.sub('"', "", _AXES.search(one.rest)[1])
    _, lengths = _arrays(lines[one.operands[0]].shape)[0]
    contracted = math.prod(lengths[int(axis)] for axis in axes.split(",") if axis)
    return 2 * math.prod(_arrays(one.shape)[0][1]) * contracted


def _arrays(shape):
    """(type, lengths of the axes) of each array of a shape, which may be a tuple."""
    return [(kind, [int(n) for n in lengths.split(",") if n]) for kind, lengths in _SHAPE.findall(shape)]


def _size(shape):
    return sum(BYTES.get(kind, 4) * math.prod(lengths) for kind, lengths in _arrays(shape))


def _split(text):
    """(what stands in the brackets of an instruction, what stands after; of a parameter "#" and its place)."""
    depth = 1
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            inside, rest = text[:place], text[place + 1 :]
            return inside, (f"#{inside} " if inside.isdigit() else "") + rest
    return text, ""


def _named(one, part):
    return re.search(rf"\b{part}=%?([\w.\-]+)", one.rest)[1]


def _sum(*costs):
    return Costs(*map(sum, zip(*costs)))
