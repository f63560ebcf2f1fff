"""Hooks of mkdocs for pages written for GitHub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]*)(?:#[^)]*)?\)")
#: A block that is a file: its name comes after the language.
_FILE = re.compile(r"^```(\w+) ([\w./-]+)$", re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The page with names of files on blocks, and without links to what is not part of the site."""
    docs = Path(config["docs_dir"]).resolve()
    here = (docs / page.file.src_uri).parent

    def told(match: re.Match[str]) -> str:
        target = (here / match[2]).resolve()
        if target.is_relative_to(docs):
            return match[0]
        named = target.relative_to(docs.parent).as_posix()
        return match[1] if named in match[1] else f"{match[1]} (`{named}`)"

    return _LINK.sub(told, _FILE.sub(r'```\1 title="\2"', markdown))
