"""Fakes are verified: every example of the documents passes on the fake as on the real target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from pyfakefs.fake_filesystem_unittest import Patcher

from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.binding import Binding
from fscontract.contract.runner.executor import Executor
from fscontract.contract.spec.clauses import FAULTS, clauses
from fscontract.contract.spec.profiles import load_profile
from fscontract.fakes.filesystem.filesystem import fake
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.targets import LocalBinding, local, memory

#: For each example of each clause what every call did.
Done = dict[tuple[str, int], list[tuple[str, ...]]]

#: Clauses in which a fake goes another way than the local disk, and is right: it has replicas, to
#: which seek_to_new_source goes.
OTHERWISE = {"fake": "new-source."}


@contextmanager
def binding(name: str) -> Iterator[Binding]:
    """A prepared binding to a fake, or to the local disk."""
    makers: dict[str, Callable[[], Binding]] = {
        "local": lambda: local({}),
        "portable": lambda: local({"strategy": "portable"}),
        "memory": lambda: memory({}),
        "fake": lambda: fake({}),
        "pyfakefs": lambda: LocalBinding(LocalFileSystem("/disk", "portable")),
    }
    if name != "pyfakefs":
        yield from _prepared(makers[name]())
        return
    option_table(), clauses(), load_profile("reference")  # read from the real disk
    with Patcher() as patcher:
        assert patcher.fs is not None
        patcher.fs.create_dir("/disk")
        yield from _prepared(makers[name]())


def _prepared(made: Binding) -> Iterator[Binding]:
    made.prepare()
    try:
        yield made
    finally:
        made.dispose()


def outcomes(name: str) -> Done:
    """Return the outcomes of every example whose needs are met; none may violate a clause."""
    done: Done = {}
    with binding(name) as made:
        profile = load_profile(made.default_profile)
        executor = Executor(made, profile.features, 4096)
        for clause in clauses().values():
            if profile.satisfies(clause.needs) or clause.document == FAULTS:
                continue
            for number, example in enumerate(clause.examples):
                execution = executor.run(example.program, trace=True)
                assert execution.violation is None, (clause.id, execution.violation)
                done[clause.id, number] = [
                    (str(step), outcome.kind.value, repr(outcome.value), repr(outcome.buffer))
                    for step, outcome, _ in execution.trace
                ]
    return done


@pytest.mark.parametrize("name", ["portable", "memory", "fake", "pyfakefs"])
def test_every_example_does_on_a_fake_what_it_does_on_the_local_disk(name: str) -> None:
    """A test that passes on a fake and fails in earnest is worth nothing."""
    real, faked = outcomes("local"), outcomes(name)
    other = OTHERWISE.get(name, "nothing")
    same = {key: done for key, done in real.items() if not key[0].startswith(other)}
    assert len(same) > 150
    assert {key: done for key, done in faked.items() if not key[0].startswith(other)} == same
