"""States of a stream: position, content and what is known of a changed file."""

from __future__ import annotations

from fscontract.contract.models.stream_state import ANY, Origin, opened

STATE = opened(b"abc")
CHANGED = STATE._replace(versions=(b"abc", b"abcdef", b"a"), changed=True)


def test_opened_stream_is_at_zero_and_open() -> None:
    assert (STATE.pos, STATE.is_open, STATE.versions) == (0, True, (b"abc",))


def test_wrong_position_of_an_opened_stream_is_a_fault_of_open() -> None:
    assert (STATE.origin.op, STATE.origin.moved) == ("open", "open.state")


def test_file_that_did_not_change_has_one_length() -> None:
    assert (STATE.shortest, STATE.longest) == (3, 3)


def test_changed_file_has_the_lengths_of_all_its_versions() -> None:
    assert (CHANGED.shortest, CHANGED.longest) == (1, 6)


def test_moved_stream_keeps_its_content() -> None:
    origin = Origin("seek", "seek.pos")
    moved = CHANGED.at(2, origin)
    assert (moved.pos, moved.origin) == (2, origin)
    assert (moved.versions, moved.changed) == (CHANGED.versions, True)


def test_unknown_position_keeps_the_likeliest_one_through_calls_that_do_not_move() -> None:
    lost = STATE.at(2, Origin("seek")).lost(Origin("seek", failed=True))
    assert lost.at(ANY, Origin("available")).origin.before == 2


def test_known_position_has_no_likeliest_one() -> None:
    lost = STATE.at(2, Origin("seek")).lost(Origin("seek", failed=True))
    assert lost.at(1, Origin("read_byte")).origin.before == ANY
