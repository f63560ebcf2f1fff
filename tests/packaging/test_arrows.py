"""Which folder may import what: the arrows of the architecture, read from the source."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

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
    "pytest": ("contract/pytest_plugin.py", "fakes/filesystem/fixtures.py"),
    "click": (
        "contract/cli/",
        "contract/command_line.py",
        "pipeline/cli/",
        "pipeline/hudi/commands",
    ),
    "rich": (),
    "jinja2": (),
    "pyspark": ("implementations/spark/", "pipeline/spark_source/"),
    "obstore": ("implementations/s3/",),
    "boto3": ("implementations/s3/",),
    "jpype": ("implementations/bindings/hadoop",),
}
#: Floors that need nothing but Python: the ports, the pure models, and what they stand on.
BARE = (
    "contract/api/filesystem.py",
    "contract/api/errors.py",
    "contract/program/faults.py",
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


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative import"
        yield f"{node.module}"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _all_imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {name for node in ast.walk(tree) for name in _modules(node)}


def _imports_when_loaded(path: Path) -> set[str]:
    """Those outside functions and `if TYPE_CHECKING`."""
    found: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        found.update(_modules(node))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            nodes += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            nodes += ast.iter_child_nodes(node)
    return found


def _tops(names: set[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


def test_there_are_files_to_look_at() -> None:
    """Else every test below would hold of nothing."""
    assert {p.relative_to(ROOT).parts[0] for p in FILES} == set(FOLDERS)


def test_arrows_point_one_way() -> None:
    """Also inside functions: a folder imports only itself and those before it."""
    against = {
        _where(path): forbidden
        for path in FILES
        if (forbidden := _folders_imported(path) - ALLOWED[path.relative_to(ROOT).parts[0]])
    }
    assert against == {}


def _folders_imported(path: Path) -> set[str]:
    used = {n.split(".")[1] for n in _all_imports(path) if n.startswith("fscontract.")}
    return used & set(FOLDERS)


def test_folders_are_imported_below_fscontract_only() -> None:
    """The bare name would be a second copy of the module."""
    bare = {*FOLDERS, "tests", "src"}
    assert [_where(path) for path in FILES if _tops(_all_imports(path)) & bare] == []


def test_heavy_libraries_are_confined() -> None:
    """Importing a module costs only what its own job needs."""
    strays = [
        (_where(path), library)
        for path in FILES
        for library in _tops(_imports_when_loaded(path)) & set(CONFINED)
        if not _where(path).startswith(CONFINED[library] or "nowhere")
    ]
    assert strays == []


def test_ports_and_models_need_only_python() -> None:
    """They import nothing but the standard library and the kit itself."""
    known = {*sys.stdlib_module_names, "fscontract"}
    bare = [path for path in FILES if _where(path).startswith(BARE)]
    assert bare
    assert [_where(path) for path in bare if _tops(_all_imports(path)) - known] == []


def test_every_module_can_be_imported_below_fscontract() -> None:
    """A module that needs an extra may say that the extra is missing, and nothing else."""
    extras = {*CONFINED, "pyarrow", "moto", "fastavro", "google_crc32c", "xxhash"}
    for name in NAMES:
        full = f"fscontract.{name.removesuffix('.__init__')}"
        try:
            assert importlib.import_module(full).__name__ == full
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] not in extras:
                raise
