"""The options of `open_file` and the read policies as Markdown: docs/openfile-options.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fscontract.contract.openfile_options import Option, OptionTable, Policy, Value, ValueType

_NONE = "-"


def render(table: OptionTable) -> str:
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
        by_meaning.setdefault(_value(meant), []).append(f"`{_given(given)}`")
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
    return _value(given) if isinstance(given, bool) else str(given)


def _value(value: Value) -> str:
    if value is None:
        return "unset"
    return str(value).lower() if isinstance(value, bool) else str(value)
