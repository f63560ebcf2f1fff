"""The benchmark of growth tells a square from a straight line."""

from __future__ import annotations

import pytest

from benchmarks.growth import __main__ as growth
from benchmarks.growth.subjects import SUBJECTS, Subject

LOCAL = [subject for subject in SUBJECTS if subject.name not in ("requests", "tasks")]
#: Sizes for subjects whose first one takes seconds.
_SMALLER = {"partitions": 10}


@pytest.mark.parametrize("power", [0, 1, 2])
def test_the_exponent_is_that_of_the_largest_sizes(power: int) -> None:
    sizes = (1, 10, 100, 1_000)
    times = [5.0, *(float(size**power) for size in sizes[1:])]
    assert growth.exponent(sizes, times) == pytest.approx(power)


@pytest.mark.parametrize(("power", "code"), [(1, 0), (2, 1)])
def test_a_time_that_grows_faster_than_its_limit_fails(
    power: int, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(subject: Subject, sizes: tuple[int, ...], rounds: int) -> list[growth.Point]:
        return [growth.Point(size, 1e-3 * size**power, 1e-3 * size) for size in sizes]

    monkeypatch.setattr(growth, "measure", measure)
    assert growth.main(["--only", "ranges"]) == code
    assert capsys.readouterr().err == "the time grows too fast: ranges\n" * code


@pytest.mark.parametrize("subject", LOCAL, ids=lambda subject: subject.name)
def test_a_subject_and_its_peer_do_the_same(subject: Subject) -> None:
    size = _SMALLER.get(subject.name, subject.sizes[0])
    (point,) = growth.measure(subject, (size,), 1)
    assert point.size == size
    assert point.ours > 0
    assert point.peer > 0
    assert len([*growth.table(subject, [point])]) == 3
