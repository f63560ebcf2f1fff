"""Write a failure of a Java filesystem as a class with `main`, or as a JUnit 5 test."""

from __future__ import annotations

from fscontract.contract.binding import Binding
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.java_leaks import LeakClass
from fscontract.contract.script.java_openings import OpeningClass, PathClass
from fscontract.contract.script.java_sequential import SequentialClass
from fscontract.contract.script.java_threads import ThreadsClass
from fscontract.contract.script.leaks import RELEASING
from fscontract.contract.script.plan import file_content, plan


def java_script(binding: Binding, source: Source, failure: Failure, junit: bool) -> str:
    """Return the class of a failure on a target; raise NoScript with the reason."""
    api = binding.java_api(source)
    if api is None:
        raise NoScript(f"the {binding.api} API is not one of Java; use --script python")
    program, fixed = failure.program, binding.fixed_content
    if failure.threads:
        return ThreadsClass(api, failure, file_content(program, fixed, threads=True)).text(junit)
    if program.faults is not None:
        raise NoScript("requests have to fail")
    if program.at is not None and not program.at.is_file:
        return PathClass(api, failure).text(junit)
    if failure.clause in RELEASING:
        return LeakClass(api, failure, file_content(program, fixed)).text(junit)
    if program.opening is not None:
        return OpeningClass(api, failure, file_content(program, fixed)).text(junit)
    planned = plan(failure.clause, program, failure.features, failure.buffer, fixed)
    return SequentialClass(api, failure, planned).text(junit)
