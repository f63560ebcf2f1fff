"""Shrink passes: fewer calls, smaller files and arguments, simpler builder calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from fscontract.contract.api.openfile_options import BUFFER_SIZE, PREFIX, option_table
from fscontract.contract.generate.open_arguments import UNKNOWN, UNKNOWN_KEYS
from fscontract.contract.models.openfile_resolution import read_value
from fscontract.contract.program.arguments import Argument, is_anchor, is_number
from fscontract.contract.program.faults import smaller
from fscontract.contract.program.open_calls import BuilderCall
from fscontract.contract.program.program import Program, Step

#: For each type of an option an ordinary value, and the form of the methods that accept it.
_ORDINARY: dict[str, tuple[str, Any]] = {
    "long": ("_long", 1),
    "int": ("_long", 1),
    "boolean": ("", True),
    "policy-list": ("", "default"),
}
#: The start of the unknown keys in the examples of the specification.
_OF_EXAMPLES = "fscontract.no-such-"
#: Replacements for the kind of a status, where it does not matter.
_PLAINER_STATUS = {
    "parents": "own",
    "scheme": "own",
    "subclass": "own",
    "located": "own",
    "stale": "own",
    "name-subclass": "name",
}


def plainer(calls: tuple[BuilderCall, ...]) -> Iterator[tuple[BuilderCall, ...]]:
    """Yield simpler variants of the calls; each chain of them is finite."""
    for index, call in enumerate(calls):
        others = calls[:index] + calls[index + 1 :]
        for simpler in _plainer(call, others):
            yield (*calls[:index], simpler, *calls[index + 1 :])


def smaller_numbers(value: Argument) -> Iterator[int]:
    """Yield simpler numbers than this number or anchor; each chain of them is finite."""
    if type(value) is int and value > 0:
        yield from (n for n in (0, 1, 2, 4) if n < value)
        yield from _cut(value) if value > 8 else ()
    elif type(value) is int and value < 0:
        yield from (-n for n in smaller_numbers(-value))
    elif is_anchor(value) and value != "max":
        yield from (0, 1, 2, 4)


def _cut(number: int) -> Iterator[int]:
    """Yield a number reduced by its half, a quarter, an eighth and so on, down to 1."""
    less = number // 2
    while less:
        yield number - less
        less //= 2


def _plainer(call: BuilderCall, others: Iterable[BuilderCall]) -> Iterator[BuilderCall]:
    method, *args = call
    if method == "with_file_status":
        yield from _plainer_status(*args)
    elif method == "buffer_size":
        yield "opt_long", BUFFER_SIZE, args[0]
        yield from ((method, n) for n in smaller_numbers(args[0]))
    elif args[0] is not None and args[1] is not None:
        if method.startswith("must") and any(_is_optional(other) for other in others):
            yield "opt" + method.removeprefix("must"), *args
        yield from _plainer_setting(method, *args)


def _plainer_status(kind: str, length: Argument) -> Iterator[BuilderCall]:
    if kind in _PLAINER_STATUS:
        yield "with_file_status", _PLAINER_STATUS[kind], length
    if length is not None:
        yield "with_file_status", kind, None
        yield from (("with_file_status", kind, n) for n in smaller_numbers(length))


def _is_unknown(key: str) -> bool:
    """Return whether no filesystem knows a key, and it does not look like a standard one."""
    of_example = key.startswith(_OF_EXAMPLES)
    return of_example or (key in UNKNOWN_KEYS and not key.startswith(PREFIX))


def _is_optional(call: BuilderCall) -> bool:
    return bool(call[0].startswith("opt") or call[0] == "buffer_size")


def _plainer_setting(method: str, key: str, value: Any) -> Iterator[BuilderCall]:
    """Yield the key set to an ordinary value, to the effective value, and to a smaller one.

    A key that no filesystem knows is replaced by the plainest one.
    """
    table = option_table()
    way = method.partition("_")[0]
    if key not in table.standard_keys:
        if key != UNKNOWN and _is_unknown(key):
            yield method, UNKNOWN, value
        if (method, value) != (way, "1"):
            yield way, key, "1"
        return
    form, ordinary = _ORDINARY[table.options[key].type]
    if method.endswith(("_long", "_double")) and is_anchor(value):
        meaning = value
    else:
        meaning = read_value(method, value, key, table)
    if meaning is None:
        yield way + form, key, ordinary
        return
    if (method, value) != (way + form, meaning) or type(value) is not type(meaning):
        yield way + form, key, meaning
    if form == "":
        if meaning not in (True, False, ordinary):
            yield way, key, ordinary
        return
    yield from ((way + form, key, n) for n in smaller_numbers(meaning))


#: Limit of runs to shrink one program, and of the calls of all of them.
ATTEMPTS, CALLS = 500, 60_000
#: The largest number that does not indicate a place in a file.
_SMALL = 16
_LENGTHS = (0, 1, 2, 3, 5, 8, 16, 64, 300, 1024)


def shrink(
    program: Program,
    fails: Callable[[Program], bool],
    same_length: bool = False,
    is_over: Callable[[], bool] = lambda: False,
) -> Program:
    """Return the smallest program found for which `fails` is still true; deterministic.

    `same_length` keeps the file unchanged, for a target with a fixed file. Shrinking ends early
    once `is_over` returns True.
    """
    left, calls = ATTEMPTS, CALLS
    tried: set[int] = set()

    def smaller(candidates: Iterator[Program]) -> Program | None:
        nonlocal left, calls
        for candidate in candidates:
            if left == 0 or calls <= 0 or is_over():
                return None
            if candidate.opening is None:  # values of a builder may be equal and of two types
                key = hash(candidate)
                if key in tried:
                    continue
                tried.add(key)
            left -= 1
            calls -= len(candidate.steps)
            if fails(candidate):
                return candidate
        return None

    passes = [_with_fewer_faults, _without_calls, _without_steps, _with_one_stream]
    if not same_length:
        passes += [_with_less_before, _with_shorter_file]
    passes += [_with_equal_arguments_smaller, _with_smaller_arguments, _with_plainer_calls]
    improved = True
    while improved and left and calls > 0 and not is_over():
        improved = False
        for candidates in passes:
            while (better := smaller(candidates(program))) is not None:
                program, improved = better, True
    return program


def with_needed_operations(
    program: Program, fails: Callable[[Program], bool], kept: Collection[str] = ()
) -> Program:
    """Return a program without the builder, and all calls of an operation, if it still `fails`.

    Calls of operations that are `kept` stay. Each operation is tried once.
    """
    while (better := next(filter(fails, _without_calls(program)), None)) is not None:
        program = better
    for op in sorted({step.op for step in program.steps}.difference(kept)):
        shorter = program.with_steps(tuple(step for step in program.steps if step.op != op))
        if fails(shorter):
            program = shorter
    return program


def _without_steps(program: Program) -> Iterator[Program]:
    steps = program.steps
    size = max(1, len(steps) // 2)
    while size >= 1:
        for start in range(0, len(steps), size):
            rest = steps[:start] + steps[start + size :]
            if rest or program.opening is not None:
                yield program.with_steps(rest)
        size //= 2


def _with_fewer_faults(program: Program) -> Iterator[Program]:
    if program.faults is not None:
        yield replace(program, faults=None)
        yield from (replace(program, faults=plan) for plan in smaller(program.faults))


def _without_calls(program: Program) -> Iterator[Program]:
    """Yield variants with fewer calls of the builder, or none and no builder."""
    opening = program.opening
    if opening is None:
        return
    if opening.scene == "file" and program.steps:
        yield replace(program, opening=None)
    if opening.scene == "late":
        yield replace(program, opening=replace(opening, scene="file"))
    for index in range(len(opening.calls)):
        rest = opening.calls[:index] + opening.calls[index + 1 :]
        yield replace(program, opening=replace(opening, calls=rest))


def _with_plainer_calls(program: Program) -> Iterator[Program]:
    opening = program.opening
    if opening is not None:
        for calls in plainer(opening.calls):
            yield replace(program, opening=replace(opening, calls=calls))


def _with_one_stream(program: Program) -> Iterator[Program]:
    if program.streams > 1:
        steps = tuple(replace(s, stream=0) for s in program.steps)
        yield replace(program, steps=steps, streams=1)
        if all(s.stream < program.streams - 1 for s in program.steps):
            yield replace(program, streams=program.streams - 1)


def _with_shorter_file(program: Program) -> Iterator[Program]:
    """Yield shorter files, and first those that are made fast: 1 KiB, 4 KiB and so on."""
    lengths: Iterable[int] = _LENGTHS
    if program.length > 2 * _LENGTHS[-1]:
        lengths = (0, *(_LENGTHS[-1] << n for n in range(0, program.length.bit_length(), 2)))
    lengths = (*lengths, *_cut(program.length))
    yield from (replace(program, length=n) for n in lengths if n < program.length)


def _with_smaller_arguments(program: Program) -> Iterator[Program]:
    for index, step in enumerate(program.steps):
        for number, value in enumerate(step.args):
            for simpler in _simpler(value):
                args = (*step.args[:number], simpler, *step.args[number + 1 :])
                changed = Step(step.op, args, step.stream)
                yield program.with_steps(
                    (*program.steps[:index], changed, *program.steps[index + 1 :])
                )


def _with_equal_arguments_smaller(program: Program) -> Iterator[Program]:
    """Yield variants with all arguments of the same value, or the same but for a sign, reduced."""
    numbers = Counter(_size(v) for s in program.steps for v in s.args if is_number(v))
    for number, count in numbers.items():
        for simpler in smaller_numbers(number) if count > 1 else ():
            steps = [replace(s, args=(*_replaced(s.args, number, simpler),)) for s in program.steps]
            yield program.with_steps((*steps,))


def _replaced(args: Iterable[Argument], number: Argument, simpler: int) -> Iterator[Argument]:
    """Yield the arguments, with another number in place of a number and of its negative."""
    for value in args:
        same = is_number(value) and _size(value) == number
        yield (simpler if value == number else -simpler) if same else value


def _size(number: Argument) -> Argument:
    return abs(number) if isinstance(number, int) else number


def _with_less_before(program: Program) -> Iterator[Program]:
    """Yield smaller files, and large numbers reduced by the same amount: all, or equal ones.

    Positions shrink together so, and a length alone that reaches past the end.
    """
    large = {v for s in program.steps for v in s.args if type(v) is int and v > _SMALL}
    for number in sorted(large):
        within = min(number, program.length)
        for less in (within - 1, within // 2):
            if 0 < less <= program.length:
                yield _reduced(program, less, {v for v in large if v >= less})
                yield _reduced(program, less, {number})


def _reduced(program: Program, less: int, numbers: Collection[int]) -> Program:
    """Return a program with a shorter file, and these arguments smaller by the same amount."""

    def smaller(value: Argument) -> Argument:
        return value - less if type(value) is int and value in numbers else value

    steps = tuple(replace(s, args=tuple(map(smaller, s.args))) for s in program.steps)
    return replace(program, length=program.length - less, steps=steps)


def _simpler(value: Argument) -> Iterator[Argument]:
    """Yield simpler values than this one; each chain of them is finite."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        yield from (value[:i] + value[i + 1 :] for i in range(len(value)) if len(value) > 1)
    else:
        yield from smaller_numbers(value)
