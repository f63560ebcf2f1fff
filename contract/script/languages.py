"""The languages of scripts."""

from __future__ import annotations

from fscontract.contract.binding import Binding
from fscontract.contract.script.calls import Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.java import java_script
from fscontract.contract.script.python import python_script


def script(language: str, binding: Binding, source: Source, failure: Failure) -> str:
    """Return a failure as a script; raise NoScript with the reason."""
    if language in ("java", "junit"):
        return java_script(binding, source, failure, language == "junit")
    return python_script(binding, source, failure)


def default_language(binding: Binding) -> str:
    """Return the language of the API of a binding."""
    return "java" if binding.api == "hadoop" else "python"
