"""Calls of an API as source code, and what they return of an outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

from fscontract.contract.program.filesystem_calls import SUFFIXES
from fscontract.contract.program.open_calls import BuilderCall, Opening
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import Program, Step

#: The place of the buffer in the text of a call.
BUFFER = "\0"


class Form(Enum):
    """What a call returns of the outcome that the model judges."""

    #: The value itself.
    VALUE = "value"
    #: The value itself, which is the number of bytes by which the stream advanced.
    COUNT = "count"
    #: A byte as a number, or -1 at the end.
    BYTE = "byte"
    #: Nothing of interest.
    NOTHING = "nothing"
    #: A count of the bytes that it placed in a buffer.
    FILLED = "filled"
    #: The same; 0 at the end, where the outcome has -1.
    INTO = "into"
    #: The bytes that it read, none at the end.
    BYTES = "bytes"
    #: The bytes that it read; fewer than requested mean the end of the file.
    EXACT = "exact"
    #: A list of lines.
    LINES = "lines"
    #: A line, or StopIteration at the end.
    NEXT = "next"
    #: A list of the bytes of ranges, or of exceptions.
    PARTS = "parts"
    #: One of the values that are right, as they are; a list where the outcome has a tuple.
    EQUAL = "equal"
    #: The same; a dictionary by names of paths where the outcome has pairs.
    MAPPING = "mapping"


@dataclass(frozen=True)
class Call:
    """A call as an expression, in which BUFFER stands for the buffer."""

    text: str
    form: Form = Form.VALUE
    #: The expression that makes the buffer, and the one of its bytes as the call fills them.
    buffer: str = ""
    filled: str = "bytes(buffer)"
    #: Where the filled bytes begin among those.
    start: int = 0
    #: Statements before the call, and those that prepare its buffer.
    before: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()
    #: What the expressions need: imports, and functions.
    imports: tuple[str, ...] = ()
    helper: str = ""
    #: The expression of the bytes if none may fail, which needs no helper.
    simple: str = ""
    #: The call in reports, if it is not its text after the statements.
    shown: str = ""

    def __str__(self) -> str:
        if self.shown:
            return self.shown
        return "; ".join([*self.before, self.expression])

    @property
    def expression(self) -> str:
        """The call with the expression of its buffer, without the statements before it."""
        return self.text.replace(BUFFER, self.buffer)

    def on_buffer(self) -> str:
        """Return the call with the variable `buffer`."""
        return self.text.replace(BUFFER, "buffer")


#: The statement that defines the function `tail`: the last directory and the name of a path.
TAIL = 'tail = lambda path: "/".join(path.strip("/").casefold().split("/")[-2:])'


def path_text(name: str) -> str:
    """Return the path of a file that a call of a filesystem names; the other one is a variable."""
    if name == "other":
        return name
    return f'path + "{SUFFIXES[name]}"' if SUFFIXES[name] else "path"


#: Returns a call on the stream of this name; None if the API has no such call.
SpellStep: TypeAlias = Callable[[Step, str], "Call | None"]


class NoScript(Exception):
    """The failure has no script, for the reason in the message."""


@dataclass(frozen=True)
class Source:
    """How a user named the target: everything that makes it again."""

    target: str
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    file: str | None = None
    content: Path | None = None


@dataclass(frozen=True)
class ScriptApi:
    """An API as a Python script uses it. `path` is the variable of the file's path.

    `{}` in `write` is the expression of the bytes.
    """

    #: The lines that make the filesystem and `path`.
    setup: tuple[str, ...]
    write: str
    delete: str
    spell: SpellStep
    #: Returns the statements that open the file of a program as a stream of this name.
    opening: Callable[[Program, str], tuple[str, ...]]
    #: Returns the expression that opens the file with the options of a builder, or raises NoScript;
    #: None if the API has no options.
    open_with: Callable[[Opening], str] | None = field(default=None, kw_only=True)
    #: Returns the outcome of a call that raised, given whether its stream is closed.
    failed: Callable[[Step, Exception, bool], Outcome]
    #: The expression of the length in the file's status, "" if there is none.
    status: str = ""
    #: The statement that makes a directory at `path`, "" if the API has none.
    makes_directory: str = ""
    #: The lines that remove what the script made.
    cleanup: tuple[str, ...] = ()
    #: Whether the script has to start a server, whose `url` and `host` are variables of `setup`.
    is_served: bool = False
    #: The expression of a builder that opens the file, "" if streams have no counters.
    builder: str = ""
    #: The expression of the injector of faults, "" if there is none; or that of the function that
    #: makes the requests of the file `f`.
    injector: str = ""
    fetcher: str = ""
    #: Whether a stream that is left open may keep the program from ending.
    closes: bool = False
    #: Whether exceptions of the connection give no verdict.
    remote: bool = False
    #: Whether calls may raise what is no Exception, as panics of extensions in Rust.
    panics: bool = False


@dataclass(frozen=True)
class JavaApi:
    """A Java filesystem as a class uses it: its URI, its options, and its calls.

    `uri` is a Java expression, and `path` has the arguments of the Path of the file.
    """

    uri: str
    path: str
    #: The expressions of the options of the configuration, by name.
    configuration: Mapping[str, str]
    spell: SpellStep
    #: Returns a call of the builder without the object, in a release of Hadoop.
    spell_option: Callable[[BuilderCall, str], str]
    #: Whether a FileContext opens the files, which a FileSystem writes.
    is_context: bool = False
    #: A copy of the only file of a target that can't be written.
    content: Path | None = None
    #: Whether the file is in an archive at `uri`, which the class makes.
    is_archive: bool = False

    @property
    def is_fixed(self) -> bool:
        """True if no other file or directory can be made."""
        return self.is_archive or self.content is not None
