"""Tests that the scripts of docs/findings.md fail as long as the bug is there.

`UPDATE_DOCS=1` (without -n) writes the scripts into the page.
"""

from __future__ import annotations

import ast
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from benchmarks.matrix.explained import findings
from benchmarks.releases import installed_release
from fscontract.contract.report.matrix import load_findings
from fscontract.contract.script.frame import MAX_LINES
from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.fault_proxy import FaultProxy
from fscontract.implementations.s3.moto_target import EmbeddedServer
from servers.file_servers import PASSWORD, USER, sftp_server, webdav_server
from servers.ftp import ftp_server, web_server
from servers.http_files import NoRanges, WithoutRanges, WithRanges, serving
from servers.s3.client_targets import Place
from tests.findings.conftest import MEASURED
from tests.findings.s3.test_replaced import CUT_ONCE, Replacing
from tests.findings.servers.azure import blob_server
from tests.findings.table import CONSEQUENCES, FINDINGS, PAGE, SCRIPTS, Finding
from tests.limits import DEADLOCK
from tests.samples import is_sampled
from tests.warm import WarmPython

Server = Callable[[Path], AbstractContextManager[str]]
#: Packages of the libraries that have another name in the table.
_PACKAGES = {"Hadoop": "pyspark", "hudi-rs": "hudi", "JPype": "jpype1"}
#: Packages that the scripts of a group need besides, for their servers too.
_NEEDED = {
    "H": ("jpype1", "pyftpdlib"),
    "N": ("asyncssh", "paramiko", "pyftpdlib", "wsgidav"),
    "P": ("pyarrow",),
}
#: Groups whose scripts start Java, which can't be forked.
_OF_JAVA = "HP"
#: The finding on older releases of fsspec, and one of them.
_OF_RELEASES, _RELEASE = "F57", "2023.6.0"
#: Versions of the packages where the table has those of the libraries in them.
_VERSIONS = {"Hadoop 3.3.3": "4.3.0", "Hadoop 3.5.0": "4.3.0"}
_FENCE = re.compile(r"^```python (\S+\.py)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _files(handler: type[BaseHTTPRequestHandler]) -> Server:
    @contextmanager
    def files(_: Path) -> Iterator[str]:
        with serving(handler) as url:
            yield f"{url}file"

    return files


@contextmanager
def sftp(directory: Path) -> Iterator[str]:
    """Yield the URL of an SFTP server."""
    with sftp_server(directory) as port:
        yield f"sftp://{USER}:{PASSWORD}@127.0.0.1:{port}/"


@contextmanager
def azure(_: Path) -> Iterator[str]:
    """Yield the URL of an account of blobs."""
    with blob_server() as url:
        yield url


@contextmanager
def moto(_: Path) -> Iterator[str]:
    """Yield the URL of an S3 server with a bucket."""
    with EmbeddedServer() as server:
        urlopen(Request(f"{server.url}/bucket", method="PUT"), timeout=DEADLOCK).close()
        yield server.url


@contextmanager
def replacing(directory: Path) -> Iterator[str]:
    """Yield the URL of an S3 server that cuts the first answer and then replaces the object."""
    with moto(directory) as url, FaultProxy(url, Replacing(Place(url, "bucket"))) as proxy:
        proxy.injector.attach(CUT_ONCE)
        yield proxy.url


_SERVERS: dict[str, tuple[Server, ...]] = {
    **dict.fromkeys(("F25", "F26", "S2", "S3", "S6", "S9", "S13", "S14", "F54"), (moto,)),
    **dict.fromkeys(("S15", "S16", "S17", "S20", "S22", "S28", "S29", "S38"), (moto,)),
    "S1": (replacing,),
    **dict.fromkeys(("F11", "F12"), (_files(WithoutRanges),)),
    **dict.fromkeys(("F13", "F48", "F49"), (_files(WithRanges),)),
    **dict.fromkeys(("F17", "F18", "F24"), (_files(NoRanges),)),
    **dict.fromkeys(("N1", "N2", "N3", "N4", "N5", "N6", "N12", "N15", "N16"), (sftp,)),
    "N7": (sftp, ftp_server),
    **dict.fromkeys(("N8", "N13", "N14", "N20"), (ftp_server,)),
    **dict.fromkeys(("N9", "N10"), (webdav_server,)),
    "N11": (azure,),
    **dict.fromkeys(("H15", "H16", "H20"), (ftp_server,)),
    "H14": (web_server,),
}

#: Further arguments of scripts, a run for each.
_ARGUMENTS = {"S1": ("opendal", "smart_open")}


def _runs() -> Iterator[Any]:
    """Yield the parameters of each run: the finding, the script, the server, and its arguments."""
    known = {finding.id: finding for finding in FINDINGS}
    for name, path in SCRIPTS.items():
        number = name.partition("_")[0].upper()
        if number == _OF_RELEASES:
            continue
        marks = [pytest.mark.xdist_group("spark")] if number.startswith("P") else []
        # Half of those that start Java or a server, as other tests of findings do, too.
        if number[0] in "HNS" and not is_sampled(3, number):
            marks.append(pytest.mark.deep)
        if number == "H12":
            marks = [pytest.mark.s3a]
        for server in _SERVERS.get(number, (None,)):
            for more in _ARGUMENTS.get(number, ("",)):
                words = [number, server.__name__ if server and number == "N7" else "", more]
                run = "-".join(filter(None, words))
                yield pytest.param(known[number], path, server, more, id=run, marks=marks)


def _installed(library: str) -> str:
    """Return the version of a library, "" if it is not installed."""
    if library == "CPython":
        return platform.python_version()
    try:
        return version(_PACKAGES.get(library, library))
    except PackageNotFoundError:
        return ""


def _measured(finding: Finding) -> bool:
    """Return whether the finding was measured on the installed libraries and this Python."""
    pairs = zip(finding.libraries, finding.versions, strict=True)
    same = [_installed(name) == _VERSIONS.get(f"{name} {of}", of) for name, of in pairs]
    return all(same) and platform.python_version() == MEASURED["python"]


# pyftpdlib forgets to close a file if the next RETR comes before the end of a transfer.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize(("finding", "script", "server", "more"), [*_runs()])
def test_script_shows_its_finding(
    finding: Finding,
    script: Path,
    server: Server | None,
    more: str,
    tmp_path: Path,
    warm_programs: WarmPython,
) -> None:
    """If another version fixed the bug, the test is an expected failure that says so."""
    needed = (*finding.libraries, *_NEEDED.get(finding.id[0], ()))
    if missing := [library for library in needed if not _installed(library)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    (tmp_path / "it").write_bytes(b"hello")
    with server(tmp_path) if server else nullcontext("") as url:
        arguments = [str(script), *filter(None, (url, more))]
        if finding.id[0] in _OF_JAVA:
            done = _run(*arguments)
        else:
            done = warm_programs.run(arguments, Path.cwd(), os.environ)
    if done.returncode:
        assert _fails_at_its_last_statement(script, done.stderr), done.stderr
        return
    message = f"{script.name} passes: note in docs/findings.md that the bug is fixed"
    if _measured(finding):
        pytest.fail(message)
    pytest.xfail(message)


@pytest.mark.deep
def test_script_of_an_older_release_fails_with_it_only(tmp_path: Path) -> None:
    (script,) = (path for name, path in SCRIPTS.items() if name.startswith(_OF_RELEASES.lower()))
    release = installed_release("fsspec", _RELEASE, tmp_path)
    assert release
    assert _fails_at_its_last_statement(script, _run(script, PYTHONPATH=str(release)).stderr)
    assert _run(script).returncode == 0


def _run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
        timeout=DEADLOCK,
        check=False,
    )


def _fails_at_its_last_statement(script: Path, stderr: str) -> bool:
    """Return whether the assertion there failed; not one before it, and no other error."""
    last = ast.parse(script.read_text(encoding="utf-8")).body[-1]
    place = rf'File "{re.escape(str(script))}", line (\d+), in <module>\n(?: .*\n)+AssertionError: '
    return any(int(line) >= last.lineno for line in re.findall(place, stderr))


def test_scripts_have_at_most_40_lines() -> None:
    folder = PAGE.parents[1] / "tests" / "findings" / "scripts"
    lengths = {path.name: len(path.read_text().splitlines()) for path in folder.glob("*.py")}
    assert {name for name, length in lengths.items() if length > MAX_LINES} == set()


def test_page_shows_every_script() -> None:
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_DOCS"):
        text = _FENCE.sub(lambda shown: _fence(shown[1]), text)
        PAGE.write_text(text, encoding="utf-8")
    shown = [match[1] for match in _FENCE.finditer(text)]
    assert sorted(shown) == sorted(SCRIPTS)
    assert [match[0] for match in _FENCE.finditer(text)] == [_fence(name) for name in shown]


def _fence(name: str) -> str:
    return f"```python {name}\n{SCRIPTS[name].read_text(encoding='utf-8')}```"


def test_script_is_shown_in_the_section_of_its_finding() -> None:
    sections = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name in SCRIPTS:
        (section,) = (each for each in sections if f"```python {name}\n" in each)
        assert section.partition(" ")[0].lower() == name.partition("_")[0]


def test_table_has_a_row_for_every_heading() -> None:
    headings = load_findings(PAGE, "")
    assert headings.anchors is not None
    rows = [(finding.id, f"#{finding.anchor}", finding.title) for finding in FINDINGS]
    titles = headings.titles or {}
    assert rows == [(each, anchor, titles[each]) for each, anchor in headings.anchors.items()]


def test_rows_name_clauses_of_their_sections_and_a_known_consequence() -> None:
    for finding in FINDINGS:
        assert not {*finding.clauses} - clauses().keys(), finding
        assert not {*finding.clauses} - findings()[finding.id][1], finding
        assert finding.consequence in CONSEQUENCES, finding
        assert len(finding.libraries) == len(finding.versions), finding
        assert re.match(r"yes, .*#\d+$|no$|not recorded$", finding.reported), finding


def test_sections_give_clauses_the_levels_of_the_specification() -> None:
    text = PAGE.read_text(encoding="utf-8")
    given = {pair for group in re.findall(r"\([^()]*\)", text) for pair in _levels(group)}
    assert len(given) > 100
    assert [pair for pair in given if clauses()[pair[0]].level != pair[1]] == []


def _levels(group: str) -> Iterator[tuple[str, str]]:
    """Yield clauses and their level, which follows them: `a` and `b`, MUST; `c`, SHOULD."""
    named: list[str] = []
    for word, level in re.findall(r"`([\w.-]+)`|\b(MUST|SHOULD|MAY)\b", group):
        if level:
            yield from ((name, level) for name in named if name in clauses())
            named = []
        else:
            named.append(word)


def test_files_that_the_page_links_exist() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", PAGE.read_text(encoding="utf-8"))
    assert [link for link in links if not (PAGE.parent / link).exists()] == []
