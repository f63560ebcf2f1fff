"""Generate pages of the documentation: faults, openFile options, and the clause reference."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from fscontract.contract.api.openfile_options import Option, OptionTable, Policy, Value, ValueType
from fscontract.contract.binding import Binding
from fscontract.contract.generate.fault_programs import SMALL, systematic
from fscontract.contract.models.under_faults import failed
from fscontract.contract.program.fault_kinds import OPERATIONS, PLACES, FaultKind
from fscontract.contract.program.faults import CHECKED, FAULTS
from fscontract.contract.program.program import Program
from fscontract.contract.runner.cost_checks import cost_program
from fscontract.contract.runner.execution import Execution
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import Clause, Document, Example, Level, Retired
from fscontract.contract.spec.profiles import Profile
from fscontract.contract.text import plural

_NONE = "-"


class Tally(NamedTuple):
    """Numbers of programs that a kind of fault struck, by result.

    In `survived` programs every call worked, in `failed` ones a call failed cleanly, and `broken`
    ones violated a clause.
    """

    survived: int = 0
    failed: int = 0
    broken: int = 0


def tallies(binding: Binding, profile: Profile, kinds: Iterable[str]) -> dict[str, Tally]:
    """Return the results of reads on a binding, by kind of fault; deterministic.

    The binding is prepared first and disposed of in any case. Kinds that its injector does not
    support are omitted. Raise TargetError.
    """
    injector = binding.injector
    wanted = [kind for kind in kinds if injector is not None and kind in injector.kinds]
    settings = Settings(profile, ())
    buffer, operations = settings.buffer(binding), settings.operations(binding)
    executor = Executor(binding, profile.features, buffer)
    try:
        binding.prepare()
        return {
            kind: _tally(executor, systematic(operations, frozenset({kind}), buffer, SMALL))
            for kind in wanted
        }
    finally:
        binding.dispose()


def _tally(executor: Executor, programs: Iterable[Program]) -> Tally:
    injector = executor.binding.injector
    assert injector is not None
    found: Counter[str] = Counter()
    for _, alike in itertools.groupby(programs, key=lambda program: program.steps):
        usual: frozenset[int] | None = None
        for program in alike:
            if usual is None:
                usual = _failures(executor.run(replace(program, faults=None), trace=True))
            execution = executor.run(program)
            if injector.fired:
                found[_fate(execution, usual)] += 1
    return Tally(**found)


def _failures(execution: Execution) -> frozenset[int]:
    """Return the failed calls."""
    trace = enumerate(execution.trace)
    return frozenset(index for index, (_, outcome, _) in trace if failed(outcome))


def _fate(execution: Execution, usual: frozenset[int]) -> str:
    """Return the result of a program, without calls that also fail without faults."""
    if execution.violation is not None:
        return "broken"
    opened = bool(execution.trace)
    return "survived" if opened and _failures(execution) <= usual else "failed"


def fault_tables(columns: Mapping[str, Mapping[str, Tally]]) -> str:
    """A table of the kinds of faults, and one of what came of each in each column."""
    return "\n".join(
        [
            "### Kinds",
            "",
            *_fault_table("constructor|what happens|operations|where", map(_kind, FAULTS.values())),
            "",
            "### Outcomes",
            "",
            *_fault_table(
                "|".join(("fault", *columns)),
                (_row(kind, columns) for kind in FAULTS if kind in CHECKED),
            ),
            "",
        ]
    )


def _fault_table(heading: str, rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = heading.split("|")
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _kind(kind: FaultKind) -> tuple[str, ...]:
    numbers = ", ".join(f"{p.name}={p.default!r}" for p in kind.parameters.values())
    operations = [name for name in OPERATIONS if name in kind.operations]
    choices = [
        f"`{p.name}` is {', '.join(p.choices[:-1])} or {p.choices[-1]}."
        for p in kind.parameters.values()
        if isinstance(p.default, str)
    ]
    return (
        f"`Fault.{kind.name.replace('-', '_')}({numbers})`",
        " ".join((kind.meaning, *choices)),
        "any" if len(operations) == len(OPERATIONS) else ", ".join(operations),
        ", ".join(place for place in PLACES if place in kind.places),
    )


def _row(kind: str, columns: Mapping[str, Mapping[str, Tally]]) -> tuple[str, ...]:
    return (f"`{kind}`", *(_cell(column.get(kind)) for column in columns.values()))


def _cell(tally: Tally | None) -> str:
    if tally is None:
        return _NONE
    broken = f", {tally.broken} broken" if tally.broken else ""
    return f"{tally.survived} / {tally.failed}{broken}"


def option_tables(table: OptionTable) -> str:
    """Tables of the options, the types and the policies, then the readings taken."""
    return "\n".join(
        [
            "### Options",
            "",
            *_table("key | type | unset means | 0 means | since", map(_option, _options(table))),
            "",
            *(f"- `{option.key}`: {option.meaning}" for option in _options(table)),
            "",
            "### Types",
            "",
            *_table("type | how a value is read | examples", map(_type, table.types.values())),
            "",
            "### Read policies",
            "",
            *_table(
                "policy | reads expected | footer cached | advice | read-ahead | since",
                map(_policy, table.policies.values()),
            ),
            "",
            *(f"- `{policy.name}`: {policy.meaning}" for policy in table.policies.values()),
            "",
            "### Readings, and where Hadoop does otherwise",
            "",
            *_readings(table),
            "",
        ]
    )


def _options(table: OptionTable) -> Iterable[Option]:
    return table.options.values()


def _table(heading: str, rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield f"| {heading} |"
    yield "|" + "---|" * (heading.count("|") + 1)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _option(option: Option) -> tuple[str, ...]:
    kind = f"{option.type}, {option.unit}" if option.unit else option.type
    return f"`{option.key}`", kind, option.default, option.zero or _NONE, option.since or _NONE


def _type(value_type: ValueType) -> tuple[str, ...]:
    by_meaning: dict[str, list[str]] = {}
    for given, meant in value_type.examples:
        by_meaning.setdefault(_option_value(meant), []).append(f"`{_given(given)}`")
    examples = [f"{', '.join(given)}: {meaning}" for meaning, given in by_meaning.items()]
    return f"`{value_type.name}`", value_type.rule, "; ".join(examples)


def _policy(policy: Policy) -> tuple[str, ...]:
    return (
        f"`{policy.name}`",
        ", ".join(policy.expects) or "any",
        {None: _NONE, True: "yes", False: "no"}[policy.footer_cache],
        policy.advice,
        "default" if policy.buffer is None else f"{policy.buffer // 1024} KiB",
        policy.since,
    )


def _readings(table: OptionTable) -> Iterator[str]:
    for name, value_type in table.types.items():
        if value_type.reading:
            yield f"- type `{name}`: {value_type.reading}"
    for option in _options(table):
        if option.reading:
            yield f"- `{option.key}`: {option.reading}"
        if option.hadoop:
            yield f"- `{option.key}` in Hadoop: {option.hadoop}"


def _given(given: str | float | bool) -> str:
    if isinstance(given, str):
        return f'"{ascii(given)[1:-1]}"'
    return _option_value(given) if isinstance(given, bool) else str(given)


def _option_value(value: Value) -> str:
    if value is None:
        return "unset"
    return str(value).lower() if isinstance(value, bool) else str(value)


_MARKUP = re.compile(r"([\\`*_\[\]<>|#])")
#: Programs with more calls are told by their number.
_SHOWN = 8


def reference_page(
    document: Document, clauses: Sequence[Clause], breaks: Mapping[str, Sequence[tuple[str, str]]]
) -> str:
    """The page of a document with its clauses, in their order, by section.

    `breaks` has for each clause the mutants that break it, each with what it does wrong.
    """
    lines = [f"# {document.title}", "", f"Source: {_prose(document.source)}.", ""]
    lines += [_counts(document, clauses), "", *_contents(clauses), ""]
    for section, found in groupby(clauses, lambda clause: clause.section):
        lines += [f"## {_prose(section)}", ""]
        for clause in found:
            lines += [*_clause(clause, breaks.get(clause.id, ())), ""]
    return "\n".join(lines)


def reference_index(
    documents: Iterable[tuple[Document, Sequence[Clause]]], old: Iterable[Retired] = ()
) -> str:
    """Return the page that links those of the documents, with the retired ids."""
    lines = [
        "# Clauses",
        "",
        "Every clause, generated from the documents in [specs](../../../specs).",
        "",
    ]
    lines += ["| Document | Clauses | With checks | `--clauses` |", "|---|---:|---:|---|"]
    for document, found in documents:
        tested = sum(clause.testable for clause in found)
        link = f"[{_prose(document.title)}]({document.name}.md)"
        lines.append(f"| {link} | {len(found)} | {tested} | `{document.name}` |")
    names = [f"- {_prose(line)}" for line in dict.fromkeys(map(_old_name, old))]
    if names:
        lines += [
            "",
            "## Retired ids",
            "",
            "These are never reused ([stability](../../explanation/stability.md#clause-ids)).",
        ]
        lines += ["", *names]
    return "\n".join([*lines, ""])


def _old_name(old: Retired) -> str:
    """Return a line for a retired id; ids of a renamed group have one together."""
    group, _, rest = old.id.partition(".")
    now, _, same = "".join(old.instead).partition(".")
    if same != rest:
        return str(old)
    return f"{group}.* is {now}.* since {old.since}: {old.reason}"


def _counts(document: Document, clauses: Sequence[Clause]) -> str:
    tested = sum(clause.testable for clause in clauses)
    levels = ", ".join(
        f"{number} {level.value}"
        for level in Level
        if (number := sum(clause.level is level for clause in clauses))
    )
    return (
        f"{plural(len(clauses), 'clause')} ({levels}), {tested} of them with checks: "
        f"`fscontract check TARGET --clauses {document.name}`. Generated from "
        f"[specs/{document.name}.yaml](../../../specs/{document.name}.yaml); each mutant "
        "violates its clause, and the suite must name that clause."
    )


def _contents(clauses: Sequence[Clause]) -> Iterator[str]:
    for section, found in groupby(clauses, lambda clause: clause.section):
        links = (f"[{clause.id}](#{_anchor(clause.id)})" for clause in found)
        yield f"- {_prose(section)}: {', '.join(links)}"


def _anchor(name: str) -> str:
    return name.replace(".", "")


def _clause(clause: Clause, broken_by: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield f"### {clause.id}"
    yield ""
    yield f"**{clause.level.value}** {_prose(clause.statement)}"
    yield ""
    facts = (
        ("Reading", _prose(clause.reading)),
        ("With `--strict=hadoop`", _prose(clause.hadoop_test)),
        ("Because", _prose(clause.because)),
        ("Only for", ", ".join(map(_need, clause.needs))),
        ("From", _prose(clause.origin)),
        ("See", _prose(", ".join(clause.refs))),
        ("Not tested", _prose(clause.untestable)),
        ("Checked by", ", ".join(f"`{check}`" for check in clause.checks)),
        ("Costs", _cost(clause)),
    )
    yield from (f"- {label}: {text}" for label, text in facts if text)
    yield from (f"- Example: {_example(example)}" for example in clause.examples)
    yield from (f"- Mutant: `{name}`. {_prose(says)}" for name, says in broken_by)


def _need(need: str) -> str:
    return f"streams without `{need[1:]}`" if need.startswith("!") else f"`{need}`"


def _example(example: Example) -> str:
    expected = (
        ", ".join(f"{key} {_value(value)}" for key, value in expect.items())
        for expect in example.expect
    )
    return f"`{example.program}` {' or '.join(map(_prose, expected))}"


def _value(value: object) -> str:
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)


def _cost(clause: Clause) -> str:
    cost = clause.cost
    if cost is None:
        return ""
    budget = ", ".join(f"{number} with `{policy}`" for policy, number in cost.budget.items())
    program = cost_program(cost, None)
    calls = len(program.steps)
    shown = f"`{program}`" if calls <= _SHOWN else f"{calls} calls"
    return f"{cost.meter}, {'exactly' if cost.exact else 'at most'} {budget}, in {shown}"


def _prose(text: str) -> str:
    """Text of which nothing is taken for markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
