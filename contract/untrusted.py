"""Read text, YAML and JSON from untrusted sources, within bounds on size, depth and numbers.

The bounds are checked before a value is built, so that no file can exhaust the memory, the stack or
the time of the process. Each error is one line that names the file, the line and the column.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import yaml

#: The largest file that is read, in bytes.
MOST_BYTES = 16 << 20
#: The deepest nesting of lists and objects.
MOST_LEVELS = 64
#: The most digits of a number.
MOST_DIGITS = 100
#: The most characters and values that the aliases of a YAML file may add to it.
MOST_ALIASED = 1 << 20
#: The most errors that one message lists.
_MOST_MISTAKES = 20
#: The C parser does not recurse, and is ten times faster.
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: The problem of libyaml, which scans ahead, with text that is nested too deeply for it.
_TOO_DEEP = "maximum nesting depth"
_TAG = "tag:yaml.org,2002:"
_STRING = f"{_TAG}str"
#: Resolvers of the type of a plain scalar, by its first character. Dates stay text.
_RESOLVERS = {
    first: [(tag, expression) for tag, expression in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
#: Tokens outside of strings: brackets, and numbers that JSON lacks or that are too long.
_JSON_TOKEN = re.compile(rf"\\.|[\"\[\]{{}}]|-?Infinity|NaN|[0-9]{{{MOST_DIGITS + 1},}}", re.DOTALL)


class UntrustedError(ValueError):
    """An invalid file or text; the message gives the place and the error, in one line."""


def load_text(path: Path) -> str:
    """Return the text of a regular UTF-8 file of at most MOST_BYTES; a byte order mark is dropped.

    Raise UntrustedError.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UntrustedError(f"{path}: not a regular file")
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UntrustedError(f"{path}: {error.strerror or error}") from None
    except UntrustedError:
        raise
    except ValueError as error:  # such as a NUL in its name
        raise UntrustedError(f"{str(path)!r}: {error}") from None
    if len(data) > MOST_BYTES:
        raise UntrustedError(f"{path}: larger than {MOST_BYTES >> 20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise UntrustedError(f"{path}: line {line}, byte {column}: not UTF-8 text") from None


def load_yaml(path: Path) -> Any:
    """Return the value of a YAML file; errors as `load_text` and `parse_yaml`."""
    return parse_yaml(load_text(path), str(path))


def load_json(path: Path) -> Any:
    """Return the value of a JSON file; errors as `load_text` and `parse_json`."""
    return parse_json(load_text(path), str(path))


def parse_yaml(text: str, where: str = "YAML") -> Any:
    """Return the only document in YAML text as plain data, None if there is none.

    Dates stay text. A key may occur once, and only the tags of plain data are allowed. Raise
    UntrustedError, which begins with `where`.
    """
    return _Yaml(text, where).document()


def parse_json(text: str | bytes, where: str = "JSON") -> Any:
    """Return the value of JSON text. A key may occur once, and numbers are finite.

    Raise UntrustedError, which begins with `where`.
    """
    try:
        plain = text if isinstance(text, str) else text.decode("utf-8-sig")
        if not plain.strip():
            raise UntrustedError("empty, expected JSON")
        _check_json(plain)
        return json.loads(plain, object_pairs_hook=_object, parse_float=_finite)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UntrustedError(f"{where}: {place}: not JSON: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise UntrustedError(f"{where}: not UTF-8 text (byte {error.start})") from None
    except ValueError as error:
        raise UntrustedError(f"{where}: {error}") from None


def typed_value(value: Any) -> Any:
    """Return the value of a command-line option: parsed as JSON, or else the text itself."""
    if isinstance(value, str):
        try:
            return parse_json(value)
        except UntrustedError:
            return value
    return value


def listed(mistakes: Iterable[str]) -> str:
    """Return the first errors, a line for each; the last line says if there are more."""
    found = list(islice(mistakes, _MOST_MISTAKES + 1))
    more = ["... and more errors"] if len(found) > _MOST_MISTAKES else []
    return "\n".join(found[:_MOST_MISTAKES] + more)


def short(value: Any) -> str:
    """Return the representation of a value in at most 40 characters."""
    if isinstance(value, str):
        value = value[:60]
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a FIFO without a writer does not block."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


# JSON -------------------------------------------------------------------------------------


def _check_json(text: str) -> None:
    """Raise UntrustedError if the text is nested too deeply, or has an invalid number."""
    depth, inside = 0, False
    for token in _JSON_TOKEN.finditer(text):
        what = token[0]
        if what == '"':
            inside = not inside
        elif inside or what[0] == "\\":
            continue
        elif what in "[{":
            depth += 1
            if depth > MOST_LEVELS:
                _refuse(text, token.start(), f"nested more than {MOST_LEVELS} levels deep")
        elif what in "]}":
            depth -= 1
        elif what[0].isdigit():
            _refuse(text, token.start(), f"a number of more than {MOST_DIGITS} digits")
        else:
            _refuse(text, token.start(), f"not JSON: {what} is not a number")


def _refuse(text: str, index: int, problem: str) -> NoReturn:
    line, column = text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
    raise UntrustedError(f"line {line}, column {column}: {problem}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise UntrustedError(f"duplicate key {short(twice)}")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise UntrustedError(f"not a finite number: {short(text)}")
    return number


# YAML -------------------------------------------------------------------------------------


class _Yaml:
    """Builds plain data from the events of YAML text."""

    def __init__(self, text: str, where: str, parser: Any = None) -> None:
        self._text = text
        self._where = where
        self._parser = parser or _PARSER
        self._events: Iterator[Any] = iter(())
        #: By anchor: the value, its size, and its depth in levels.
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        #: Characters and values so far, those that aliases added, and the deepest level.
        self._size = 0
        self._aliased = 0
        self._deepest = 0

    def document(self) -> Any:
        """Return the value of the only document."""
        odd = yaml.reader.Reader.NON_PRINTABLE.search(self._text)
        try:
            if odd is not None:
                code = f"U+{ord(odd[0]):04X}"
                _refuse(self._text, odd.start(), f"not YAML: the character {code} is not allowed")
            self._events = iter(yaml.parse(self._text, Loader=self._parser))
            next(self._events)  # the start of the stream
            if isinstance(next(self._events), yaml.StreamEndEvent):
                return None
            value = self._value(next(self._events), 0)
            next(self._events)  # the end of the document
            end = next(self._events)
        except yaml.MarkedYAMLError as error:
            if self._parser is not yaml.SafeLoader and _TOO_DEEP in str(error.problem):
                return _Yaml(self._text, self._where, yaml.SafeLoader).document()
            self._malformed(error)
        except UntrustedError as error:
            raise UntrustedError(f"{self._where}: {error}") from None
        if not isinstance(end, yaml.StreamEndEvent):
            place = _at(end.start_mark)
            raise UntrustedError(f"{self._where}: {place}: a second document, expected one")
        return value

    def _malformed(self, error: yaml.MarkedYAMLError) -> NoReturn:
        mark = error.problem_mark or error.context_mark
        place = "" if mark is None else f"{_at(mark)}: "
        problem = " ".join(str(error.problem or error.context).split())
        raise UntrustedError(f"{self._where}: {place}not YAML: {problem}") from None

    def _value(self, event: Any, level: int) -> Any:
        """Build the value that begins with this event, `level` collections deep."""
        if isinstance(event, yaml.ScalarEvent) and event.anchor is None:  # most events
            self._size += 1 + len(event.value)
            return _scalar(event)
        if isinstance(event, yaml.AliasEvent):
            return self._of_alias(event, level)
        size, deepest = self._size, self._deepest
        self._deepest = level
        if isinstance(event, yaml.ScalarEvent):
            self._size += 1 + len(event.value)
            value = _scalar(event)
        else:
            self._size += 1
            value = self._collection(event, level + 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = value, self._size - size, self._deepest - level
        self._deepest = max(deepest, self._deepest)
        return value

    def _of_alias(self, event: Any, level: int) -> Any:
        if event.anchor not in self._anchors:
            _refuse_at(event, f"no complete value has the anchor {short(event.anchor)}")
        value, size, levels = self._anchors[event.anchor]
        self._size += size
        self._aliased += size
        self._deepest = max(self._deepest, level + levels)
        if self._deepest > MOST_LEVELS:
            _refuse_at(event, f"nested more than {MOST_LEVELS} levels deep")
        if self._aliased > MOST_ALIASED:
            _refuse_at(event, f"aliases make the file larger by more than {MOST_ALIASED >> 20} MiB")
        return value

    def _collection(self, event: Any, level: int) -> Any:
        self._deepest = level
        if level > MOST_LEVELS:
            _refuse_at(event, f"nested more than {MOST_LEVELS} levels deep")
        is_list = isinstance(event, yaml.SequenceStartEvent)
        if event.tag not in (None, "!", f"{_TAG}{'seq' if is_list else 'map'}"):
            _refuse_tag(event)
        return self._list(level) if is_list else self._mapping(level)

    def _list(self, level: int) -> list[Any]:
        found = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            found.append(self._value(event, level))
        return found

    def _mapping(self, level: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            merges = False
            key = self._value(event, level)
            if isinstance(event, yaml.ScalarEvent):
                merges = key == "<<" and event.implicit[0]
            elif isinstance(key, dict | list):
                _refuse_at(event, "a list or mapping can't be a key")
            value = self._value(following := next(self._events), level)
            if merges:
                merged = {**_mergeable(following, value), **merged}
            elif key in found:
                _refuse_at(event, f"duplicate key {short(key)}")
            else:
                found[key] = value
        return {**merged, **found} if merged else found


def _mergeable(event: Any, value: Any) -> dict[Any, Any]:
    """Return what the key `<<` adds to a mapping; of several mappings the first one counts."""
    values = value if isinstance(value, list) else [value]
    merged: dict[Any, Any] = {}
    for one in values:
        if not isinstance(one, dict):
            _refuse_at(event, "'<<' must be a mapping, or a list of mappings")
        merged = {**one, **merged}
    return merged


def _scalar(event: Any) -> Any:
    tag = event.tag
    if tag is None or tag == "!":
        tag = _implied(event.value) if event.implicit[0] else _STRING
    if tag == _STRING:
        return _text(event)
    kind = tag.removeprefix(_TAG)
    if kind in ("merge", "value"):
        return _text(event)
    if kind not in _SCALARS:
        _refuse_tag(event)
    if kind in ("int", "float") and len(event.value) > MOST_DIGITS:
        _refuse_at(event, f"a number of more than {MOST_DIGITS} digits")
    name, convert = _SCALARS[kind]
    try:
        return convert(yaml.ScalarNode(tag, event.value))
    except (ValueError, LookupError, OverflowError):
        _refuse_at(event, f"expected {name}, got {short(event.value)}")


def _text(event: Any) -> str:
    """Return the text of a scalar; the parser in Python takes escapes that are not characters."""
    text: str = event.value
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        _refuse_at(event, "not YAML: an escape that is not a character")
    return text


def _implied(value: str) -> str:
    """Return the tag of a plain scalar."""
    for tag, expression in _RESOLVERS.get(value[:1], ()):
        if expression.match(value):
            return str(tag)
    return _STRING


#: By tag: the name of the type, and the function that makes the value.
_SCALARS: dict[str, tuple[str, Callable[[yaml.ScalarNode], Any]]] = {
    "null": ("null", lambda node: None),
    "bool": ("true or false", _CONSTRUCTOR.construct_yaml_bool),
    "int": ("a whole number", _CONSTRUCTOR.construct_yaml_int),
    "float": ("a number", _CONSTRUCTOR.construct_yaml_float),
}


def _refuse_tag(event: Any) -> NoReturn:
    tag = str(event.tag).replace(_TAG, "!!", 1)
    _refuse_at(event, f"the tag {short(tag)} is not allowed")


def _refuse_at(event: Any, problem: str) -> NoReturn:
    raise UntrustedError(f"{_at(event.start_mark)}: {problem}")


def _at(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}"


_TYPES = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "object": "a mapping",
    "array": "a list",
}


def schema_mistakes(data: Any, schema: str) -> Iterator[str]:
    """Yield the errors in `data` according to `specs/<schema>.schema.json`, each in one line."""
    for error in _validator(schema).iter_errors(data):
        keys = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in error.absolute_path)
        place = "".join(keys).removeprefix(".") or "top level"
        yield f"{place}: {_explain(error)}"


@cache
def _validator(schema: str) -> Any:
    """Return the validator; 512.0 is not an integer, unlike in JSON Schema."""
    from jsonschema import Draft202012Validator, validators

    text = files("fscontract.specs").joinpath(f"{schema}.schema.json").read_text("utf-8")
    types = Draft202012Validator.TYPE_CHECKER
    whole = types.redefine("integer", lambda checker, value: type(value) is int)
    extend: Any = validators.extend
    return extend(Draft202012Validator, type_checker=whole)(json.loads(text))


def _explain(error: Any) -> str:
    kind, allowed = error.validator, error.validator_value
    if kind == "additionalProperties":
        known = error.schema["properties"]
        extra = [key for key in error.instance if key not in known]
        return f"unknown property {', '.join(map(repr, extra))}; allowed: {', '.join(known)}"
    if kind == "type":
        return f"expected {_TYPES[allowed]}, got {short(error.instance)}"
    if kind == "pattern":
        return f"{error.schema['description']}, got {short(error.instance)}"
    if kind == "required":
        missing = str(error.message).removesuffix(" is a required property")
        return f"required property missing: {missing}"
    if kind == "enum":
        names = (value if isinstance(value, str) else json.dumps(value) for value in allowed)
        return f"expected one of {', '.join(names)}; got {short(error.instance)}"
    return " ".join(str(error.message).split())[:200]
