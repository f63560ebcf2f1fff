"""`fscontract new-clause`: add drafts of the entry, rule, mutant and test of a new clause.

The files are those of the clauses of the same group: the document, the module with most rules of
the group, the module with most of its mutants, and the tests of the rules' module.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from fscontract.contract.spec.clauses import Clause

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+")
#: Folders and files of a checkout that an installation lacks.
_CHECKOUT = ("specs", "contract/models", "fakes/mutants", "tests/contract", "pyproject.toml")
_RULES = ("contract/models", "contract/scenarios", "contract/distributed")
_MUTANTS = ("fakes/mutants",)
#: The names in the draft of a row of a transition table.
_TABLE_NAMES = {"Accepted", "Call", "Failure", "Outcome", "Row", "is_open"}


class Draft(NamedTuple):
    """Lines to insert into a file after line `after`; they are a `part` of the clause."""

    part: str
    path: Path
    after: int
    lines: list[str]

    def applied(self) -> str:
        """Return the text of the file with the lines."""
        lines = _lines(self.path)
        return "".join(f"{x}\n" for x in [*lines[: self.after], *self.lines, *lines[self.after :]])


@click.command("new-clause", short_help="Add drafts of a new clause to a checkout.")
@click.argument("clause_id", metavar="ID")
@click.option("--document", metavar="NAME", help="The document, if the group has no clause yet.")
@click.option("--dry-run", is_flag=True, help="Print the drafts without writing files.")
def new_clause(clause_id: str, document: str | None, dry_run: bool) -> None:
    """Add drafts of the entry, the rule, the mutant and the tests of a new clause.

    ID is a group and a name, such as seek.past-eof. Each draft has lines marked TODO. Run it in a
    checkout of fscontract; docs/explanation/adding-a-clause.md explains the
    next steps.
    """
    root = _checkout(Path.cwd())
    sibling = _sibling(clause_id, document)
    drafts = _drafts(root, clause_id, sibling)
    texts = {draft.path: draft.applied() for draft in drafts}
    for draft in drafts:
        if not dry_run:
            draft.path.parent.mkdir(parents=True, exist_ok=True)
            draft.path.write_text(texts[draft.path], encoding="utf-8")
        where = f"{draft.path.relative_to(root).as_posix()}:{draft.after + 1}"
        click.echo(f"{'would write' if dry_run else 'wrote'} the {draft.part}: {where}")
        if dry_run:
            click.echo("".join(f"    {line}".rstrip() + "\n" for line in draft.lines))
    click.echo(_next_steps(clause_id, drafts[-1].path.relative_to(root)))


def _checkout(directory: Path) -> Path:
    for root in (directory, *directory.parents):
        if all((root / name).exists() for name in _CHECKOUT):
            return root
    raise click.UsageError("not a checkout of fscontract: run new-clause in its source tree")


def _sibling(clause_id: str, document: str | None) -> Clause:
    """Return the last clause of the group with checks, or of the document if the group is new."""
    from fscontract.contract.spec.clauses import clauses, documents, near_misses, retired

    if not _ID.fullmatch(clause_id):
        raise click.UsageError(
            f"invalid id: {clause_id!r}; expected a group and a name in lower case, such as "
            "seek.past-eof"
        )
    if clause_id in clauses():
        raise click.UsageError(f"the clause {clause_id} exists; see 'fscontract explain'")
    if clause_id in retired():
        raise click.UsageError(f"a retired id must not be reused: {retired()[clause_id]}")
    if document is not None and document not in documents():
        hint = near_misses(document, documents()) or f"; known: {', '.join(documents())}"
        raise click.UsageError(f"unknown document {document!r}{hint}")
    testable = [
        c
        for c in clauses().values()
        if c.testable and c.cost is None and document in (None, c.document)
    ]
    siblings = [c for c in testable if _group(c.id) == _group(clause_id)]
    if not siblings and document is None:
        raise click.UsageError(
            f"unknown group {_group(clause_id)!r}; specify its document with --document; "
            f"known: {', '.join(documents())}"
        )
    common = [c.document for c in siblings or testable]
    document = max(dict.fromkeys(common), key=common.count)
    return [c for c in siblings or testable if c.document == document][-1]


def _group(clause_id: str) -> str:
    return clause_id.split(".", maxsplit=1)[0]


def _drafts(root: Path, clause_id: str, sibling: Clause) -> list[Draft]:
    prefix = f'"{_group(sibling.id)}.'
    rules = _module_with_most(root, _RULES, prefix)
    mutants = _module_with_most(root, _MUTANTS, prefix)
    tests = root / "tests" / rules.relative_to(root).with_name(f"test_{rules.name}")
    document = root / "specs" / f"{sibling.document}.yaml"
    return [
        _entry(document, clause_id, sibling),
        Draft("rule", rules, len(_lines(rules)), _rule(rules, clause_id, prefix)),
        Draft("mutant", mutants, len(_lines(mutants)), _mutant(mutants, clause_id, prefix)),
        Draft(
            "tests", tests, len(_lines(tests)), _tests(tests, rules.relative_to(root), clause_id)
        ),
    ]


def _module_with_most(root: Path, folders: tuple[str, ...], prefix: str) -> Path:
    """Return the module that names most clauses of the group; the earlier folder wins a tie."""
    modules = [m for folder in folders for m in sorted((root / folder).rglob("*.py"))]
    count, _, module = max((_text(m).count(prefix), -n, m) for n, m in enumerate(modules))
    if not count:
        group = prefix.strip('".')
        raise click.UsageError(f"no module of {folders[0]} names a clause of the group {group!r}")
    return module


def _entry(path: Path, clause_id: str, sibling: Clause) -> Draft:
    """Return the entry, below the last one of the sibling's group."""
    lines = _lines(path)
    starts = [n for n, line in enumerate(lines) if line.lstrip().startswith("- id: ")]
    start = max(n for n in starts if lines[n].split()[2] == sibling.id)
    indent = lines[start][: lines[start].index("-")]
    after = start + 1
    while after < len(lines) and lines[after].startswith(f"{indent}  "):
        after += 1
    plain = re.fullmatch(r"\w[\w .,()'-]*", sibling.section)
    section = sibling.section if plain else json.dumps(sibling.section, ensure_ascii=False)
    text = f"""\
        - id: {clause_id}
          level: MUST
          consequence: {sibling.consequence}
          section: {section}
          statement: "TODO: the statement of the document, in your own words."
          checks: [{", ".join(sibling.checks)}]
          because: "TODO: what goes wrong for users where it is broken."
        """
    spaced = not lines[start - 1].strip()
    entry = [f"{indent}{line}" for line in dedent(text).splitlines()]
    return Draft("entry", path, after, ["", *entry] if spaced else entry)


def _rule(path: Path, clause_id: str, prefix: str) -> list[str]:
    """Return a copy of a decorated rule of the group, a row of a table, or a function."""
    copy = _copy(path, clause_id, prefix)
    if copy is not None:
        return copy
    name = _identifier(clause_id)
    if _bound(ast.parse(_text(path))) >= _TABLE_NAMES:
        text = f'''\


            # TODO: put {name.upper()} into the table of its operation;
            # docs/explanation/adding-a-clause.md shows how


            def _{name}(call: Call, outcome: Outcome) -> Accepted | Failure:
                """TODO: judge the outcome, and return the state afterwards."""
                if outcome.raised:
                    return Failure("{clause_id}", call.state.origin.works, "raised")
                return Accepted(call.state)


            {name.upper()} = Row(("{clause_id}",), is_open, _{name}, lambda call: ("TODO",))
            '''
    else:
        text = f'''\


            def _{name}(observed: object) -> str:
                """TODO: return what is wrong by {clause_id}, an empty string if nothing is."""
                return ""
            '''
    return dedent(text).splitlines()


def _mutant(path: Path, clause_id: str, prefix: str) -> list[str]:
    """Return a copy of a mutant of the group, or of any in the module."""
    copy = _copy(path, clause_id, prefix) or _copy(path, clause_id, '"')
    if copy is None:
        raise click.UsageError(f"{path}: no mutant to copy; expected a decorated definition")
    return copy


def _copy(path: Path, clause_id: str, prefix: str) -> list[str] | None:
    """Return the shortest decorated definition of the group with its id and name."""
    lines = _lines(path)
    samples = list(_decorated(ast.parse(_text(path)), prefix))
    if not samples:
        return None
    node = min(samples, key=lambda n: ((n.end_lineno or 0) - n.lineno, n.lineno))
    name = _identifier(clause_id)
    if isinstance(node, ast.ClassDef):
        name = name.title().replace("_", "")
    first = node.decorator_list[0].lineno
    decorators = "\n".join(lines[first - 1 : node.lineno - 1])
    decorators = re.sub(f'{re.escape(prefix)}[^"]*', f'"{clause_id}', decorators, count=1)
    body = lines[node.lineno - 1 : node.end_lineno]
    body[0] = re.sub(rf"\b{node.name}\b", name, body[0], count=1)
    docstring = node.body[0]
    start, end = docstring.lineno - node.lineno, (docstring.end_lineno or 0) - node.lineno
    indent = " " * docstring.col_offset
    body[start : end + 1] = [f'{indent}"""TODO: say what it does. A copy of {node.name}."""']
    return ["", "", *decorators.splitlines(), *body]


def _decorated(module: ast.Module, prefix: str) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Yield documented definitions of some length with a clause of the group in a decorator."""
    for node in module.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or len(node.body) < 2:
            continue
        if ast.get_docstring(node) is None:
            continue
        if any(prefix in ast.unparse(d).replace("'", '"') for d in node.decorator_list):
            yield node


def _bound(module: ast.Module) -> set[str]:
    """Return the names that a module imports or defines."""
    imported = (a.name for n in module.body if isinstance(n, ast.ImportFrom) for a in n.names)
    defined = (n.name for n in module.body if isinstance(n, ast.FunctionDef | ast.ClassDef))
    return {*imported, *defined}


def _tests(path: Path, rules: Path, clause_id: str) -> list[str]:
    """Return two tests that fail until they are written; a new file also gets a header."""
    name = _identifier(clause_id)
    head = f'"""The rules of {rules.as_posix()}."""\n\nfrom __future__ import annotations\n'
    text = f'''\


        def test_{name}_accepts_a_permitted_outcome() -> None:
            """TODO: say which outcome {clause_id} permits."""
            raise NotImplementedError("TODO")


        def test_{name}_rejects_an_outcome_that_is_not_permitted() -> None:
            """TODO: say which outcome {clause_id} rejects."""
            raise NotImplementedError("TODO")
        '''
    return [*([] if path.exists() else head.splitlines()), *dedent(text).splitlines()]


def _identifier(clause_id: str) -> str:
    return re.sub(r"\W", "_", clause_id)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _lines(path: Path) -> list[str]:
    return _text(path).splitlines()


def _next_steps(clause_id: str, tests: Path) -> str:
    return dedent(
        f"""\
        Next:
          1. Complete the TODO lines; docs/explanation/adding-a-clause.md explains each file.
          2. Run: python -m pytest {tests.as_posix()} tests/specs
          3. Check that the suite kills the mutant: python benchmarks/mutants.py '{clause_id}-*'
          4. Update the lists: UPDATE_DOCS=1 python -m pytest tests/specs/test_ids.py tests/docs"""
    )
