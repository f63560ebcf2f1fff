"""Render a page for browsers from a template of this folder: one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fscontract.contract.text import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def page(template: str, script: str, more_style: str = "", **values: Any) -> str:
    """Return a page by the template, with its script from this folder; values are escaped.

    The page's policy lets a browser run that script and no other, and load nothing.
    """
    style, code = text("style.css") + more_style, text(script)
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(code)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    source = _environment().get_template(template)
    return source.render(style=style, script=code, policy=policy, **values)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(text),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _printable(value: Any) -> Any:
    """Escape characters that are not allowed on a page: targets put them into messages."""
    return printable(value) if type(value) is str else value


def text(name: str) -> str:
    """Return the text of a file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
