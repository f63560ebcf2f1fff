"""The code blocks of the documentation do what the text says.

A `console` block is run as one shell script: each `$ ` line is followed by what it prints, where a
line `...` stands for any number of lines. `python` blocks are run; one with a file name is a file
for the blocks after it, as `yaml` blocks are. `UPDATE_DOCS=1` (without -n) writes the present
figures into the documents.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.few_programs import run_few_in_commands
from tests.limits import DEADLOCK
from tests.pytest_options import WITHOUT_OTHERS
from tests.warm import WarmPython

ROOT = Path(__file__).resolve().parents[2]
_SCRIPTS = Path(sys.executable).parent
#: All but docs/findings.md, whose programs are those of tests/findings, and the generated clauses.
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page.name != "findings.md" and page.parent.name != "clauses"
    ),
]
FENCE = re.compile(r"^```(\w+)(?: ([\w./-]+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: What differs from run to run, with the release of a library, or with every new clause.
VARIABLE = (
    (r"\b\d+ (passed|skipped|not verified|clauses? holds?|verified clauses?)\b", r"N \1"),
    (r"^not verified: \d+ ", "not verified: N "),
    (r"(\d+ \w+, )*\d+ operations\b", "N operations"),
    (r"\b\d+\.\d+ ?s\b", "N s"),
    (r"^fscontract \d+\.\d+\.\d+", "fscontract V"),
    (r", \w+ \d+\.\d+\.\d+(?=, )", ""),
    (r"-[0-9a-f]{12}\.json", "-ID.json"),
)
END = "-- end of a command --"
#: Files that tests/pipeline/spark_source/programs/on_cluster.py runs.
_RUN_ON_CLUSTER = {"app.py"}


@dataclass(frozen=True)
class Block:
    """One fenced block; `name` is that of the file it is, or empty."""

    document: Path
    line: int
    language: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def _blocks(document: Path) -> Iterator[Block]:
    source = document.read_text(encoding="utf-8")
    for match in FENCE.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        yield Block(document, line, match[1], match[2] or "", match[3])


BLOCKS = [block for document in DOCUMENTS for block in _blocks(document)]
PROGRAMS = [b for b in BLOCKS if b.language == "python" and not b.name]
CONSOLES = [b for b in BLOCKS if b.language == "console"]
#: Texts of blocks whose output needs all programs of quick. The others get few, and all of them in
#: `tox -e docs`.
NEED_ALL = (
    "./ours.py:make",
    "server.omit-content-range",
    "--content copies",
    "--clauses seek.zero,seek.pos",
)
#: The start of a Spark session in a program.
SESSION = 'local_session("local[2]")'
SETUPS = [b for b in BLOCKS if b.language == "sh"]


#: Pages whose commands start a JVM.
_OF_JAVA = {"cluster.md", "hadoop-connector.md", "spark.md"}


#: Texts of commands that take long.
_LONG = ("profile infer", "--faults quick", "server.omit-content-range", "server.py --clauses")


def _marked(block: Block) -> Any:
    """Leave to `tox -e docs` the commands of the reference, long ones, and those with Java."""
    page = block.document
    is_long = any(text in block.text for text in _LONG)
    deep = is_long or page.parent.name == "reference" or page.name in _OF_JAVA
    return pytest.param(block, marks=pytest.mark.deep if deep else ())


def _files_before(block: Block) -> dict[str, str]:
    """The files that the document has given by then; a later one replaces an earlier one."""
    own = [b for b in BLOCKS if b.document == block.document and b.line < block.line]
    return {b.name: b.text for b in own if b.name}


@pytest.fixture(params=["few programs", pytest.param("all programs", marks=pytest.mark.deep)])
def environment(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Mapping[str, str]:
    """Return the environment of a reader; for docs/how-to/s3.md it has a bucket and its keys.

    With few programs the command `fscontract` is a fork, which need not start anew.
    """
    block: Block = request.getfixturevalue("block")
    needs_all = os.environ.get("UPDATE_DOCS") or any(text in block.text for text in NEED_ALL)
    directories = [_SCRIPTS]
    if request.param == "few programs":
        if not needs_all:
            run_few_in_commands(monkeypatch)
        directories.insert(0, request.getfixturevalue("warm_scripts"))
    found = _environment(directories)
    if block.document.name != "s3.md":
        return found
    return {**found, **request.getfixturevalue("bucket")}


@pytest.fixture(scope="session")
def warm_scripts(warm_commands: WarmPython, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a command `fscontract` that a fork runs."""
    directory = tmp_path_factory.mktemp("scripts")
    warm_commands.write_command(directory, _SCRIPTS / "fscontract")
    return directory


def _environment(directories: Sequence[Path]) -> Mapping[str, str]:
    """Without CI, where pytest prints longer lines; with the commands of directories."""
    path = os.pathsep.join([*map(str, directories), os.environ.get("PATH", "")])
    kept = {k: v for k, v in os.environ.items() if k not in ("CI", "BUILD_NUMBER")}
    return {**kept, "PATH": path, "PYTEST_ADDOPTS": f"-p no:cacheprovider {WITHOUT_OTHERS}"}


def _run(
    command: list[str], directory: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=DEADLOCK,
    )


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A directory with the files that come before the block."""
    for name, text in _files_before(request.getfixturevalue("block")).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "block",
    [pytest.param(b, marks=pytest.mark.deep if SESSION in b.text else ()) for b in PROGRAMS],
    ids=str,
)
def test_programs_run(
    block: Block, place: Path, environment: Mapping[str, str], request: pytest.FixtureRequest
) -> None:
    """Its assertions hold: in a fork, and in `tox -e docs` in a new interpreter."""
    arguments = ["-W", "error", "-c", block.text]
    if request.node.callspec.params["environment"] == "few programs":
        runner: WarmPython = request.getfixturevalue("warm_programs")
        done = runner.run(arguments, place, environment, joined=True)
    else:
        done = _run([sys.executable, *arguments], place, environment)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("block", [b for b in PROGRAMS if SESSION in b.text], ids=str)
def test_programs_run_in_the_session_of_the_tests(
    block: Block, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In separate processes, with separate sessions, they run in `tox -e docs`."""
    session = spark.newSession()
    monkeypatch.setattr("fscontract.spark.local_session", lambda master: nullcontext(session))
    try:
        exec(compile(block.text, str(block), "exec"), {"__name__": "__main__"})
    finally:
        for table in session.catalog.listTables():
            session.sql(f"drop {'view' if table.isTemporary else 'table'} {table.name}")


@pytest.mark.parametrize("block", [_marked(block) for block in CONSOLES], ids=str)
def test_commands_print_what_is_shown(
    block: Block, place: Path, environment: Mapping[str, str]
) -> None:
    """Times, versions and counts of programs aside."""
    exchanges = list(_exchanges(block.text))
    script = "".join(f"{line}\nstatus=$?; echo '{END}'; (exit $status)\n" for line, _ in exchanges)
    done = _run(["bash", "-c", script], place, environment)
    outputs = done.stdout.split(f"{END}\n")
    for (command, shown), output in zip(exchanges, outputs, strict=False):
        lines = output.splitlines()
        if os.environ.get("UPDATE_DOCS"):
            _update(block.document, shown, lines)
        else:
            assert _agrees(shown, lines), f"$ {command}\n{output}"


@pytest.mark.parametrize("block", SETUPS, ids=str)
def test_setting_up_is_what_ci_does(block: Block) -> None:
    """Each command of a set-up is one of .ci/run, which starts from nothing."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace(".venv-ci", ".venv")
    commands = re.split(r" && |\n", block.text.strip())
    assert [c for c in commands if c not in script.splitlines()] == []


def test_every_block_is_run() -> None:
    """None is of a kind that no test here looks at, or a file that nothing uses."""
    assert {b.language for b in BLOCKS} == {"python", "console", "sh", "yaml", "toml"}
    files = [b for b in BLOCKS if b.language == "yaml" or b.name]
    for file in (f for f in files if f.name not in _RUN_ON_CLUSTER):
        after = [b for b in BLOCKS if b.document == file.document and b.line > file.line]
        stem = Path(file.name).stem
        # `fscontract check` reads pyproject.toml, which no command line names
        used = any(stem in b.text for b in after) or (after and stem == "pyproject")
        assert used, f"{file} is not used"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    """Links within the repository name files that it has."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8"))
    assert [t for t in targets if not (document.parent / t).exists()] == []


def _exchanges(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command with the lines shown after it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, shown


def _plain(line: str) -> str:
    for pattern, replacement in VARIABLE:
        line = re.sub(pattern, replacement, line)
    return line.rstrip()


def _agrees(shown: list[str], lines: list[str]) -> bool:
    parts = [re.escape("".join(f"{_plain(line)}\n" for line in part)) for part in _parts(shown)]
    return bool(re.fullmatch("(?:.*\n)*?".join(parts), "".join(f"{_plain(x)}\n" for x in lines)))


def _parts(shown: list[str]) -> Iterator[list[str]]:
    """The lines between one `...` and the next."""
    part: list[str] = []
    for line in shown:
        if line == "...":
            yield part
            part = []
        else:
            part.append(line)
    yield part


def _update(document: Path, shown: list[str], lines: list[str]) -> None:
    source = document.read_text(encoding="utf-8")
    printed = [line for line in lines if line not in shown]
    for line in shown:
        like = next((x for x in printed if _masked(x) == _masked(line)), None)
        if like is not None and line not in lines:
            printed.remove(like)
            source = source.replace(f"{line}\n", f"{like}\n", 1)
    document.write_text(source, encoding="utf-8")


def _masked(line: str) -> str:
    return re.sub(r"\d+|-[0-9a-f]{12}", "N", line)
