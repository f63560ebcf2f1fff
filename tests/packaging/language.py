"""Check the language of pages, docstrings and messages: `python tests/packaging/language.py`.

It needs the standard library only. It rejects turns that a reader has to decode.
Docstrings are imperative: at most one in a hundred, and no module's, begins with a question word.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

ROOT = Path(__file__).resolve().parents[2]
#: Folders whose docstrings are checked, and folders whose messages are checked, too.
CODE = ("benchmarks", "docs", "servers", "specs", "tests")
MESSAGES = ("contract", "fakes", "implementations", "pipeline", "src")
#: Turns to avoid, with better words.
TURNS = {
    r"(?:is|are) no": "is not a, is not valid",
    r"so many": "a number of, N",
    r"whoever": "callers, readers",
    r"what (?:becomes|became|has become) of": "the result of",
    r"(?:is|are|was|were|be) told": "gets, is reported",
    r"(?:is|are|was|were|be) said": "reported",
    r"(?:go|goes|going|went|gone) on": "continues",
    r"of (?:its|their|his) own": "separate, its own",
    r"for ever": "without a limit, permanent",
    r"all else": "everything else",
    r"as (?:it is|they are)": "unchanged",
    r"(?:come|comes|came) to": "results in",
    r"stands?": "is",
    r"(?:have|has|had) to be of": "must be",
    r"by itself": "alone",
    r"nobody": "no caller",
    r"somebody": "a caller",
    r"what is there": "the content",
    r"in words": "as text",
}
#: Plain English that contains a turn.
ALLOWED = (
    "as it is running",
    "as soon as it is",
    "can be said to",
    "can't be said to",
    "is no longer",
    "are no longer",
    "of their own range",
    "stand alone",
    "stands for",
    "stand for",
    "stand in for",
    "stand out",
    "stands out",
    "stands in for",
    "there are no",
    "there is no",
)
#: Words that no module's docstring begins with, and few others: they say "Return ..." instead.
OPENINGS = re.compile(r"(?:What|Whether|How|Where|Who|Whom|Whose|That|Which)\b")
MOST = 0.01

_TURN = re.compile(rf"\b(?:{'|'.join(TURNS)})\b", re.IGNORECASE)
_ALLOWED = re.compile(rf"\b(?:{'|'.join(map(re.escape, ALLOWED))})\b", re.IGNORECASE)
_SKIPPED = ("build", "node_modules")
_Definition: TypeAlias = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Text(NamedTuple):
    """A text of a file; `kind` is "page", "module" or "other" docstring, or "message"."""

    path: str
    line: int
    kind: str
    text: str


def turns(text: str) -> list[str]:
    """Return the turns to avoid in a text."""
    return _TURN.findall(_ALLOWED.sub("", " ".join(text.split())))


def of_page(path: str, text: str) -> Iterator[Text]:
    """Yield the paragraphs of a Markdown page or of a template."""
    for match in re.finditer(r"(?:.+\n?)+", text):
        yield Text(path, 1 + text.count("\n", 0, match.start()), "page", match[0])


def of_module(path: str, source: str) -> Iterator[Text]:
    """Yield the docstrings of a module, and its messages: strings of several words."""
    docstrings = set()
    module = ast.parse(source)
    for definition in _definitions(module):
        text = ast.get_docstring(definition)
        if text is not None:
            docstrings.add(definition.body[0].value)  # type: ignore[attr-defined]
            kind = "module" if definition is module else "other"
            yield Text(path, definition.body[0].lineno, kind, text)
    if path.startswith(MESSAGES):
        for node in ast.walk(module):
            if node in docstrings or not isinstance(node, ast.Constant):
                continue
            if isinstance(node.value, str) and " " in node.value:
                yield Text(path, node.lineno, "message", node.value)


def _definitions(node: ast.AST) -> Iterator[_Definition]:
    """Yield the module, classes and functions among a node and the statements in it."""
    if isinstance(node, _Definition):
        yield node
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for statement in getattr(node, block, ()):
            yield from _definitions(statement)


def texts() -> Iterator[Text]:
    """Yield every text of the project."""
    templates = (ROOT / "contract" / "report").rglob("*.j2")
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *templates]:
        yield from of_page(page.relative_to(ROOT).as_posix(), page.read_text("utf-8"))
    for folder in (*CODE, *MESSAGES):
        for module in sorted((ROOT / folder).rglob("*.py")):
            path = module.relative_to(ROOT)
            if not any(p in _SKIPPED or p.startswith(".") for p in path.parts):
                yield from of_module(path.as_posix(), module.read_text("utf-8"))


def problems(every: list[Text]) -> Iterator[str]:
    """Yield a line for each turn, and for each docstring with a wrong beginning."""
    for text in every:
        for turn in turns(text.text):
            yield f"{text.path}:{text.line}: avoid {turn!r}; better: {_better(turn)}"
    docstrings = [t for t in every if t.kind in ("module", "other")]
    opening = [t for t in docstrings if OPENINGS.match(t.text)]
    too_many = len(opening) > MOST * len(docstrings)
    for text in opening:
        if text.kind == "module" or too_many:
            yield f"{text.path}:{text.line}: docstring begins with {text.text.split()[0]!r}"


def _better(turn: str) -> str:
    return next(b for t, b in TURNS.items() if re.fullmatch(t, turn, re.IGNORECASE))


if __name__ == "__main__":
    found = list(problems(list(texts())))
    print("\n".join(found) or "language: no problems")
    sys.exit(bool(found))
