"""From what a user types to a binding."""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import EntryPoint, EntryPoints, PackageNotFoundError
from pathlib import Path
from textwrap import dedent
from typing import Any, NoReturn

import pytest

from fscontract.contract import targets
from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.targets import (
    UsageError,
    bind_connector,
    recognise,
    resolve_any,
    resolve_target,
    without_module,
)

BINDINGS = """
from fscontract.contract.binding import Binding, TargetError

class Stub(Binding):
    api = "stub"
    operations = frozenset()
    accepts = "a number"

    def __init__(self, name, *made): self.name, self.made = name, made
    def prepare(self): pass
    def create(self, content): return "/f"
    def open(self, path): return None
    def bind(self, step): return None
    def dispose(self): pass

    @classmethod
    def recognise(cls, found, name):
        return cls(name, found) if isinstance(found, int) else None

    @classmethod
    def from_url(cls, url, options, *, file=None, content=None):
        if "bad" in url:
            raise OSError(f"can't open {url} with {options}")
        return cls(url, options, file, content)

def demo(options): return Stub("demo", options)

from fscontract.contract.pipeline_bindings import PipelineBinding

class Part(PipelineBinding):
    api = "tap"
    name = "part"

def part(options): return Part()
"""


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A target `demo`, bindings `fsspec` and `other`, and two that lack a module."""
    (tmp_path / "demo_bindings.py").write_text(BINDINGS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "demo_bindings", raising=False)
    monkeypatch.chdir(tmp_path)
    places = {
        "fscontract.targets": {"demo": "demo_bindings:demo", "lacking": "no_such_module:x"},
        "fscontract.bindings": {
            "absent": "no_such_module:x",
            "fsspec": "demo_bindings:Stub",
            "other": "demo_bindings:Stub",
        },
        "fscontract.faulty": {},
        "fscontract.pipelines": {"part": "demo_bindings:part"},
    }

    entries = [
        EntryPoint(name, value, group)
        for group, values in places.items()
        for name, value in values.items()
    ]
    monkeypatch.setattr(targets, "entry_points", lambda: EntryPoints(entries))


def _write(tmp_path: Path, text: str) -> None:
    (tmp_path / "made.py").write_text(dedent(text))


def _made(binding: Binding) -> tuple[Any, ...]:
    return tuple(binding.made)  # type: ignore[attr-defined]


def test_a_name_is_an_installed_target() -> None:
    """It gets the options."""
    binding = resolve_target("demo", {"a": "b"})
    assert (binding.name, _made(binding)) == ("demo", ({"a": "b"},))


def test_entry_points_are_read_again_when_the_path_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "demo" in targets.installed("fscontract.targets")
    monkeypatch.setattr(targets, "entry_points", lambda: EntryPoints([]))
    assert "demo" in targets.installed("fscontract.targets")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    assert targets.installed("fscontract.targets") == {}


def test_a_name_may_be_that_of_a_part_of_a_pipeline() -> None:
    """Return a target that can be checked but is not a filesystem."""
    assert resolve_any("part", {}).name == "part"
    with pytest.raises(UsageError, match=r"^part: expected a filesystem, got a tap$"):
        resolve_target("part", {})


def test_a_callable_may_make_a_part_of_a_pipeline() -> None:
    """As the binding that it returns."""
    assert resolve_any("demo_bindings:Part", {}).name == "part"


def test_requests_of_a_part_of_a_pipeline_can_t_be_made_to_fail() -> None:
    """There are no plans of faults for it."""
    with pytest.raises(UsageError, match="faults are not supported"):
        resolve_any("part", {}, faulty=True)


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("s3://bucket/p", "s3://bucket/p"),
        ("simplecache::file:///d", "simplecache::file:///d"),
        ("other+s3://bucket", "s3://bucket"),
        ("other+zip://a::file:///x.zip", "zip://a::file:///x.zip"),
        ("file:///a+b://c", "file:///a+b://c"),
    ],
)
def test_a_url_goes_to_a_binding(text: str, opened: str) -> None:
    """To the one named before the plus, or else to fsspec."""
    assert resolve_target(text, {}).name == opened


def test_a_url_gets_file_and_content(tmp_path: Path) -> None:
    """For targets that can't be written."""
    local = tmp_path / "c.bin"
    local.write_bytes(b"abc")
    binding = resolve_target("http://h", {"k": "v"}, "http://h/c.bin", local)
    assert _made(binding) == ({"k": "v"}, "http://h/c.bin", local)


def test_a_callable_of_a_file_is_imported_beside_its_neighbours(tmp_path: Path) -> None:
    """Its folder is importable meanwhile, and its own name is private."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "neighbour_of_made.py").write_text("SEVEN = 7")
    (tmp_path / "sub" / "made.py").write_text(
        "from neighbour_of_made import SEVEN\ndef number(): return SEVEN"
    )
    before = list(sys.path)
    binding = resolve_target("./sub/made.py:number", {})
    assert _made(binding) == (7,)
    assert sys.path == before
    assert "made" not in sys.modules


def test_a_callable_of_a_module_gets_options_as_arguments(tmp_path: Path) -> None:
    """Modules of the current directory are found."""
    (tmp_path / "made_by_options.py").write_text(
        "class A:\n given = []\n def f(**given): A.given.append(given); return 5"
    )
    given = {
        "size": "5",
        "options": "true",
        "how": '{"a": [1.5, null]}',
        "text": '"5"',
        "plain": "mmap",
    }
    typed = {"size": 5, "options": True, "how": {"a": [1.5, None]}, "text": "5", "plain": "mmap"}
    assert _made(resolve_target("made_by_options:A.f", given)) == (5,)
    assert sys.modules["made_by_options"].A.given == [typed]


def test_an_object_need_not_be_callable(tmp_path: Path) -> None:
    """A module may contain the filesystem itself."""
    _write(tmp_path, "five = 5")
    assert _made(resolve_target("made.py:five", {})) == (5,)


_MISTAKES = """
    def number(): return 1
    def takes(it, more=1): return 1
    class Store:
        def __init__(self, folder, size=1, *, mode, other=2): pass
    class Plain:
        pass
    text = 'x'
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dem", "unknown target 'dem'; did you mean demo?; known: demo, lacking, part; or a URL"),
        ("", "unknown target ''; known: demo"),
        (
            "othr+s3://b",
            "s3://b: unknown binding 'othr'; did you mean other?; known: absent, fsspec",
        ),
        ("mad.py:f", "file not found: 'mad.py'; did you mean made.py?"),
        ("made.py:numbr", "'numbr' not found in made.py; did you mean number?"),
        ("made.py:text", "unsupported type builtins.str; accepted: a Binding, a number"),
        ("made.py:text", "; to check a callable that opens a path, add --encode FUNCTION, such as"),
        ("mode:f", "module not found: 'mode'; did you mean made?"),
        ("mad.py", "file not found: 'mad.py'; did you mean made.py?"),
        (
            "./made.py",
            "./made.py: missing callable; expected one of: ./made.py:number, "
            "./made.py:takes -o it=..., ./made.py:Store -o folder=... -o mode=..., ./made.py:Plain",
        ),
        ("empty.py", "empty.py: no callable that can be a target; expected empty.py:NAME"),
        ("broken.py", "broken.py: can't be read: "),
        (".", "unknown target '.'; did you mean file:///"),
        ("made.py:takes", "can't call takes: missing a required argument: 'it'"),
    ],
)
def test_a_mistake_names_what_is_known(text: str, said: str, tmp_path: Path) -> None:
    """In one line, with near misses."""
    _write(tmp_path, _MISTAKES)
    (tmp_path / "empty.py").write_text("raise SystemExit('not run')\ndef _hidden(): pass")
    (tmp_path / "broken.py").write_text("def f(:")
    with pytest.raises(UsageError) as caught:
        resolve_target(text, {})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_that_do_not_fit_are_not_shown(tmp_path: Path) -> None:
    """The message has the name of the option, never its value."""
    _write(tmp_path, "def number(): return 1")
    with pytest.raises(UsageError, match="unexpected keyword argument 'key'") as caught:
        resolve_target("made.py:number", {"key": "s3cret"})
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f():\n    raise RuntimeError('no\\nway')", r"RuntimeError: no way \(.*made.py:2\)"),
        ("def f():\n    raise SystemExit(3)", r"SystemExit: 3 \(.*made.py:2\)"),
        ("import json\ndef f():\n    json.loads('')", r"JSONDecodeError: .*\(.*made.py:3\)"),
        ("import no_such_thing", r"ModuleNotFoundError: .*\(.*made.py:1\)"),
        ("def f(:", r"SyntaxError: .*\(.*made.py:1\)"),
    ],
)
def test_a_callable_that_raises_is_a_target_error(source: str, said: str, tmp_path: Path) -> None:
    """With the type, the message and the line of the author's own code."""
    _write(tmp_path, source)
    with pytest.raises(TargetError, match=said) as caught:
        resolve_target("made.py:f", {})
    assert "\n" not in str(caught.value)


def test_a_failure_to_open_shows_no_secret() -> None:
    """Neither of the URL nor of the options."""
    with pytest.raises(TargetError) as caught:
        resolve_target("s3://me:pass/word@bad?sig=abc", {"secret": "hush-hush"})
    assert str(caught.value).startswith("s3://***@bad?***: OSError: can't open s3://***@bad?***")
    for secret in ("me", "pass", "word", "abc", "hush"):
        assert secret not in str(caught.value).replace("demo_bindings", "")


def test_a_target_whose_module_is_missing_says_so() -> None:
    """It is known, but can't be set up here."""
    with pytest.raises(TargetError, match="target 'lacking' needs the module 'no_such_module'"):
        resolve_target("lacking", {})


@pytest.mark.parametrize(
    ("module", "cure"),
    [
        ("fastavro", "; pip install 'fscontract[metadata]'"),
        ("google_crc32c", "; pip install 'fscontract[metadata]'"),
        ("pyarrow.parquet", "; pip install 'fscontract[pyarrow]'"),
        ("no_such_module", ""),
    ],
)
def test_a_missing_module_is_named_with_the_smallest_extra_that_installs_it(
    module: str, cure: str
) -> None:
    error = without_module("it", ModuleNotFoundError(name=module))
    assert str(error) == f"it needs the module {module!r}{cure}"


def test_a_missing_module_is_named_where_the_package_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on executors that were sent its files."""

    def requires(name: str) -> NoReturn:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(targets, "requires", requires)
    error = without_module("it", ModuleNotFoundError(name="fastavro"), "metadata")
    assert str(error) == "it needs the module 'fastavro'"


def test_a_missing_module_of_this_package_is_a_bug() -> None:
    with pytest.raises(ModuleNotFoundError):
        without_module("it", ModuleNotFoundError(name="fscontract.nowhere"))


@pytest.mark.parametrize(
    ("text", "file", "content", "said"),
    [
        ("http://h", "http://h/f", None, "must be used together"),
        ("http://h", None, Path("here"), "must be used together"),
        ("http://h", "http://h/f", Path("none"), "--content: file not found: none"),
        ("demo", "http://h/f", Path("here"), "a URL or a callable as target, got 'demo'"),
    ],
)
def test_file_and_content_are_checked(
    text: str, file: str | None, content: Path | None, said: str, tmp_path: Path
) -> None:
    """Before anything is opened."""
    (tmp_path / "here").write_bytes(b"")
    with pytest.raises(UsageError, match=said):
        resolve_target(text, {}, file, content)


def test_a_connector_is_a_target_a_callable_or_a_binding() -> None:
    """As the pytest plug-in takes them."""
    assert bind_connector("demo", "t").name == "demo"
    assert bind_connector(lambda: 5, "t").name == "t"
    assert bind_connector(lambda: resolve_target("demo", {}), "t").name == "demo"


@pytest.mark.parametrize("error", ["RuntimeError", "SystemExit"])
def test_a_binding_that_fails_at_an_object_or_a_url_is_a_target_error(
    error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the class and the place, whatever its code or the target's raises."""
    demo = importlib.import_module("demo_bindings")

    def fail(*_: Any, **__: Any) -> NoReturn:
        raise {"RuntimeError": RuntimeError, "SystemExit": SystemExit}[error]("odd")

    for name in ("recognise", "from_url"):
        monkeypatch.setattr(demo.Stub, name, fail)
    shown = rf"{error}: odd \(.*test_targets.py:\d+\)"
    with pytest.raises(TargetError, match=rf"\Amine: {shown}"):
        recognise(object(), "mine")
    with pytest.raises(TargetError, match=rf"\As3://bucket: {shown}"):
        resolve_target("s3://bucket", {})
