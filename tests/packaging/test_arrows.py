"""The folders import only what the architecture allows."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest

# One process parses every file once.
pytestmark = pytest.mark.xdist_group("imports")

Import: TypeAlias = ast.Import | ast.ImportFrom
ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("specs", "contract", "implementations", "pipeline", "fakes")
FILES = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py"))
NAMES = [".".join(p.relative_to(ROOT).with_suffix("").parts) for p in FILES]
#: What each folder may import of the others.
ALLOWED = {
    "specs": {"specs"},
    "contract": {"specs", "contract"},
    "implementations": {"specs", "contract", "implementations"},
    "pipeline": {"specs", "contract", "implementations", "pipeline"},
    "fakes": {"specs", "contract", "implementations", "pipeline", "fakes"},
}
#: Libraries that only some files may import when they are themselves imported.
CONFINED = {
    "hypothesis": ("contract/generate/", "fakes/strategies.py"),
    "pytest": (
        "contract/pytest_plugin.py",
        "fakes/filesystem/fixtures.py",
        "fakes/servers/fixtures.py",
    ),
    "click": (
        "contract/cli/",
        "contract/command_line.py",
        "pipeline/cli/",
        "pipeline/hudi/commands",
        "fakes/servers/command.py",
    ),
    "rich": (),
    "jinja2": (),
    "pyspark": ("implementations/spark/", "pipeline/spark_source/"),
    "obstore": ("implementations/s3/",),
    "boto3": ("implementations/s3/",),
    "werkzeug": ("fakes/servers/",),
    "jpype": ("implementations/bindings/hadoop",),
}
#: Files that need only Python: the interfaces, the models, and what they import.
BARE = (
    "contract/api/filesystem.py",
    "contract/api/errors.py",
    "contract/program/fault",
    "contract/binding.py",
    "contract/api/filesystem.py",
    "contract/program/outcome.py",
    "contract/program/program.py",
    "contract/binding.py",
    "contract/pipeline_bindings.py",
    "contract/models/",
    "implementations/memory.py",
)


def _where(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _modules(node: Import) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    else:
        assert node.level == 0, "relative import"
        yield f"{node.module}"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _all_nodes(path: Path) -> tuple[Import, ...]:
    """Return all import statements."""
    return tuple(node for node in ast.walk(_parsed(path)) if isinstance(node, Import))


@cache
def _loaded_nodes(path: Path) -> tuple[Import, ...]:
    """Return the import statements outside functions and `if TYPE_CHECKING`."""
    nodes: list[ast.AST] = [_parsed(path)]
    found: list[Import] = []
    while nodes:
        node = nodes.pop()
        if isinstance(node, Import):
            found.append(node)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            nodes += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            nodes += ast.iter_child_nodes(node)
    return tuple(found)


def _all_imports(path: Path) -> set[str]:
    return {name for node in _all_nodes(path) for name in _modules(node)}


def _imports_when_loaded(path: Path) -> set[str]:
    return {name for node in _loaded_nodes(path) for name in _modules(node)}


def _tops(names: set[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


def test_every_folder_has_source_files() -> None:
    """The tests below would pass without files."""
    assert {p.relative_to(ROOT).parts[0] for p in FILES} == set(FOLDERS)


def test_folder_imports_only_itself_and_earlier_folders() -> None:
    against = {
        _where(path): forbidden
        for path in FILES
        if (forbidden := _folders_imported(path) - ALLOWED[path.relative_to(ROOT).parts[0]])
    }
    assert against == {}


def _folders_imported(path: Path) -> set[str]:
    used = {n.split(".")[1] for n in _all_imports(path) if n.startswith("fscontract.")}
    return used & set(FOLDERS)


def test_modules_are_imported_below_fscontract_only() -> None:
    """The bare name would be a second copy of the module."""
    bare = {*FOLDERS, "tests", "src"}
    assert [_where(path) for path in FILES if _tops(_all_imports(path)) & bare] == []


def test_benchmarks_and_servers_import_no_tests() -> None:
    files = [path for top in ("benchmarks", "servers") for path in (ROOT / top).rglob("*.py")]
    assert {path.relative_to(ROOT).parts[0] for path in files} == {"benchmarks", "servers"}
    assert [_where(path) for path in files if "tests" in _tops(_all_imports(path))] == []


def test_heavy_libraries_are_imported_only_where_they_belong() -> None:
    strays = [
        (_where(path), library)
        for path in FILES
        for library in _tops(_imports_when_loaded(path)) & set(CONFINED)
        if not _where(path).startswith(CONFINED[library] or "nowhere")
    ]
    assert strays == []


def test_interfaces_and_models_import_only_the_standard_library() -> None:
    known = {*sys.stdlib_module_names, "fscontract", "typing_extensions"}
    bare = [path for path in FILES if _where(path).startswith(BARE)]
    assert bare
    assert all("typing_extensions" not in _imports_when_loaded(path) for path in bare)
    assert [_where(path) for path in bare if _tops(_all_imports(path)) - known] == []


def test_every_module_can_be_imported() -> None:
    """A module that needs an extra may fail for the missing library of that extra."""
    extras = {*CONFINED, "pyarrow", "moto", "fastavro", "google_crc32c", "xxhash"}
    for name in NAMES:
        full = f"fscontract.{name.removesuffix('.__init__')}"
        try:
            assert importlib.import_module(full).__name__ == full
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] not in extras:
                raise


#: Cycles of an adapter and the class that it adapts, which refer to each other.
ADAPTERS = (
    {"implementations.fsspec_adapter", "implementations.local", "implementations.memory"},
    {"implementations.s3.filesystem", "implementations.s3.fsspec_adapter"},
    {"contract.scenarios.check", "contract.scenarios.splitter.check"},
    {"contract.report.html", "contract.report.html.run"},
)


def _import_graph(nodes_of: Callable[[Path], tuple[Import, ...]]) -> dict[str, set[str]]:
    """Return the modules that each module imports, including the public ones."""
    paths = {path: f"fscontract.{name}" for path, name in zip(FILES, NAMES, strict=True)}
    paths |= {p: f"fscontract.{p.stem}" for p in (ROOT / "src" / "fscontract").glob("*.py")}
    modules = {path: name.removesuffix(".__init__") for path, name in paths.items()}
    known = {*modules.values()}

    def imported(node: Import) -> Iterator[str]:
        """Yield the modules of an import statement, without the packages that contain them."""
        names = list(_modules(node))
        if isinstance(node, ast.ImportFrom):
            package, *names = names
            names = [name if name in known else package for name in names]
        yield from (name for name in names if name in known)

    return {
        module: {name for node in nodes_of(path) for name in imported(node)} - {module}
        for path, module in modules.items()
    }


def _cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the strongly connected components of more than one module (Tarjan)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    cycles: list[set[str]] = []

    def visit(module: str) -> None:
        numbers[module] = lowest[module] = len(numbers)
        stack.append(module)
        for imported in graph[module]:
            if imported not in numbers:
                visit(imported)
            if imported in stack:
                lowest[module] = min(lowest[module], lowest[imported])
        if lowest[module] == numbers[module]:
            component = set(stack[stack.index(module) :])
            del stack[stack.index(module) :]
            if len(component) > 1:
                cycles.append({name.removeprefix("fscontract.") for name in component})

    for module in graph:
        if module not in numbers:
            visit(module)
    return cycles


def test_modules_have_no_import_cycles_except_adapters() -> None:
    """Imports in functions and for types count, too."""
    assert _cycles(_import_graph(_loaded_nodes)) == []
    cycles = _cycles(_import_graph(_all_nodes))
    assert [cycle for cycle in cycles if cycle not in ADAPTERS] == []


def test_only_commands_import_command_modules() -> None:
    graph = _import_graph(_all_nodes)
    folders = ("fscontract.contract.cli.", "fscontract.pipeline.cli.")
    entry_points = ("fscontract.__main__",)
    strays = [
        (module, imported)
        for module, names in graph.items()
        for imported in names
        if imported.startswith(folders) and not module.startswith((*folders, *entry_points))
    ]
    assert strays == []
