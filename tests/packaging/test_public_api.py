"""The public API is `fscontract` and its public modules."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import fscontract
from fscontract import MemoryFileSystem, UsageError, Verdict, check, errors, fakes
from fscontract.contract.spec.profiles import profile_names

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
    "fscontract.scenarios",
    "fscontract.spark",
    "fscontract.splitter",
)
#: Pages about the inside of the project, which may import any module.
INSIDE = {"adding-a-clause.md"}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_IMPORT = re.compile(r"^ *(?:from|import) (fscontract[\w.]*)", re.MULTILINE)


@pytest.mark.parametrize("module", PUBLIC)
def test_public_classes_and_functions_have_docstrings(module: str) -> None:
    api = import_module(module)
    assert sorted(api.__all__) == sorted(set(api.__all__))
    for name in api.__all__:
        value = getattr(api, name)
        if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
            assert inspect.getdoc(value), f"{module}.{name}"


@pytest.mark.parametrize("module", [fscontract, fakes], ids=lambda m: m.__name__)
def test_lazy_names_have_the_same_source_for_type_checkers(
    module: object,
) -> None:
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


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'fscontract' has no attribute 'nope'"):
        fscontract.__getattr__("nope")
    with pytest.raises(AttributeError, match=r"'fscontract\.fakes' has no attribute 'nope'"):
        fakes.__getattr__("nope")


def test_import_of_fscontract_imports_only_the_standard_library() -> None:
    code = (
        "import sys; before = {*sys.modules}; import fscontract\n"
        "new = {name.split('.')[0] for name in {*sys.modules} - before}\n"
        "print(*sorted(n for n in sys.modules if n.startswith('fscontract')))\n"
        "print(*sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["fscontract", "fscontract", ""]


def test_pages_import_public_modules_only() -> None:
    imported = {
        page.relative_to(ROOT).as_posix(): set(_IMPORT.findall(page.read_text(encoding="utf-8")))
        for page in PAGES
        if page.name not in INSIDE
    }
    strays = {page: names - set(PUBLIC) for page, names in imported.items()}
    assert {page: names for page, names in strays.items() if names} == {}
    assert len(imported) > 20


@pytest.mark.usefixtures("programs")
def test_check_accepts_a_name_a_filesystem_and_a_callable() -> None:
    for target in ("memory", MemoryFileSystem(), MemoryFileSystem):
        result = check(target, clauses="seek.negative")
        assert result.conforms
        assert {c.clause.id: c.outcome for c in result.clauses} == {"seek.negative": Verdict.PASS}


def test_check_accepts_a_part_of_a_pipeline() -> None:
    assert check("splitter", clauses=["split.cover"]).conforms


@pytest.mark.usefixtures("programs")
def test_check_of_a_filesystem_that_violates_a_clause_returns_a_counterexample() -> None:
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


INVALID = {
    "effort": {"effort": "hard"},
    "faults": {"faults": "hard"},
    "clauses": {"clauses": "nope.*"},
    "profile": {"profile": "nope"},
    "clauses of a splitter": {"clauses": "split.*"},
}


def message(arguments: dict[str, str]) -> str:
    """Return why `check` refuses arguments."""
    with pytest.raises(ValueError, match=r".") as caught:
        check("memory", **arguments)  # type: ignore[arg-type]
    return str(caught.value).replace(", ".join(profile_names()), "PROFILES")


@pytest.mark.parametrize("arguments", INVALID.values(), ids=INVALID)
def test_check_with_an_invalid_argument_raises_value_error(arguments: dict[str, str]) -> None:
    (value,) = arguments.values()
    assert value in message(arguments) or "is selected" in message(arguments)


def test_refusals_of_arguments_say_what_is_allowed() -> None:
    assert {name: message(arguments) for name, arguments in INVALID.items()} == snapshot(
        {
            "effort": "unknown effort 'hard'; known: quick, normal, deep",
            "faults": "unknown faults 'hard'; known: quick, normal, deep",
            "clauses": "no clause matches 'nope.*'; did you mean open?",
            "profile": "unknown profile 'nope': neither a file nor one of PROFILES",
            "clauses of a splitter": "no testable clause is selected; see 'fscontract list'",
        }
    )


def test_check_of_an_object_with_options_raises_usage_error() -> None:
    with pytest.raises(UsageError) as caught:
        check(MemoryFileSystem(), options={"a": "b"})
    assert str(caught.value) == snapshot(
        "options and server_faults require a name or a URL as target"
    )


def test_public_exceptions_are_caught_as_built_in_ones() -> None:
    assert issubclass(errors.FileNotFoundException, FileNotFoundError)
    assert issubclass(errors.EOFException, EOFError)
