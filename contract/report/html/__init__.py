"""Pages for browsers: each one file that loads nothing, made of the templates in this folder."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fscontract.contract.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

    from fscontract.contract.runner.result import Entry


def render(entries: Sequence[Entry]) -> str:
    """The page of a run: one file, which loads nothing."""
    from fscontract.contract.report.html import run

    return run.render(entries)


def page(template: str, script: str, more_style: str = "", **values: Any) -> str:
    """A page by the template, with its script from this folder; values are escaped.

    The page's policy lets a browser run that script and no other, and load nothing.
    """
    style, code = text("style.css") + more_style, text(script)
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(code)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    made = _environment().get_template(template)
    return made.render(style=style, script=code, policy=policy, **values)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(text),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _shown(value: Any) -> Any:
    """What targets say may hold what no page can."""
    return printable(value) if type(value) is str else value


def text(name: str) -> str:
    """A file of this folder."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
