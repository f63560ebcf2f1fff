"""A profile and known failures from what a target does. Observed is not verified: a connector's
author has to say whether what was seen is what is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache

from fscontract.contract.runner.cost_checks import UNCOUNTED
from fscontract.contract.runner.result import SHOWN, ClauseResult, RunResult, Verdict
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import Profile, features

#: What a connector has or has not, with the calls that raise UnsupportedOperation where it has not.
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
    "supports-openfile": (),
    "supports-io-statistics": (),
}
#: What a connector does in one way or the other, with clauses that depend on it without saying so.
CHOICES: dict[str, tuple[str, ...]] = {
    "rejects-seek-past-eof": (),
    "supports-strict-exceptions": ("read-fully.eof",),
    "vector-io-early-eof-check": (),
    "vector-io-overlapping-ranges": (),
    "openfile-pins-version": (),
    "openfile-first-read": ("open.failure-stage", "open.read-fails"),
}
#: Clauses that show a capability where others of its hold without it.
PROOFS = {"supports-new-source": frozenset({"new-source.moved", "new-source.same-data"})}
#: What a run can't tell: these stay as the profile has them from which it starts.
UNOBSERVED = {
    "supports-seek-on-closed-file": "would excuse a violation",
    "supports-available-on-closed-file": "would excuse a violation",
    "python-file-writable": "would excuse a violation",
    "supports-deadlines": "shows in runs with --faults alone",
    "openfile-unsupported-keys": "follows from the keys that a profile lists",
}

#: Runs the suite under a profile.
Run = Callable[[Profile], RunResult]


@dataclass(frozen=True)
class Feature:
    """A feature as proposed, and why."""

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
    """Propose a profile by a few runs; the features in `fixed` stay as `base` has them.

    The first run declares everything, the second takes the other side of every choice, and the
    third, which is left out if it would be one of them, is under what they come to. Where that one
    shows that a feature was mistaken, another one follows.
    """
    held = {*fixed, *UNOBSERVED}
    free = [name for name in (*CAPABILITIES, *CHOICES) if name not in held]
    everything = base.with_features(free)
    other = everything.with_features(f"!{name}" for name in CHOICES if name not in held)
    first, second = run(everything), run(other)
    chosen = {n: _capable(n, first) for n in CAPABILITIES if n in free}
    chosen |= {n: _chosen(n, first, second, base) for n in CHOICES if n in free}
    profile = base.with_features(n if on else f"!{n}" for n, on in chosen.items())
    ready = {everything.features: first, other.features: second}
    result = ready.get(profile.features) or run(profile)
    profile, result = _mended(run, profile, result, free)
    listed = (_feature(name, base, set(fixed), profile, result) for name in features())
    return Inferred(tuple(listed), profile, result)


def _mended(
    run: Run, profile: Profile, result: RunResult, free: Iterable[str]
) -> tuple[Profile, RunResult]:
    """Turn features round whose clauses fail as they are, where that makes fewer fail."""
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
    """The feature as the profile has it, and what the run under that shows of it."""
    declared = profile.has(name)
    if name in fixed:
        return Feature(name, declared, "given")
    if name in UNOBSERVED:
        why = f"not observed, {UNOBSERVED[name]}; as in {base.name}"
        return Feature(name, declared, why)
    own = _own(name, declared)
    holds, fails = _counted(own, result)
    if holds or fails:
        return Feature(name, declared, f"of its clauses {holds} hold, {fails} fail")
    return Feature(name, declared, "nothing shows it")


def _own(name: str, declared: bool) -> set[str]:
    """The clauses that tell of the feature, declared or not."""
    return {*CHOICES.get(name, ()), *_needing(name if declared else f"!{name}")}


@cache
def _needing(need: str) -> frozenset[str]:
    return frozenset(c.id for c in clauses().values() if need in c.needs)


def _capable(name: str, result: RunResult) -> bool:
    """Whether a clause that needs it was judged, and no call said that it is unsupported."""
    own = _needing(name)
    refusals = {f"{op}: UNSUPPORTED" for op in CAPABILITIES[name]}
    counterexamples = [c.counterexample for c in result.clauses if c.clause.id in own]
    if any(
        counterexample is not None and counterexample.how in refusals
        for counterexample in counterexamples
    ):
        return False
    own -= {c.clause.id for c in result.clauses if _is_uncounted(c)}
    return sum(_counted(PROOFS.get(name, own), result)) > 0


def _is_uncounted(result: ClauseResult) -> bool:
    """Whether it fails since the target lacks the statistics that the run declared."""
    counterexample = result.counterexample
    return counterexample is not None and counterexample.how == UNCOUNTED


def _chosen(name: str, first: RunResult, second: RunResult, base: Profile) -> bool:
    """What fewer clauses fail; as in the profile if that tells nothing."""
    own = {*CHOICES[name], *_needing(name), *_needing(f"!{name}")}
    (holds, fails), (holds_without, fails_without) = _counted(own, first), _counted(own, second)
    if fails != fails_without:
        return fails < fails_without
    if name == "openfile-first-read" or not holds or holds < holds_without:
        return base.has(name)
    return True  # the stronger promise, which is kept


def _counted(ids: Iterable[str], result: RunResult) -> tuple[int, int]:
    """How many of these clauses hold, and how many fail."""
    selected = set(ids)
    outcomes = [c.outcome for c in result.clauses if c.clause.id in selected]
    held = sum(o in (Verdict.PASS, Verdict.LAX) for o in outcomes)
    return held, sum(o in SHOWN for o in outcomes)


def _failing(result: RunResult) -> int:
    return sum(c.outcome in SHOWN for c in result.clauses)


def titled(profile: Profile, name: str, day: str) -> Profile:
    """The profile under a name of its own, with a title that says what it is."""
    title = f"Observed by fscontract profile infer on {day}, not verified"
    return replace(profile, name=name, title=title, known=())
