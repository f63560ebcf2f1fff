"""Resolve a target to a binding: names, URLs and callables.

This module imports no implementation: named targets and bindings are entry points. Messages never
contain secrets from options, or from user information and query strings of URLs.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import re
import sys
import sysconfig
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import lru_cache, partial
from hashlib import sha256
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, requires
from operator import attrgetter
from pathlib import Path
from secrets import token_hex
from types import ModuleType
from typing import Any, NoReturn

from fscontract.contract import clock
from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.program.outcome import text_of
from fscontract.contract.spec.clauses import near_misses, read_name
from fscontract.contract.text import mask_url, redact
from fscontract.contract.untrusted import typed_value

assert clock  # imported first: it keeps the `time` functions that a target may patch
TARGETS = "fscontract.targets"
BINDINGS = "fscontract.bindings"
#: Named targets that are parts of a pipeline.
PIPELINES = "fscontract.pipelines"
#: Named targets whose requests can be made to fail; they replace those of the same name.
FAULTY = "fscontract.faulty"
#: Functions that put faults in front of a binding, by its API.
FAULTY_APIS = "fscontract.faulty_apis"
#: Functions that start a misbehaving server and bind a client of it, for --server-faults.
SERVERS = "fscontract.servers"
#: What stands for the server in a target and its options.
PLACEHOLDERS = ("{url}", "{host}", "{bucket}", "{key}", "{secret}", "{region}")
#: Bindings of callables that open a path, for `--encode`.
OPENERS = "fscontract.openers"
_URL_BINDING = "fsspec"
#: Where this package is.
_PACKAGE = str(Path(__file__).parents[1])
_FILE = re.compile(r"(?P<place>.+\.py):(?P<name>[^\W\d][\w.]*)\Z")
_DOTTED = re.compile(r"(?P<place>[^\W\d][\w.]*):(?P<name>[^\W\d][\w.]*)\Z")
_CHOSEN = re.compile(r"(?P<binding>[A-Za-z][\w-]*)\+(?P<url>[^/]*://.*)\Z", re.DOTALL)
#: The start of the names of modules that are imported from a file of the user.
OWN_MODULES = "_fscontract_target_"
#: The maximum of callables that a message lists.
_MOST_NAMED = 10


class UsageError(ValueError):
    """An invalid argument of the user (exit code 2)."""


def resolve_target(
    text: str,
    options: dict[str, str],
    file: str | None = None,
    content: Path | None = None,
    faulty: bool = False,
    encode: str | None = None,
    served: bool = False,
) -> Binding:
    """Return the binding to the filesystem TARGET; errors and arguments as `resolve_any`."""
    binding = resolve_any(text, options, file, content, faulty, encode, served)
    if isinstance(binding, PipelineBinding):
        raise UsageError(f"{mask_url(text)}: expected a filesystem, got a {binding.api}")
    return binding


def resolve_any(
    text: str,
    options: dict[str, str],
    file: str | None = None,
    content: Path | None = None,
    faulty: bool = False,
    encode: str | None = None,
    served: bool = False,
) -> Binding | PipelineBinding:
    """Return the binding that TARGET names; UsageError, or TargetError if it can't be made.

    `options` are passed to the code that makes it. `file` is the URL of a file that a read-only
    target holds, and `content` the local file with the same bytes; both or neither. With `faulty`,
    the requests of the target can be made to fail. With `encode`, TARGET is a callable that
    opens a path, and `encode` one that returns the stored form of bytes. With `served`, TARGET
    is a client of a server on loopback, whose place it and the options name by PLACEHOLDERS.
    """
    text = read_name("targets", text)
    if served:
        if file is not None or faulty or encode is not None:
            raise UsageError(
                "--server-faults can't be combined with --faults, --file, --content or --encode"
            )
        return _served(text, options)
    _check_file(text, file, content)
    with _outside(text, options, ours=True):
        if encode is not None:
            binding: Binding | PipelineBinding = _opener(text, encode, options)
        else:
            binding = _resolve(text, options, file, content, faulty)
        str(binding.name)  # the binding must have a name
        return with_faults(binding, text) if faulty else binding


def _served(text: str, options: dict[str, str]) -> Binding:
    """Return the binding to a client of a misbehaving server that is started for it."""
    everything = [text, *options.values()]
    if not any(name in value for name in PLACEHOLDERS for value in everything):
        raise UsageError(
            f"{mask_url(text)}: with --server-faults, TARGET or an option must name the server by "
            f"{' or '.join(PLACEHOLDERS[:3])}, as in http://{{host}}/, or s3://{{bucket}} "
            "-o endpoint_url={url}"
        )
    kind = "s3" if any("{bucket}" in value for value in everything) else "http"

    def client(values: Mapping[str, str], file: str | None, content: Path | None) -> Binding:
        named = {key: _filled(value, values) for key, value in options.items()}
        url = _filled(text, values)
        is_url = "://" in url and url not in installed(TARGETS)
        binding = _resolve(url, named, file if is_url else None, content if is_url else None, False)
        return _expect_binding(binding, text)

    serve = load_entry(installed(SERVERS)[kind], "--server-faults")
    with _outside(text, options, ours=True):
        return _expect_binding(serve(client, mask_url(text)), text)


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name in PLACEHOLDERS:
        text = text.replace(name, values.get(name.strip("{}"), name))
    return text


def with_faults(binding: Binding | PipelineBinding, text: str) -> Binding:
    """Return a binding whose requests can be made to fail; UsageError if there is none."""
    if not isinstance(binding, PipelineBinding):
        if binding.injector is not None:
            return binding
        entry = installed(FAULTY_APIS).get(binding.api)
        if entry is not None:
            return _expect_binding(load_entry(entry, f"faults of {binding.api}")(binding), text)
    able = _names(installed(FAULTY))
    raise UsageError(
        f"{mask_url(text)}: faults are not supported; supported by: {able}, fsspec filesystems, "
        "and a Binding with an injector"
    )


def _resolve(
    text: str, options: dict[str, str], file: str | None, content: Path | None, faulty: bool
) -> Binding | PipelineBinding:
    named = installed(TARGETS) | installed(PIPELINES) | (installed(FAULTY) if faulty else {})
    if text in named:
        factory = load_entry(named[text], f"target {text!r}")
        binding = _call(factory, text, options, options)
        return binding if isinstance(binding, PipelineBinding) else _expect_binding(binding, text)
    if "://" in text:
        return _from_url(text, options, file, content)
    match = _FILE.match(text) or _DOTTED.match(text)
    if match is None and text.endswith(".py"):
        raise UsageError(_without_callable(text))
    if match is None:
        place = Path(text)
        hint = f"; did you mean {place.resolve().as_uri()}?" if text and place.is_dir() else ""
        raise UsageError(
            f"unknown target {text!r}{hint or near_misses(text, named)}; known: {_names(named)}; "
            "or a URL, package.module:callable, file.py:callable"
        )
    found = _from_callable(text, match["place"], match["name"], options)
    return found if content is None else with_only_file(found, text, file, content)


def with_only_file(
    binding: Binding | PipelineBinding, text: str, file: str | None, content: Path | None
) -> Binding:
    """Return a binding of the same filesystem to one file, of which `content` is a local copy.

    Raise UsageError unless it is one of fsspec.
    """
    _check_content(file, content)
    assert content is not None
    method = getattr(binding, "with_only_file", None)
    if method is None:
        raise UsageError(
            f"{mask_url(text)}: --file and --content require a URL, or a filesystem of fsspec"
        )
    return _expect_binding(method(file, content.read_bytes()), text)


def _without_callable(text: str) -> str:
    """Return the message about a file without a callable; its code is read and not run."""
    _require_file(Path(text))
    try:
        body = ast.parse(Path(text).read_bytes()).body
    except (OSError, SyntaxError, ValueError) as error:
        return f"{text}: can't be read: {' '.join(text_of(error).split())}"
    kinds = ast.FunctionDef | ast.ClassDef
    public = [node for node in body if isinstance(node, kinds) and not node.name.startswith("_")]
    usable = [f"{text}:{node.name}{_options_of(node)}" for node in public]
    if not usable:
        return f"{text}: no callable that can be a target; expected {text}:NAME"
    more = f" and {len(usable) - _MOST_NAMED} more" if len(usable) > _MOST_NAMED else ""
    return f"{text}: missing callable; expected one of: {', '.join(usable[:_MOST_NAMED])}{more}"


def _options_of(node: ast.FunctionDef | ast.ClassDef) -> str:
    """Return the options that a call requires, as in " -o folder=..."."""
    function, skipped = node, 0
    if isinstance(node, ast.ClassDef):
        methods = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        if not methods:
            return ""
        function, skipped = methods[0], 1
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = positional[skipped : len(positional) - len(arguments.defaults)]
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    required += [argument for argument, default in keywords if default is None]
    return "".join(f" -o {argument.arg}=..." for argument in required)


def _opener(text: str, encode: str, options: dict[str, str]) -> Binding:
    """Return the binding of a callable that opens a path; `encode` names a function of bytes."""
    opener = _named(text, "a target with --encode", options)
    encoder = _named(encode, "--encode", {})
    typed = {key: typed_value(value) for key, value in options.items()}
    _check_call(opener, text, ("path",), typed)
    _check_call(encoder, encode, (b"",), {})
    cls = load_entry(installed(OPENERS)["python-file"], "--encode")
    return _expect_binding(cls(partial(opener, **typed), None, text, encoder), text)


def _named(text: str, what: str, options: dict[str, str]) -> Any:
    """Return the callable that file.py:callable or package.module:callable names."""
    match = None if "://" in text else _FILE.match(text) or _DOTTED.match(text)
    if match is None:
        raise UsageError(
            f"{what} must be package.module:callable or file.py:callable, got {mask_url(text)!r}"
        )
    with _on_path(_folder_of(match["place"])):
        target = _attribute(text, match["place"], match["name"], options)
    if not callable(target):
        raise UsageError(f"{text}: not callable: {type(target).__name__}")
    return target


def names_code(text: str) -> bool:
    """Return whether TARGET is file.py:callable or package.module:callable, which runs code."""
    return "://" not in text and (_FILE.match(text) or _DOTTED.match(text)) is not None


#: How files of any other kind are checked.
_ANY_FILES = (
    "to check a callable that opens a path, add --encode FUNCTION, such as builtins:bytes for "
    "files that are stored unchanged"
)


def recognise(filesystem: Any, name: str) -> Binding:
    """Return the binding for a filesystem object; UsageError lists what is accepted."""
    if isinstance(filesystem, Binding):
        return filesystem
    accepted = ["a Binding"]
    for entry in installed(BINDINGS).values():
        try:
            cls = entry.load()
        except ImportError:  # the object can't come from an extra that is not installed
            continue
        except Exception as error:  # the object may come from an unsupported version of the library
            accepted.append(f"{entry.name} (unavailable: {_described(error)})")
            continue
        binding = _call(cls.recognise, name, {}, filesystem, name)
        if isinstance(binding, Binding):
            return binding
        accepted.append(getattr(cls, "accepts", entry.name))
    kind = f"{type(filesystem).__module__}.{type(filesystem).__qualname__}"
    raise UsageError(
        f"{name}: unsupported type {kind}; accepted: {', '.join(accepted)}; {_ANY_FILES}"
    )


def bind_connector(connector: Any, name: str) -> Binding:
    """Return the binding for a target string, a filesystem, or a callable that makes one."""
    if isinstance(connector, str):
        return resolve_target(connector, {})
    filesystem = _call(connector, name, {}) if callable(connector) else connector
    return recognise(filesystem, name)


def _check_file(text: str, file: str | None, content: Path | None) -> None:
    _check_content(file, content)
    if file is not None and "://" not in text and not names_code(text):
        raise UsageError(
            f"--file and --content require a URL or a callable as target, got {text!r}"
        )


def _check_content(file: str | None, content: Path | None) -> None:
    if (file is None) != (content is None):
        raise UsageError("--file and --content must be used together")
    if content is not None and not content.is_file():
        raise UsageError(f"--content: file not found: {content}")


def _from_url(
    text: str, options: dict[str, str], file: str | None, content: Path | None
) -> Binding:
    bindings = installed(BINDINGS)
    match = _CHOSEN.match(text)
    name, url = (match["binding"], match["url"]) if match else (_URL_BINDING, text)
    if name not in bindings:
        raise UsageError(
            f"{mask_url(text)}: unknown binding {name!r}{near_misses(name, bindings)}; "
            f"known: {_names(bindings)}"
        )
    cls = load_entry(bindings[name], f"binding {name!r}")
    if not hasattr(cls, "from_url"):
        raise UsageError(f"{mask_url(text)}: the binding {name!r} does not open URLs")
    with _outside(text, options):
        binding = cls.from_url(url, options, file=file, content=content)
    return _expect_binding(binding, text)


def _from_callable(
    text: str, module: str, name: str, options: dict[str, str]
) -> Binding | PipelineBinding:
    with _on_path(_folder_of(module)):
        target = _attribute(text, module, name, options)
        if not callable(target):
            return _recognise_any(target, text)
        typed = {key: typed_value(value) for key, value in options.items()}
        _check_call(target, text, (), typed)
        return _recognise_any(_call(partial(target, **typed), text, options), text)


def _folder_of(module: str) -> Path:
    """Return the directory that a module or a file may import from."""
    return Path(module).resolve().parent if module.endswith(".py") else Path.cwd()


def _attribute(text: str, module: str, name: str, options: dict[str, str]) -> Any:
    target: Any = _import(text, module, options)
    for part in name.split("."):
        if not hasattr(target, part):
            names = [n for n in dir(target) if not n.startswith("_")]
            raise UsageError(f"{text}: {name!r} not found in {module}{near_misses(part, names)}")
        target = getattr(target, part)
    return target


def _check_call(function: Any, text: str, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Raise UsageError if the function can't be called with these arguments."""
    try:
        inspect.signature(function).bind(*args, **named)
    except TypeError as error:
        name = text.rpartition(":")[2]
        hint = "" if args else f"; {_ANY_FILES}"
        raise UsageError(f"{text}: can't call {name}: {error}{hint}") from error
    except ValueError:  # a callable written in C has no signature
        pass


def _recognise_any(target: Any, text: str) -> Binding | PipelineBinding:
    return target if isinstance(target, PipelineBinding) else recognise(target, text)


def _import(text: str, module: str, options: dict[str, str]) -> ModuleType:
    try:
        if module.endswith(".py"):
            return _import_file(Path(module))
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            _could_not(text, error, options)
        top = [p.stem for p in Path.cwd().glob("*") if p.suffix in ("", ".py")]
        known = top if "." not in module else [*top, *sys.modules]
        raise UsageError(
            f"{text}: module not found: {error.name!r}{near_misses(module, known)}"
        ) from error


def _import_file(path: Path) -> ModuleType:
    _require_file(path)
    spec = importlib.util.spec_from_file_location(_name_of_file(path), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up while it runs
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


def _name_of_file(path: Path) -> str:
    """Return the name under which a file is imported."""
    digest = sha256(os.fsencode(path.resolve())).hexdigest()[:12]
    return f"{OWN_MODULES}{digest}"


def loaded(text: str) -> object:
    """Return what a target names in a module that was imported, None if there is nothing."""
    place, _, name = text.rpartition(":")
    module = sys.modules.get(_name_of_file(Path(place)) if place.endswith(".py") else place)
    try:
        return attrgetter(name)(module)
    except AttributeError:
        return None


def _require_file(path: Path) -> None:
    """Raise UsageError with similar names if there is no such file."""
    if not path.is_file():
        beside = [p.name for p in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise UsageError(f"file not found: {str(path)!r}{near_misses(path.name, beside)}")


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)


def _call(function: Any, text: str, options: dict[str, str], *args: Any) -> Any:
    with _outside(text, options):
        return function(*args)


@contextmanager
def _outside(text: str, options: dict[str, str], ours: bool = False) -> Iterator[None]:
    """Convert exceptions of a target's code, or of the code that makes it, to TargetError.

    The message omits values of options. UsageError keeps its class; if `ours`, it and TargetError
    pass unchanged.
    """
    try:
        yield
    except (UsageError, TargetError) as error:
        if ours:
            raise
        kind = UsageError if isinstance(error, UsageError) else TargetError
        raise kind(redact(text_of(error), options)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, and the panics of extensions
        _could_not(text, error, options)


def _could_not(text: str, error: BaseException, options: dict[str, str]) -> NoReturn:
    raise TargetError(f"{mask_url(text)}: {redact(_described(error), options)}") from error


def _described(error: BaseException) -> str:
    """Return the class of an exception, its message, and where it was raised."""
    message = " ".join(text_of(error).split())
    said = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return f"{said} ({raised_at(error)})"


def raised_at(error: BaseException) -> str:
    """Return the innermost line of the user's code, or else that of a library."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    own = own_place(error)
    if own or not frames:
        return own or "unknown place"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    return f"{frames[-1].filename}:{frames[-1].lineno}"


def own_place(error: BaseException) -> str:
    """Return the innermost line that is not from a library, Python or this package, "" if none."""
    foreign = (sysconfig.get_path("stdlib"), "<frozen", _PACKAGE)
    places = [
        f"{frame.filename}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if "site-packages" not in frame.filename and not frame.filename.startswith(foreign)
    ]
    return places[-1] if places else ""


def _expect_binding(binding: Any, text: str) -> Binding:
    if isinstance(binding, Binding):
        return binding
    raise TargetError(f"{mask_url(text)}: expected a Binding, got {type(binding).__name__}")


def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by their names."""
    entries = _entry_points(tuple(sys.path)).select(group=group)
    return {entry.name: entry for entry in sorted(entries)}


@lru_cache(maxsize=1)
def _entry_points(path: tuple[str, ...]) -> Any:
    """Return all entry points on `path`, which is sys.path: they are in a file of each package."""
    return entry_points()


#: The extra of a requirement, as package metadata name it.
_EXTRA = re.compile(r"extra == [\"']([\w-]+)")


def load_entry(entry: EntryPoint, what: str) -> Any:
    """Load an entry point; TargetError if a library that it needs is missing."""
    try:
        return entry.load()
    except ModuleNotFoundError as error:
        raise without_module(what, error, entry.name) from error


def without_module(what: str, error: ModuleNotFoundError, extra: str = "") -> TargetError:
    """Return the error of what needs a missing module: the extra `extra` installs it, or another.

    A module of this package is a bug, not a missing one, and is raised.
    """
    module = (error.name or "").partition(".")[0]
    if module == "fscontract":
        raise error
    needed = _requirements()
    project = re.escape(module.replace("_", "-"))
    lines = [line for line in needed if re.match(rf"{project}\b", line)]
    sizes = Counter(_EXTRA.findall(" ".join(needed)))
    smallest = sorted(_EXTRA.findall(" ".join(lines)), key=sizes.__getitem__)
    chosen = next((name for name in (extra, module, *smallest) if name in sizes), "")
    cure = f"; pip install 'fscontract[{chosen}]'" if chosen else ""
    return TargetError(f"{what} needs the module {error.name!r}{cure}")


def _requirements() -> list[str]:
    """Return what this package and its extras require; nothing if only its files were shipped."""
    try:
        return requires("fscontract") or []
    except PackageNotFoundError:
        return []


def _names(entries: dict[str, EntryPoint]) -> str:
    return ", ".join(entries) or "none"


_START = "fscontract-"
_FORM = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"fscontract-(?P<time>\d{8}T\d{6}Z)-[0-9a-z_]{8}(?:-[0-9a-z_]{8})?")
#: Contains one mark in the tasks of a run that removes their leftovers.
_marks: list[str] = []


def new_name(now: datetime | None = None) -> str:
    """Return a unique name, such as `fscontract-20261121T203400Z-ab12cd34`."""
    return "-".join([f"{timed_start(now)}{token_hex(4)}", *_marks])


@contextmanager
def marked(mark: str) -> Iterator[None]:
    """Append a mark of 8 letters and digits to new names, by which a run recognises its tasks'."""
    _marks[:] = [mark]
    try:
        yield
    finally:
        _marks.clear()


def has_mark(name: str, mark: str) -> bool:
    """Return whether the name was made in a task of the run with this mark."""
    return made_at(name) is not None and name.endswith(f"-{mark}")


def timed_start(now: datetime | None = None) -> str:
    """Return the start of such a name, up to the random part."""
    return f"{_START}{(now or datetime.now(timezone.utc)):{_FORM}}-"


def made_at(name: str) -> datetime | None:
    """Return when the directory of this name was made; None if the name does not contain a time."""
    match = _NAME.fullmatch(name)
    try:
        created = match and datetime.strptime(match["time"], _FORM)
    except ValueError:  # invalid date
        return None
    return created.replace(tzinfo=timezone.utc) if created else None


def is_ours(name: str) -> bool:
    """Return whether a run may have made the name."""
    return name.startswith(_START)
