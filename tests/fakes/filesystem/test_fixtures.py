"""The pytest fixtures: their settings, and what they do about faults that struck nothing."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

HEAD = """
import pytest
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.fakes.filesystem.tree import Consistency
from fscontract.fakes.filesystem.requests import Latency
"""
#: A test whose fault struck nothing: there is only one get.
UNSTRUCK = """
def test_it(fake_filesystem):
    fake_filesystem.write("/a", b"hello world")
    fake_filesystem.attach(FaultPlan((Fault.short(nth=4),)))
    fake_filesystem.get_file_status("/a")
    with fake_filesystem.open("/a", buffer_size=0) as stream:
        stream.read_fully(4, bytearray(3))
    fake_filesystem.open("/a").close()
"""
#: Arguments by which a warning is none of the errors that our own warnings are.
WARN = ("-W", "always")
TOLD = [
    "fake_filesystem: a fault struck no request",
    "  short at 4: only 1 request matched, get",
    "requests under the plan:",
    "  1 head /a",
    "  2 open /a",
    "  3 get /a 3 bytes from 4",
    "  4 open /a",
    'to allow it: @pytest.mark.unstruck_faults("ignore"), or "warn"',
]


def run(pytester: pytest.Pytester, test: str, *args: str) -> pytest.RunResult:
    """Run pytest on a module of tests."""
    pytester.makepyfile(HEAD + dedent(test))
    return pytester.runpytest_inprocess(*args)


def marked(mark: str, test: str) -> str:
    """Return a test with a marker."""
    return f"\n@pytest.mark.{mark}{test}"


# Settings ---------------------------------------------------------------------------------------


def test_a_marker_gives_the_filesystem_its_settings(pytester: pytest.Pytester) -> None:
    settings = {
        "retries": "0",
        "block_size": "4",
        "replicas": "2",
        "deadline": "7",
        "latency": "Latency(0.5)",
        "consistency": "Consistency(list_after=3)",
    }
    given = ", ".join(f"{name}={value}" for name, value in settings.items())
    checks = "\n".join(f"assert fake_filesystem.{n} == {v}" for n, v in settings.items())
    test = f"""
def test_it(fake_filesystem):
{indent(checks, "    ")}
    fake_filesystem.write("/a", bytes(10))
    assert fake_filesystem.get_file_status("/a").block_size == 4
    assert fake_filesystem.clock.now == 0.5
    assert list(fake_filesystem.list_status("/")) == []
    fake_filesystem.attach(FaultPlan((Fault("reset"),)))
    with pytest.raises(ConnectionResetError):
        fake_filesystem.open("/a")
"""
    run(pytester, marked(f"fake_filesystem({given})", test)).assert_outcomes(passed=1)


def test_the_nearest_marker_counts_for_each_setting(pytester: pytest.Pytester) -> None:
    """Of a test, its class and its module; a fixture of the user's has them too."""
    test = """
    pytestmark = pytest.mark.fake_filesystem(retries=1, replicas=1, deadline=1)

    @pytest.fixture
    def mine(fake_filesystem):
        return fake_filesystem

    @pytest.mark.fake_filesystem(replicas=2, deadline=2)
    class TestIt:
        @pytest.mark.fake_filesystem(deadline=3)
        def test_it(self, mine):
            assert (mine.retries, mine.replicas, mine.deadline) == (1, 2, 3)

    def test_other(mine):
        assert (mine.retries, mine.replicas, mine.deadline) == (1, 1, 1)
    """
    run(pytester, test).assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        (
            "fake_filesystem(retry=0)",
            "*unknown setting 'retry'; settings are given by name: block_size, *",
        ),
        ("fake_filesystem(retries=-1)", "*retries must be a whole number of at least 0, not -1"),
        ("fake_filesystem(retries='3')", "*retries must be a whole number of at least 0, not '3'"),
        ("fake_filesystem(latency=1)", "*latency must be a Latency, not 1"),
        ("fake_filesystem(0)", "*unknown setting 0; settings are given by name: block_size, *"),
        ("unstruck_faults('no')", "*takes one of 'fail', 'warn', 'ignore'"),
        ("unstruck_faults", "*takes one of 'fail', 'warn', 'ignore'"),
    ],
)
def test_a_marker_that_makes_no_sense_is_one_line(
    mark: str, message: str, pytester: pytest.Pytester
) -> None:
    result = run(pytester, marked(mark, "\ndef test_it(fake_filesystem): pass"))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*fixtures.py:*")


def test_the_markers_are_registered(pytester: pytest.Pytester) -> None:
    test = marked("fake_filesystem(retries=0)", marked("unstruck_faults('warn')", UNSTRUCK))
    run(pytester, test, "--strict-markers", *WARN).assert_outcomes(passed=1, warnings=1)


def test_an_assignment_of_a_setting_fails_the_test(pytester: pytest.Pytester) -> None:
    """It would have no effect, and says where the setting is given."""
    test = """
    def test_it(fake_filesystem):
        fake_filesystem.retries = 0
    """
    result = run(pytester, test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*FakeFileSystem(retries=...), or for the fixture @pytest.mark*"])


# Faults that struck nothing ---------------------------------------------------------------------


def test_a_fault_that_struck_nothing_fails_the_test(pytester: pytest.Pytester) -> None:
    """It says why, what it saw, and how to allow it."""
    result = run(pytester, UNSTRUCK)
    result.assert_outcomes(passed=1, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(TOLD, consecutive=True)
    result.stdout.no_fnmatch_line("*fixtures.py:*")


def test_faults_that_struck_pass(pytester: pytest.Pytester) -> None:
    """Once is enough, though a fault may strike more requests."""
    test = UNSTRUCK.replace("nth=4", "nth=1, times=100")
    run(pytester, test).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "attached",
    [
        "fake_filesystem.attach(PLAN)\n    fake_filesystem.detach()",
        "fake_filesystem.injector.attach(PLAN)\n    fake_filesystem.attach(FaultPlan())",
        "with fake_filesystem.injector.attached(PLAN): pass",
    ],
)
def test_every_plan_of_a_test_is_looked_at(attached: str, pytester: pytest.Pytester) -> None:
    """In whatever way it was attached, also if another one followed."""
    test = f"""
PLAN = FaultPlan((Fault("short"),))
def test_it(fake_filesystem):
    {attached}
    list(fake_filesystem.list_status("/"))
"""
    result = run(pytester, test)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["no requests were made under the plan"])


@pytest.mark.parametrize(
    ("mark", "setting", "counts"),
    [
        ("ignore", "fail", {}),
        ("warn", "fail", {"warnings": 1}),
        (None, "ignore", {}),
        (None, "warn", {"warnings": 1}),
        ("fail", "ignore", {"errors": 1}),
    ],
)
def test_a_marker_or_the_setting_allows_it(
    mark: str | None, setting: str, counts: dict[str, int], pytester: pytest.Pytester
) -> None:
    """The marker counts more than `contract_unstruck_faults`."""
    pytester.makeini(f"[pytest]\ncontract_unstruck_faults = {setting}\n")
    test = UNSTRUCK.replace("nth=4", "nth=9")
    result = run(pytester, marked(f"unstruck_faults('{mark}')", test) if mark else test, *WARN)
    result.assert_outcomes(passed=1, **counts)
    if "warnings" in counts:
        result.stdout.fnmatch_lines(["*UnstruckFaultWarning*", "*short at 9: only 1*"])


def test_a_setting_that_makes_no_sense_is_one_line(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ncontract_unstruck_faults = maybe\n")
    result = run(pytester, UNSTRUCK)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*contract_unstruck_faults: one of fail, warn, ignore, not 'maybe'"]
    )


def test_many_requests_are_shown_in_part(pytester: pytest.Pytester) -> None:
    test = (
        UNSTRUCK.replace("nth=4", "nth=500") + "    for _ in range(96): fake_filesystem.open('/a')"
    )
    result = run(pytester, test)
    result.stdout.fnmatch_lines(["  20 open /a", "  and 80 more"], consecutive=True)


# The proxy --------------------------------------------------------------------------------------

PROXY = """
import http.server, threading, urllib.request

class Store(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")
    def log_message(self, *args): pass

@pytest.fixture
def proxy(fault_proxy):
    with http.server.HTTPServer(("127.0.0.1", 0), Store) as store:
        threading.Thread(target=store.serve_forever, daemon=True).start()
        yield fault_proxy(f"http://127.0.0.1:{store.server_port}", longest=1)
        store.shutdown()

def ask(proxy, **headers):
    request = urllib.request.Request(f"{proxy.url}/bucket/key", headers=headers)
    with urllib.request.urlopen(request) as answer:
        return answer.read()

"""


def test_a_proxy_holds_tests_to_their_faults_too(pytester: pytest.Pytester) -> None:
    """It is closed after the test, and shows the ranges of the requests."""
    test = """
kept = []

def test_it(proxy):
    kept.append(proxy)
    proxy.injector.attach(FaultPlan((Fault("throttle", nth=9), Fault("slow"))))
    ask(proxy)
    ask(proxy, Range="bytes=1-3")

def test_closed():
    with pytest.raises(OSError):
        ask(kept[0])

def test_struck(proxy):
    proxy.injector.attach(FaultPlan((Fault("throttle", nth=1),)))
    with pytest.raises(OSError, match="503"):
        ask(proxy)
"""
    result = run(pytester, PROXY + test)
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(
        [
            "fault_proxy: a fault struck no request",
            "  throttle at 9: only 2 requests matched, any request",
            "requests under the plan:",
            "  1 get /bucket/key",
            "  2 get /bucket/key 3 bytes from 1",
        ],
        consecutive=True,
    )


# Open files, requests, and the factory ------------------------------------------------------------


LEAKS = """
import gc
import fsspec

def test_open(fake_filesystem):
    fake_filesystem.write("/a", b"x")
    test_open.file = fsspec.open("fake:///a").open()

def test_lost(fake_filesystem):
    fake_filesystem.create("/b").write(b"x")

@pytest.mark.leaked_handles("ignore")
def test_allowed(fake_filesystem):
    fake_filesystem.create("/c").write(b"x")

def test_failed(fake_filesystem):
    file = fake_filesystem.create("/d")
    assert False

def test_closed(fake_filesystem):
    fake_filesystem.create("/e").close()
"""


def test_a_file_that_is_left_open_fails_the_test(pytester: pytest.Pytester) -> None:
    """But not one that has failed: its traceback keeps the file open."""
    result = run(pytester, LEAKS)
    result.assert_outcomes(passed=4, failed=1, errors=2)
    result.stdout.fnmatch_lines(
        [
            "fake_filesystem: the test left files open",
            "  /a opened as 'rb' at *.py:11",
            'to allow it: @pytest.mark.leaked_handles("ignore"), or "warn"',
            "fake_filesystem: the test left files open",
            "  /b opened as 'wb' at *.py:14, garbage-collected without close()",
        ]
    )


def test_the_setting_for_open_files_is_one_of_three(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ncontract_leaked_handles = warn")
    run(pytester, LEAKS, *WARN).assert_outcomes(passed=4, failed=1, warnings=2)
    pytester.makeini("[pytest]\ncontract_leaked_handles = no")
    result = run(pytester, LEAKS)
    result.stderr.fnmatch_lines(["*contract_leaked_handles: one of fail, warn, ignore, not 'no'"])


def test_a_failed_test_shows_its_requests(pytester: pytest.Pytester) -> None:
    test = """
    @pytest.mark.fake_filesystem(latency=Latency(0.5, 0))
    def test_it(fake_filesystem, fake_filesystem_factory):
        fake_filesystem.write("/a", b"hello")
        fake_filesystem.get_file_status("/a")
        fake_filesystem_factory(retries=0).mkdirs("/d")
        fake_filesystem.assert_requests(head=0)
    """
    result = run(pytester, test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: requests: head=1 (expected 0)",
            "*Requests of fake_filesystem*",
            "1  head       /a            0      0.5  ok",
            "0.5 s on the clock",
            "*Requests of fake_filesystem_factory*",
            "1  mkdirs     /d *",
        ]
    )


def test_the_factory_makes_filesystems_that_are_checked(pytester: pytest.Pytester) -> None:
    test = """
    def test_separate(fake_filesystem_factory):
        one, other = fake_filesystem_factory(retries=0), fake_filesystem_factory(block_size=4)
        one.write("/a", b"x")
        assert (one.retries, other.block_size) == (0, 4)
        assert list(other.list_status("/")) == []

    def test_unstruck(fake_filesystem_factory):
        fake_filesystem_factory().attach(Fault.reset())

    def test_leaked(fake_filesystem_factory):
        test_leaked.file = fake_filesystem_factory().create("/a")

    def test_unknown(fake_filesystem_factory):
        fake_filesystem_factory(retry=0)
    """
    result = run(pytester, test)
    result.assert_outcomes(passed=3, failed=1, errors=2)
    result.stdout.fnmatch_lines(
        [
            "fake_filesystem_factory: a fault struck no request",
            "  reset at 1: no request matched, any request",
            "no requests were made under the plan",
            "  /a opened as 'wb' at *",
            "fake_filesystem_factory: unknown setting 'retry'; settings are given by name: block_*",
        ]
    )
