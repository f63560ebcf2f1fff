"""Settings of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fscontract.contract.binding import Binding
from fscontract.contract.distributed.shard import Shard
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.program.filesystem_calls import FEATURE_OF
from fscontract.contract.program.program import OF_FILE
from fscontract.contract.runner.crashes import Crash
from fscontract.contract.runner.events import RunStarted
from fscontract.contract.runner.replay_files import ReplayFiles
from fscontract.contract.script.calls import Source
from fscontract.contract.spec.clauses import STREAM, Clause, Consequence
from fscontract.contract.spec.known_failures import Known, entries_of
from fscontract.contract.spec.profiles import Profile

#: Operations that are used only if the profile declares the feature.
_GATED = {
    "skip": "supports-skip",
    "available": "supports-available",
    "read_vectored": "supports-vectored-io",
}
#: The same, where an API has these calls on the filesystem and not on the stream.
_GATED_BESIDE = dict.fromkeys(
    ("pread", "read_fully", "read_fully_all"), "supports-positioned-readable"
)

#: Checks that observe every program, whatever its calls.
_EVERYWHERE = frozenset({("model", "open"), ("resources", "close")})


@dataclass(frozen=True)
class Settings:
    """The settings of one run: the declared features, the judged clauses, and the effort."""

    profile: Profile
    clauses: tuple[Clause, ...]
    effort: str = "quick"
    seed: int = 0
    known: tuple[Known, ...] = ()
    #: Seconds that one call may take before it counts as hanging, at most.
    timeout: float = 10.0
    #: Seconds that the run may take.
    budget: float = math.inf
    #: Whether failures of base classes of other packages count as those of the target.
    strict: bool = False
    #: The consequences whose failures fail the run; empty for all.
    fail_on: tuple[Consequence, ...] = ()
    #: Where replay files are written; None writes none.
    replays: ReplayFiles | None = None
    #: How the user named the target, for scripts of its failures; None writes none.
    source: Source | None = None
    #: Number of programs that run while requests fail; None for none.
    faults: str | None = None
    #: True to end the run with the first violation of one of the clauses.
    stop_at_first: bool = False
    #: True to end the run with the first failure: a violation that makes it not conform.
    fail_fast: bool = False
    #: Crashes of earlier processes of this run: reported, and skipped.
    crashes: tuple[Crash, ...] = ()
    #: How many seconds calls may still hang, after those of earlier processes of the run.
    hangs: float = math.inf
    #: The phase, and the number of its program, with which the run ends; None to run all.
    until: tuple[str, int] | None = None
    #: The shard of the run; None for all of it.
    shard: Shard | None = None
    #: True to run programs while a server misbehaves.
    server_faults: bool = False

    def operations(self, binding: Binding) -> frozenset[str]:
        """The operations that the binding can express and the profile allows."""
        gates = _GATED if binding.pread_on_stream else {**_GATED, **_GATED_BESIDE}
        return frozenset(op for op in binding.operations if self._tries(op, gates.get(op)))

    def _tries(self, op: str, gate: str | None) -> bool:
        if op == "py_write" and self.profile.has("python-file-writable"):
            return False
        if op.startswith("py_"):
            return self.profile.has("python-file")
        if op in FEATURE_OF:
            return self.profile.has(FEATURE_OF[op])
        return op not in OF_FILE and (gate is None or self.profile.has(gate))

    def known_of(self, target: str) -> list[Known]:
        """Return the known failures of a target."""
        return entries_of(self.known, target)

    def buffer(self, binding: Binding) -> int:
        """A boundary of the implementation's buffer, in bytes."""
        return self.profile.buffer or binding.buffer

    def remote(self, binding: Binding) -> bool:
        """True if calls cost round trips."""
        return binding.remote if self.profile.remote is None else self.profile.remote

    def with_observed(self, seen: Mapping[str, bool]) -> Settings:
        """Return the settings that also expect the features that were observed."""
        return replace(self, profile=self.profile.as_observed(seen))

    def started(self, binding: Binding | PipelineBinding) -> RunStarted:
        """Return the first event of a run on a target."""
        profile, count = self.profile.name, len(self.clauses)
        return RunStarted(binding.name, binding.api, profile, self.effort, self.seed, count)

    @property
    def relevant(self) -> frozenset[str] | None:
        """The operations that can exercise the clauses; None for all."""
        operations: set[str] = set()
        for check in (check for clause in self.clauses for check in clause.checks):
            kind, _, name = check.partition(".")
            if (kind, name) in _EVERYWHERE:
                return None
            if kind == "model":
                operations.add(name)
        return frozenset(operations)

    def checks(self, kind: str) -> bool:
        """Return whether a clause has a check of this kind, such as "consistency"."""
        return any(c.startswith(f"{kind}.") for clause in self.clauses for c in clause.checks)

    @property
    def selected(self) -> frozenset[str]:
        """The ids of the clauses that are judged."""
        return frozenset(c.id for c in self.clauses)

    @property
    def declared(self) -> frozenset[str]:
        """Those of them whose features the profile declares."""
        return frozenset(c.id for c in self.clauses if not self.profile.satisfies(c.needs))


def with_checks(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """The clauses of streams that have checks."""
    return tuple(c for c in clauses if c.checks and c.api == STREAM)
