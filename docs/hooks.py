"""Hooks of mkdocs: adapt pages that are written for GitHub to the site, and add the changelog."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

_CHANGELOG = "changelog.md"
_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]*)(?:#[^)]*)?\)")
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
    """Return the page with titles on code blocks, and without links to files outside the site."""
    docs = Path(config["docs_dir"]).resolve()
    here = (docs / page.file.src_uri).parent

    def replace(match: re.Match[str]) -> str:
        target = (here / match[2]).resolve()
        if target.is_relative_to(docs):
            return match[0]
        path = target.relative_to(docs.parent).as_posix()
        return match[1] if path in match[1] else f"{match[1]} (`{path}`)"

    markdown = _DIRECTIVE.sub(r"\1", _FILE.sub(r'```\1 title="\2"', markdown))
    return _LINK.sub(replace, markdown)


def on_post_build(config: Any) -> None:
    """Fail if code or bytecode was published."""
    published = [p for p in Path(config["site_dir"]).rglob("*") if p.suffix in {".py", ".pyc"}]
    if published:
        raise PluginError(f"published code: {', '.join(map(str, published))}")
