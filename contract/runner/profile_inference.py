"""Infer a profile and known failures from the behaviour of a target.

Observed is not verified: a connector's author must confirm that the observations are intended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache

from fscontract.contract.runner.result import UNCOUNTED, VIOLATED, ClauseResult, RunResult, Verdict
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import Profile, features

#: Optional capabilities of a connector, with the calls that raise UnsupportedOperation without
#: them.
CAPABILITIES: dict[str, tuple[str, ...]] = {
    "supports-seek": ("seek", "py_seek"),
    "supports-positioned-readable": ("pread", "read_fully", "read_fully_all"),
    "supports-vectored-io": ("read_vectored",),
    "supports-bytebuffer-read": ("read_buffer",),
    "supports-bytebuffer-pread": ("pread_buffer", "read_fully_buffer"),
    "supports-unbuffer": ("unbuffer",),
    "supports-new-source": ("seek_to_new_source",),
    "supports-skip": ("skip",),
    "supports-available": ("available",),
    "supports-getfilestatus": (),
    "python-file": (),
    "fsspec-filesystem": (),
    "pyarrow-filesystem": (),
    "obstore-store": (),
    "opendal-operator": (),
    "library-readers": (),
    "supports-openfile": (),
    "supports-io-statistics": (),
}
#: Choices of a connector, with clauses that depend on them without declaring it.
CHOICES: dict[str, tuple[str, ...]] = {
    "rejects-seek-past-eof": (),
    "supports-strict-exceptions": ("read-fully.eof",),
    "vector-io-early-eof-check": (),
    "vector-io-overlapping-ranges": (),
    "openfile-pins-version": (),
    "openfile-first-read": ("open.failure-stage", "open.read-fails"),
}
#: Clauses that show a capability even if other clauses hold without it.
PROOFS = {"supports-new-source": frozenset({"new-source.moved", "new-source.same-data"})}
#: Features that a run can't determine: these stay as in the initial profile.
UNOBSERVED = {
    "supports-seek-on-closed-file": "would excuse a violation",
    "supports-available-on-closed-file": "would excuse a violation",
    "python-file-writable": "would excuse a violation",
    "checks-path-at-open": "would excuse a violation",
    "supports-deadlines": "shows in runs with --faults alone",
    "hadoop-tests": "is a choice of the user, not of the target",
    "openfile-unsupported-keys": "follows from the keys that a profile lists",
}

#: Runs the suite under a profile.
Run = Callable[[Profile], RunResult]


@dataclass(frozen=True)
class Feature:
    """A proposed feature, with the reason."""

    name: str
    declared: bool
    because: str


@dataclass(frozen=True)
class Inferred:
    """The proposal: the features, the profile that declares them, and the run under it."""

    features: tuple[Feature, ...]
    profile: Profile
    result: RunResult


def infer(run: Run, base: Profile, fixed: Iterable[str] = ()) -> Inferred:
    """Propose a profile by a few runs; the features in `fixed` stay as in `base`.

    The first run declares everything, the second the other side of every choice, and the third,
    which is skipped if it equals one of them, uses the result. If that run shows that a feature was
    wrong, another one follows.
    """
    held = {*fixed, *UNOBSERVED}
    free = [name for name in (*CAPABILITIES, *CHOICES) if name not in held]
    everything = base.with_features(free)
    other = everything.with_features(f"!{name}" for name in CHOICES if name not in held)
    first, second = run(everything), run(other)
    base = base.saying(first.observed)
    chosen = {n: _capable(n, first) for n in CAPABILITIES if n in free}
    chosen |= {n: _chosen(n, first, second, base) for n in CHOICES if n in free}
    profile = base.with_features(n if on else f"!{n}" for n, on in chosen.items())
    ready = {everything.features: first, other.features: second}
    result = ready.get(profile.features) or run(profile)
    profile, result = _with_inverted(run, profile, result, free)
    result = replace(result, observed=first.observed)
    listed = (_feature(name, base, set(fixed), profile, result) for name in features())
    return Inferred(tuple(listed), profile, result)


def _with_inverted(
    run: Run, profile: Profile, result: RunResult, free: Iterable[str]
) -> tuple[Profile, RunResult]:
    """Return features with those inverted whose clauses fail, where that reduces failures."""
    for name in free:
        own = _own(name, profile.has(name))
        if (name in CAPABILITIES and profile.has(name)) or not _counted(own, result)[1]:
            continue
        turned = profile.with_features([f"!{name}" if profile.has(name) else name])
        again = run(turned)
        if _failing(again) < _failing(result):
            profile, result = turned, again
    return profile, result


def _feature(
    name: str, base: Profile, fixed: set[str], profile: Profile, result: RunResult
) -> Feature:
    """Return the feature as in the profile, with the evidence of the run under it."""
    declared = profile.has(name)
    if name in fixed:
        return Feature(name, declared, "given")
    if name in result.observed:
        return Feature(name, declared, "observed")
    if name in UNOBSERVED:
        why = f"not observed, {UNOBSERVED[name]}; as in {base.name}"
        return Feature(name, declared, why)
    own = _own(name, declared)
    holds, fails = _counted(own, result)
    if holds or fails:
        return Feature(name, declared, f"of its clauses {holds} hold, {fails} fail")
    return Feature(name, declared, "nothing shows it")


def _own(name: str, declared: bool) -> set[str]:
    """Return the clauses of the feature, declared or not."""
    return {*CHOICES.get(name, ()), *_needing(name if declared else f"!{name}")}


@cache
def _needing(need: str) -> frozenset[str]:
    return frozenset(c.id for c in clauses().values() if need in c.needs)


def _capable(name: str, result: RunResult) -> bool:
    """Return whether a clause that needs it was judged, and no call raised unsupported."""
    own = _needing(name)
    refusals = {f"{op}: UNSUPPORTED" for op in CAPABILITIES[name]}
    counterexamples = [c.counterexample for c in result.clauses if c.clause.id in own]
    if any(example is not None and example.how in refusals for example in counterexamples):
        return False
    own -= {c.clause.id for c in result.clauses if _is_uncounted(c)}
    return sum(_counted(PROOFS.get(name, own), result)) > 0


def _is_uncounted(result: ClauseResult) -> bool:
    """Return whether it fails because the target lacks the statistics that the run declared."""
    counterexample = result.counterexample
    return counterexample is not None and counterexample.how == UNCOUNTED


def _chosen(name: str, first: RunResult, second: RunResult, base: Profile) -> bool:
    """Return the side with fewer failing clauses; as in the profile if both have the same."""
    own = {*CHOICES[name], *_needing(name), *_needing(f"!{name}")}
    (holds, fails), (holds_without, fails_without) = _counted(own, first), _counted(own, second)
    if fails != fails_without:
        return fails < fails_without
    if name == "openfile-first-read" or not holds or holds < holds_without:
        return base.has(name)
    return True  # the stronger promise holds


def _counted(ids: Iterable[str], result: RunResult) -> tuple[int, int]:
    """Return the numbers of these clauses that hold, and that fail."""
    selected = set(ids)
    outcomes = [c.outcome for c in result.clauses if c.clause.id in selected]
    held = sum(o in (Verdict.PASS, Verdict.LAX) for o in outcomes)
    return held, sum(o in VIOLATED for o in outcomes)


def _failing(result: RunResult) -> int:
    return sum(c.outcome in VIOLATED for c in result.clauses)


def titled(profile: Profile, name: str, day: str) -> Profile:
    """Return the profile under a new name, with a descriptive title."""
    title = f"Observed by fscontract profile infer on {day}, not verified"
    return replace(profile, name=name, title=title, known=())
