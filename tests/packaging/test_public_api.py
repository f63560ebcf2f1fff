"""The public API: `fscontract` and its public modules, and nothing below them."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import fscontract
from fscontract import MemoryFileSystem, UsageError, Verdict, check, errors, fakes

ROOT = Path(__file__).resolve().parents[2]
#: Modules whose `__all__` is the public API.
PUBLIC = (
    "fscontract",
    "fscontract.blockreader",
    "fscontract.errors",
    "fscontract.fakes",
    "fscontract.hudi",
    "fscontract.java",
    "fscontract.options",
    "fscontract.spark",
    "fscontract.splitter",
)
#: Pages about the inside of the project, which may import any module.
INSIDE = {"writing-a-clause.md"}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_IMPORT = re.compile(r"^ *(?:from|import) (fscontract[\w.]*)", re.MULTILINE)


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_a_docstring_or_is_a_value(module: str) -> None:
    api = import_module(module)
    assert sorted(api.__all__) == sorted(set(api.__all__))
    for name in api.__all__:
        value = getattr(api, name)
        if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
            assert inspect.getdoc(value), f"{module}.{name}"


@pytest.mark.parametrize("module", [fscontract, fakes], ids=lambda m: m.__name__)
def test_names_that_are_imported_lazily_have_the_same_source_for_type_checkers(
    module: object,
) -> None:
    """A name would be another thing at run time than mypy takes it for."""
    assert inspect.ismodule(module)
    tree = ast.parse(inspect.getsource(module))
    (block,) = (n for n in tree.body if isinstance(n, ast.If))
    imports = [n for n in block.body if isinstance(n, ast.ImportFrom)]
    typed = {
        alias.name: str(n.module).removeprefix("fscontract.")
        for n in imports
        for alias in n.names
        if n.module != "fscontract"
    }
    assert typed == module._SOURCES


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'fscontract' has no attribute 'nope'"):
        fscontract.__getattr__("nope")
    with pytest.raises(AttributeError, match=r"'fscontract\.fakes' has no attribute 'nope'"):
        fakes.__getattr__("nope")


def test_importing_fscontract_imports_nothing_else() -> None:
    """Neither third-party packages nor other modules of the package."""
    code = (
        "import sys; before = {*sys.modules}; import fscontract\n"
        "new = {name.split('.')[0] for name in {*sys.modules} - before}\n"
        "print(*sorted(n for n in sys.modules if n.startswith('fscontract')))\n"
        "print(*sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["fscontract", "fscontract", ""]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_pages_import_public_modules_only(page: Path) -> None:
    if page.name not in INSIDE:
        imported = set(_IMPORT.findall(page.read_text(encoding="utf-8")))
        assert imported <= set(PUBLIC)


def test_check_takes_a_name_a_filesystem_and_a_callable() -> None:
    for target in ("memory", MemoryFileSystem(), MemoryFileSystem):
        result = check(target, clauses="seek.negative")
        assert result.conforms
        assert {c.clause.id: c.outcome for c in result.clauses} == {"seek.negative": Verdict.PASS}


def test_check_takes_a_part_of_a_pipeline() -> None:
    assert check("splitter", clauses=["split.cover"]).conforms


def test_check_of_a_filesystem_that_breaks_a_clause_gives_a_counterexample() -> None:
    class Stuck(MemoryFileSystem):
        def open(self, path: str, buffer_size: int | None = None) -> fscontract.FSDataInputStream:
            stream = super().open(path, buffer_size)
            stream.seek = lambda position: None  # type: ignore[method-assign]
            return stream

    result = check(Stuck, clauses="seek.negative")
    (clause,) = result.clauses
    assert (result.conforms, clause.outcome) == (False, Verdict.FAIL)
    assert clause.counterexample is not None
    assert str(clause.counterexample.program).endswith("f.seek(-1)")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"effort": "hard"}, "unknown effort 'hard'; known: quick, normal, deep"),
        ({"faults": "hard"}, "unknown faults 'hard'"),
        ({"clauses": "nope.*"}, "nope"),
        ({"profile": "nope"}, "nope"),
        ({"clauses": "split.*"}, "no testable clause is selected"),
    ],
)
def test_check_refuses_arguments_that_can_not_be_used(arguments: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check("memory", **arguments)  # type: ignore[arg-type]


def test_check_refuses_options_for_an_object() -> None:
    with pytest.raises(UsageError, match="need a target that is a name or a URL"):
        check(MemoryFileSystem(), options={"a": "b"})


def test_exceptions_of_hadoop_are_the_built_in_ones_too() -> None:
    assert issubclass(errors.FileNotFoundException, FileNotFoundError)
    assert issubclass(errors.EOFException, EOFError)
