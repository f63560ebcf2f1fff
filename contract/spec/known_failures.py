"""Known failures: accepted violations, each with a reason and the way it fails.

An entry covers wrong reads whose signatures differ from its own in what depends on the programs of
a run: the seed chooses these, and they decide at which of similar offsets a bug shows, after which
other reads, and in which method that reads. The same holds for reads and seeks that raise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fscontract.contract.concurrency.verdict import NO_ORDER, are_of_one_race
from fscontract.contract.models.openfile_stages import READ_OPERATIONS
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Program
from fscontract.contract.runner.exit_codes import SET_UP
from fscontract.contract.runner.result import (
    VIOLATED,
    ClauseResult,
    Counterexample,
    RunResult,
    Verdict,
)
from fscontract.contract.runner.signature import (
    ANYWHERE,
    FAILED,
    PLACES,
    WRONG_BYTE,
    WRONG_BYTES,
    WRONG_LATER,
)
from fscontract.contract.spec.clauses import Clause, clauses, near_misses, notice, present, read_id
from fscontract.contract.text import printable
from fscontract.contract.untrusted import UntrustedError, listed, load_yaml, short

_REQUIRED = ("clause", "reason", "signature")
_OPTIONAL = ("issue", "until", "target", "intermittent", "program", "scenarios")
#: The longest program that an entry has, in characters of JSON.
_LONGEST_PROGRAM = 400
#: Verdicts of a clause that was judged: an entry that did not occur is then outdated.
_JUDGED = VIOLATED | {Verdict.PASS, Verdict.LAX, Verdict.KNOWN, Verdict.FIXED}


class _OnOneLine(dict[str, Any]):
    """An object that is written as JSON is, in braces."""


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes files of known failures."""


_Dumper.add_representer(
    _OnOneLine,
    lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True),
)


#: The start of signatures of failures in scenarios, with the name of the scenario.
SCENARIO = "scenario: "


class KnownError(ValueError):
    """An invalid file of known failures; the message has one line for each error."""


@dataclass(frozen=True)
class Known:
    """One known failure: the clause, the reason to accept it, and the way it fails.

    After the day `until` it counts as a failure again. `target` is a glob over target names, empty
    for all of them. One that is `intermittent` need not occur in every run. A run that has not seen
    the failure runs `program`, so that it does not depend on the seed whether it occurs.
    """

    clause: str
    reason: str
    signature: str
    issue: str = ""
    until: date | None = None
    target: str = ""
    intermittent: bool = False
    program: Program | None = field(default=None, compare=False)

    def applies_to(self, target: str) -> bool:
        """Return whether the entry applies to the target of this name."""
        return not self.target or fnmatchcase(target, self.target)

    def covers(self, failure: Counterexample) -> bool:
        """Return whether this is an entry of the failure, if that is one of its clause."""
        return failure.is_listed_as(self.signature, self.program is not None)


def load_known(path: Path) -> tuple[Known, ...]:
    """Return the entries of a YAML file with the list `known`; KnownError names file and entry."""
    try:
        data = load_yaml(path)
    except UntrustedError as error:
        raise KnownError(str(error)) from None
    if not isinstance(data, dict) or set(data) != {"known"}:
        raise KnownError(f"{path}: expected one key, 'known', with a list of entries")
    return parse_known(data["known"], str(path))


def parse_known(data: Any, where: str) -> tuple[Known, ...]:
    """Parse known failures from plain data; KnownError has a line for each error."""
    if data is None:
        return ()
    if not isinstance(data, list):
        raise KnownError(f"{where}: known: expected a list, got {type(data).__name__}")
    entries: dict[Known, None] = {}
    mistakes = listed(f"{where}: known entry {text}" for text in _parsed(data, entries))
    if mistakes:
        raise KnownError(mistakes)
    return tuple(entries)


def _parsed(data: list[Any], entries: dict[Known, None]) -> Iterator[str]:
    """Add the entries; yield the errors in them, each after the number of its entry."""
    for number, item in enumerate(data, 1):
        mistakes = list(_mistakes(item))
        yield from (f"{number}: {text}" for text in mistakes)
        for entry in () if mistakes else _entries(item):
            if entry in entries:
                yield f"{number}: duplicate entry"
            entries[entry] = None


def _entries(item: dict[str, Any]) -> Iterator[Known]:
    """Yield the known failures that an item of a file lists: one for each of its scenarios."""
    changed: dict[str, Any] = {"until": _day(item.get("until"))}
    changed["clause"] = read_id(item["clause"])
    if "program" in item:
        changed["program"] = Program.from_json(item["program"])
    fields = {name: value for name, value in item.items() if name != "scenarios"}
    entry = Known(**{**fields, **changed})
    if "scenarios" not in item:
        yield entry
    for name in item.get("scenarios", ()):
        yield replace(entry, signature=f"{SCENARIO}{name}; {entry.signature}")


def entries_of(known: Iterable[Known], target: str) -> list[Known]:
    """Return the known failures of a target, of all clauses."""
    return [entry for entry in known if entry.applies_to(target)]


def match(
    known: Iterable[Known], clause_id: str, counterexample: Counterexample, today: date
) -> Known | None:
    """Return the entry for this failure of this clause that has not expired on `today`.

    An entry lists the failures of its clause that have its signature. An intermittent entry of a
    race lists it in each clause in which the same operations race: it shows in one or another, as
    the threads happen to meet. A wrong position is listed in the clauses of both APIs that tell it,
    a wrong read as `_similar_entry` says, and a refused argument as `_refuses_same_arguments` says.
    """
    valid = [entry for entry in known if entry.until is None or today <= entry.until]
    listed = (entry for entry in valid if entry.covers(counterexample))
    return next(
        (
            entry
            for entry in listed
            if entry.clause == clause_id
            or _races_in(entry, clause_id)
            or (_POSITION.issuperset({entry.clause, clause_id}) and _tells_wrong(entry))
            or _refuses_same_arguments(entry, counterexample)
        ),
        None,
    ) or _similar_entry(valid, counterexample)


def _races_in(entry: Known, clause: str) -> bool:
    """Return whether an entry lists calls that fit no serial order, which race in `clause`, too."""
    is_race = entry.intermittent and entry.signature == NO_ORDER
    return is_race and are_of_one_race(entry.clause, clause)


def _tells_wrong(entry: Known) -> bool:
    """Return whether an entry is about a position, with the circumstances that make it wrong."""
    return entry.signature.startswith("position: ")


def _refuses_same_arguments(entry: Known, failure: Counterexample) -> bool:
    """Return whether the calls of an entry, maybe on another file, refuse arguments in a failure.

    They raise TypeError, ValueError or OverflowError. The content of the file decides which clause
    the call violates: a line with a newline or without.
    """
    if entry.program is None or failure.program is None:
        return False
    same_calls = entry.program.steps == failure.program.steps
    return same_calls and entry.signature.endswith(_REFUSED)


#: The clauses of the position of a stream, and of a Python file: a program may call both APIs.
_POSITION = frozenset({"getpos.value", "python.tell.value"})
#: The ends of signatures of calls that refuse their arguments without other circumstances.
_REFUSED = (f": {Kind.NULL.value}", f": {Kind.ILLEGAL_ARGUMENT.value}")
#: The longest file whose offsets are all near its start, in bytes.
_NEAR = 64
#: How many times longer a file may be in which a bug shows at a similar offset, and how many bytes
#: more: files end a few bytes beside multiples of a buffer.
_SIMILAR, _BESIDE = 2, 16
#: Calls before a failure that change nothing but the position, beside reads.
_MOVES = frozenset({"after seek", "after skip"})
#: Relations of bytes that are wrong, or missing at the end of a file.
_WRONG = frozenset({"too early", "too late", "bytes not in the file", "zeros", WRONG_LATER})
_WRONG |= {"buffer not filled", "past the end of the file", "end of file", "no bytes", WRONG_BYTE}
#: How a later call shows that earlier reads left wrong data, or a wrong end.
_LATER = frozenset({"moved", "data", "end"})
#: Calls that raise at a place in the file, or after a failed call that left the stream unusable,
#: and the exceptions that do not come from a missing method or the network.
_AT_PLACE = READ_OPERATIONS | {"seek", "py_seek"}
_RAISED = frozenset({Kind.IO.value, Kind.EOF.value, Kind.INDEX.value, Kind.OTHER.value})
_RAISED |= {Kind.ILLEGAL_ARGUMENT.value}


class _WrongRead(NamedTuple):
    """A wrong read, or a read or seek that raises, without what depends on the programs of a run.

    `result` is what it returns or raises, or how a later call shows it. `after_reads` says whether
    it is right without other reads before it. `state` has the other circumstances, but not the
    place in the file.
    """

    result: str
    after_reads: bool
    state: frozenset[str]


def _similar_entry(entries: Iterable[Known], failure: Counterexample) -> Known | None:
    """Return an entry of any clause that lists the same wrong read, None if there is none.

    The same read has an equal `_WrongRead`, maybe after a failed call, and its file is at most
    about twice as long or short. All offsets of a short file are near its start, where each method
    shows a bug.
    """
    wrong = _wrong_read(failure.signature)
    if wrong is None:
        return None
    same = {wrong, wrong._replace(state=wrong.state - {FAILED})}
    alike = (entry for entry in entries if _wrong_read(entry.signature) in same)
    return next((entry for entry in alike if _are_similar(entry.program, failure)), None)


def _wrong_read(signature: str) -> _WrongRead | None:
    """Return how a read is wrong, or what it or a seek raises; None for other signatures."""
    how, *circumstances = signature.split("; ")
    operation, _, result = how.partition(": ")
    kind, _, relation = result.partition(" ")
    reads = {c for c in circumstances if c.removeprefix("after ") in READ_OPERATIONS}
    if operation == "later call":
        is_wrong, raised = bool(reads) and result in _LATER, result == "raised"
    else:
        returned = operation in READ_OPERATIONS and kind == Kind.RETURNED.value
        is_wrong = returned and _WRONG.issuperset(relation.split(", "))
        raised = operation in _AT_PLACE and kind in _RAISED
    if not (is_wrong or raised):
        return None
    others = _MOVES | ANYWHERE if reads or raised else PLACES
    others -= {FAILED} if raised else set()
    return _WrongRead(result, bool(reads), frozenset({*circumstances} - reads - others))


def _are_similar(listed: Program | None, failure: Counterexample) -> bool:
    """Return whether programs need files of similar length, which are not short.

    The file of a failure that was not shrunk may be longer than it needs.
    """
    if listed is None or failure.program is None:
        return False
    shorter, longer = sorted((listed.length, failure.program.length))
    needless = failure.unshrunk and shorter == listed.length
    return shorter > _NEAR and (needless or longer <= shorter * _SIMILAR + _BESIDE)


def absent(
    known: Iterable[Known], clause: str, failures: Iterable[Counterexample]
) -> Iterator[Known]:
    """Yield the entries of a clause whose failure has to occur in every run, and did not.

    While the same failure occurs under fewer circumstances, it is not known to be absent under
    more. Nor are wrong bytes while the same call returns other ones.
    """
    occurred = tuple(failures)
    wrong = {_with_any_bytes(failure.signature) for failure in occurred}
    for entry in known:
        if entry.clause != clause or entry.intermittent:
            continue
        signature = entry.signature
        if any(entry.covers(f) or f.has_instance(signature) for f in occurred):
            continue
        if _with_any_bytes(signature) not in wrong:
            yield entry


def _with_any_bytes(signature: str) -> str:
    """Return a signature with one word for wrong bytes, which may be those of an offset or not."""
    how, *circumstances = signature.split("; ")
    operation, _, result = how.partition(f" {Kind.RETURNED.value} ")
    return "; ".join([f"{operation} wrong" if result in WRONG_BYTES else how, *circumstances])


def outdated(known: Iterable[Known], clause: str, failures: Iterable[Counterexample]) -> str:
    """Describe the first entry of a judged clause whose failure is gone; "" if there is none."""
    gone = next(absent(known, clause, failures), None)
    if gone is None:
        return ""
    return f"listed as known ({gone.reason}), but it did not fail: {gone.signature}"


def write_known(path: Path, result: RunResult, reason: str) -> tuple[Known, ...]:
    """Add the failures in `result` to the file, and return them.

    Existing entries stay; those without a program get the one that showed their failure.
    """
    old = load_known(path) if path.exists() else ()
    listed = {(e.clause, e.signature) for e in old if e.applies_to(result.target)}
    added = tuple(e for e in failures(result, reason) if (e.clause, e.signature) not in listed)
    entries = (*(_with_program(entry, result) for entry in old), *added)
    if to_yaml(entries) != to_yaml(old) or not path.exists():
        save_known(path, entries)
    return added


def _with_program(entry: Known, result: RunResult) -> Known:
    """Return the entry with a program of the run that shows its failure, if it has none.

    An entry of all failures of a kind stays without one.
    """
    if entry.program is not None or entry.intermittent or not entry.applies_to(result.target):
        return entry
    programs = (
        _program_of(r.clause, f)
        for r in result.clauses
        if r.clause.id == entry.clause
        for f in r.counterexamples
        if f.is_listed_as(entry.signature, has_program=True)
    )
    return replace(entry, program=next((p for p in programs if p is not None), None))


def failures(result: RunResult, reason: str) -> tuple[Known, ...]:
    """Return an entry for each distinct failure in `result` that is neither known nor inherited.

    Those of threads are intermittent, because which schedules fail depends on more than the target.
    So are those that came in some runs of their program only, and those without time to shrink
    them, unless they are another failure with needless circumstances.
    """
    return tuple(
        Known(
            r.clause.id,
            reason,
            f.signature,
            intermittent=bool(f.interleaving) or f.unshrunk or f.intermittent,
            program=_program_of(r.clause, f),
        )
        for r in result.clauses
        if r.outcome in VIOLATED
        for f in r.counterexamples
        if not f.known and not f.inherited and not f.is_one_of(r.counterexamples)
    )


def _program_of(clause: Clause, failure: Counterexample) -> Program | None:
    """Return the program of a failure that an entry keeps, None if it does not show it alone."""
    alone = not failure.before and not failure.unshrunk
    return kept_program(clause, failure.program) if alone else None


def kept_program(clause: Clause, program: Program | None) -> Program | None:
    """Return the program that an entry of the clause keeps; None if it is long, or of a cost."""
    if program is None or clause.cost is not None:
        return None
    return program if len(program.dumps()) <= _LONGEST_PROGRAM else None


def prune_known(path: Path, result: RunResult) -> tuple[Known, ...]:
    """Remove entries that did not occur in `result`, and return them.

    Entries that are intermittent, for other targets, or for clauses that this run did not judge
    stay, and all entries if the run was out of time or incomplete.
    """
    if result.cut_short or result.exit_code_if_known == SET_UP:
        return ()
    judged = {r.clause.id: r for r in result.clauses if r.outcome in _JUDGED}
    entries = load_known(path)
    bound = [e for e in entries if e.applies_to(result.target) and not e.intermittent]
    dropped = tuple(e for e in bound if e.clause in judged and not _occurs(e, judged[e.clause]))
    if dropped:
        gone = frozenset(dropped)
        save_known(path, tuple(e for e in entries if e not in gone))
    return dropped


def _occurs(entry: Known, result: ClauseResult) -> bool:
    failures = result.counterexamples
    if not failures:
        return result.outcome not in (Verdict.PASS, Verdict.FIXED, Verdict.LAX)
    return not any(absent((entry,), entry.clause, failures))


def _mistakes(item: Any) -> Iterable[str]:
    if not isinstance(item, dict):
        yield f"expected an object with {', '.join(_REQUIRED)}"
        return
    allowed = (*_REQUIRED, *_OPTIONAL)
    for key in item:
        if key not in allowed:
            yield f"unknown key {short(key)}; allowed: {', '.join(allowed)}"
    for key in _REQUIRED:
        if not isinstance(item.get(key), str) or not item[key].strip():
            yield f"{key} must be a non-empty string"
    for key, (is_valid, expected) in _TYPES.items():
        if key in item and not is_valid(item[key]):
            yield f"{key} must be {expected}, got {short(item[key])}"
    clause = item.get("clause")
    if isinstance(clause, str) and clause.strip() and present(clause) not in clauses():
        missing = f"unknown clause {short(clause)}{near_misses(clause, clauses())}"
        yield notice(clause) or missing
    if "program" in item:
        try:
            Program.from_json(item["program"])
        except ProgramError as error:
            yield str(error)
    if item.get("until") is not None and _day(item["until"]) is None:
        yield f"until must be a date like 2027-06-01, got {short(item['until'])}"


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, str) for v in value)


#: The keys of an item that have another type than required strings: a test, and its text.
_TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "issue": (lambda value: isinstance(value, str), "a string"),
    "target": (lambda value: isinstance(value, str), "a string"),
    "intermittent": (lambda value: isinstance(value, bool), "true or false"),
    "scenarios": (_are_names, "a list of names"),
}


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def save_known(path: Path, entries: tuple[Known, ...], heading: str = "") -> None:
    """Write the entries below the comment at the top of the file, or `heading` if it is new."""
    text = to_yaml(entries)
    part = path.with_name(f"{path.name}.part")
    part.write_text((_heading(path) or heading) + text, encoding="utf-8")
    os.replace(part, path)


def to_yaml(entries: Iterable[Known]) -> str:
    """Return the entries as the text of a file."""
    dump = partial(
        yaml.dump,
        {"known": [_plain(*found) for found in together(entries)]},
        Dumper=_Dumper,
        sort_keys=False,
        width=96,
        allow_unicode=True,
    )
    text = str(dump())
    return text if printable(text) == text else str(dump(allow_unicode=False))


def together(entries: Iterable[Known]) -> list[tuple[Known, list[str]]]:
    """Return one entry for all scenarios of a clause that fail in the same way, with their names.

    Other entries have no names, and are unchanged.
    """
    alike: dict[Known, list[str]] = {}
    shown: dict[Known, Known] = {}
    for entry in entries:
        scenario, how = in_scenario(entry.signature)
        shared = replace(entry, signature=how) if scenario else entry
        alike.setdefault(shared, []).append(scenario)
        shown.setdefault(shared, entry)
    return [
        (shared, names) if len(names) > 1 else (shown[shared], [])
        for shared, names in alike.items()
    ]


def in_scenario(signature: str) -> tuple[str, str]:
    """Return the scenario that a signature names, and how it fails; "" if it names none."""
    scenario, _, how = signature.partition("; ")
    if how and scenario.startswith(SCENARIO):
        return scenario.removeprefix(SCENARIO), how
    return "", signature


def _plain(entry: Known, scenarios: list[str]) -> dict[str, Any]:
    values = {**vars(entry), "scenarios": scenarios}
    plain = {k: v for k in (*_REQUIRED, *_OPTIONAL) if (v := values[k])}
    if entry.program is not None:
        plain["program"] = _OnOneLine(entry.program.to_json())
    return plain


def _heading(path: Path) -> str:
    """Return the comment at the top of the file, which a rewrite keeps."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    heading = ""
    for line in lines:
        if not line.startswith("#"):
            break
        heading += line
    return heading


def applying(
    known: Iterable[Known], entries: Iterable[Mapping[str, Any]], profile: str, target: str
) -> tuple[Known, ...]:
    """Return the known failures that apply to a target: those of a file, then the profile's.

    `entries` are those of the profile of that name. Raises KnownError.
    """
    own = parse_known([dict(entry) for entry in entries], f"profile {profile}")
    return tuple(entries_of((*known, *own), target))


def expired(known: Iterable[Known], today: date) -> list[str]:
    """Return a line for each known failure that counts again because its day has passed."""
    return [
        f"the known failure of {k.clause} expired on {k.until}: {k.reason}"
        for k in known
        if k.until is not None and today > k.until
    ]
