"""Observe calls of an object's methods, also those that its other methods make."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from typing import Any

from fscontract.contract.binding import MethodCall
from fscontract.contract.program.outcome import Kind, classify

#: The observed methods that are running, the innermost last; tasks of a loop inherit them.
_running: ContextVar[tuple[str, ...]] = ContextVar("running", default=())
Observe = Callable[[MethodCall], None]


@contextmanager
def observed_methods(obj: Any, names: Iterable[str], observe: Observe) -> Iterator[None]:
    """Call `observe` with each call of these methods of an object, and of coroutines `_name`."""
    with ExitStack() as restored:
        for form in (form for name in names for form in (name, f"_{name}")):
            with suppress(Exception):  # an object may lack a method, or refuse attributes
                _replace(obj, form, observe, restored)
        yield


def _replace(obj: Any, name: str, observe: Observe, restored: ExitStack) -> None:
    """Replace a method by one that is observed, until `restored` is closed."""
    attributes, method = vars(obj), getattr(obj, name)
    put_back = attributes.__setitem__ if name in attributes else lambda key, _: attributes.pop(key)
    observed = _asynchronous if inspect.iscoroutinefunction(method) else _synchronous
    attributes[name] = observed(method, name.lstrip("_"), observe)
    restored.callback(put_back, name, method)


def _synchronous(method: Callable[..., Any], name: str, observe: Observe) -> Callable[..., Any]:
    @wraps(method)
    def observed(*args: Any, **options: Any) -> Any:
        with _observed(name, observe):
            return method(*args, **options)

    return observed


def _asynchronous(method: Callable[..., Any], name: str, observe: Observe) -> Callable[..., Any]:
    @wraps(method)
    async def observed(*args: Any, **options: Any) -> Any:
        with _observed(name, observe):
            return await method(*args, **options)

    return observed


@contextmanager
def _observed(name: str, observe: Observe) -> Iterator[None]:
    """Observe one call, which runs inside of this context."""
    callers, kind = _running.get(), Kind.RETURNED
    token = _running.set((*callers, name))
    try:
        yield
    except Exception as error:
        kind = classify(error)
        raise
    finally:
        _running.reset(token)
        observe(MethodCall(name, callers, kind))
