"""Hooks of mkdocs: adapt pages that are written for GitHub to the site, and add the changelog."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

_CHANGELOG = "changelog.md"
_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]*)(?:#[^)]*)?\)")
#: The heading of a clause, and text in the type of code that is no link.
_CLAUSE = re.compile(r"^### ([a-z][\w-]*(?:\.[\w-]+)+)$", re.MULTILINE)
_CODE = re.compile(r"(?<!\[)`([a-z][\w-]*(?:\.[\w-]+)+)`(?!\])")
#: A code block that is a file: the name follows the language.
_FILE = re.compile(r"^```(\w+) ([\w./-]+)$", re.MULTILINE)
#: A directive of mkdocstrings, which GitHub would show as text.
_DIRECTIVE = re.compile(r"^<!-- (::: [\w.]+) -->$", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Add CHANGELOG.md as a page, with its links relative to the docs folder."""
    root = Path(config["docs_dir"]).resolve().parent
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    files.append(File.generated(config, _CHANGELOG, content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return the page with titles on code blocks, and without links to files outside the site.

    Text in folds is Markdown, and a tilde needs no escape, as on GitHub.
    """
    docs = Path(config["docs_dir"]).resolve()
    here = (docs / page.file.src_uri).parent

    def replace(match: re.Match[str]) -> str:
        target = (here / match[2]).resolve()
        if target.is_relative_to(docs):
            return match[0]
        path = target.relative_to(docs.parent).as_posix()
        return match[1] if path in match[1] else f"{match[1]} (`{path}`)"

    markdown = _DIRECTIVE.sub(r"\1", _FILE.sub(r'```\1 title="\2"', markdown))
    markdown = markdown.replace("<details>", '<details markdown="1">').replace("\\~", "~")
    return _with_clause_links(_LINK.sub(replace, markdown), here, _clause_pages(docs))


@cache
def _clause_pages(docs: Path) -> dict[str, Path]:
    """Return the page of each clause."""
    pages = docs.joinpath("reference", "clauses").glob("*.md")
    return {name: page for page in pages for name in _CLAUSE.findall(page.read_text("utf-8"))}


def _with_clause_links(markdown: str, here: Path, pages: dict[str, Path]) -> str:
    """Return the page with a link at each id of a clause, except in headings and code blocks."""

    def linked(match: re.Match[str]) -> str:
        name = match[1]
        if name not in pages:
            return match[0]
        page = Path(os.path.relpath(pages[name], here)).as_posix()
        return f"[{match[0]}]({page}#{name.replace('.', '')})"

    lines, in_block = [], False
    for line in markdown.split("\n"):
        in_block ^= line.lstrip().startswith("```")
        is_text = not in_block and not line.startswith(("#", "    ", "```"))
        lines.append(_CODE.sub(linked, line) if is_text else line)
    return "\n".join(lines)


def on_post_build(config: Any) -> None:
    """Fail if code or bytecode was published."""
    published = [p for p in Path(config["site_dir"]).rglob("*") if p.suffix in {".py", ".pyc"}]
    if published:
        raise PluginError(f"published code: {', '.join(map(str, published))}")
