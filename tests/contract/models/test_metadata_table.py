"""The model of a metadata table: what a listing of the dataset may return at each instant."""

from __future__ import annotations

from inline_snapshot import snapshot

from fscontract.contract.models.metadata_table import Acceptor, difference

START = {"a": {"f": 1}, "b": {"g": 2}}


def _model(*times: str) -> Acceptor:
    model = Acceptor(START)
    for time in times:
        model.request(time, "commit")
    return model


def test_listing_before_any_action_is_that_of_the_start() -> None:
    assert _model().listing() == START
    assert _model().judge(START) == ""


def test_requested_and_inflight_actions_do_not_change_the_listing() -> None:
    model = _model("1")
    model.begin("1")
    assert model.actions["1"].state == "inflight"
    assert model.listing() == START


def test_completed_actions_apply_in_order_of_completion() -> None:
    model = _model("1", "2")
    model.complete("2", {"a": {"h": 3}})
    model.complete("1", None, {"a": ["h"]})
    assert model.listing() == START
    assert model.listing(as_of=1) == {"a": {"f": 1, "h": 3}, "b": {"g": 2}}


def test_file_has_its_largest_size_until_it_is_deleted() -> None:
    model = _model("1", "2", "3", "4")
    model.complete("1", {"a": {"f": 9}})
    model.complete("2", {"a": {"f": 5}})
    assert model.listing()["a"] == {"f": 9}
    model.complete("3", None, {"a": ["f"]})
    assert "a" not in model.listing()
    model.complete("4", {"a": {"f": 5}})
    assert model.listing()["a"] == {"f": 5}


def test_rolled_back_action_does_not_change_the_listing() -> None:
    model = _model("1")
    model.complete("1", {"c": {"h": 3}})
    model.take_back("1")
    assert model.listing() == START


def test_interrupted_action_permits_both_listings_until_one_is_seen() -> None:
    model = _model("1")
    after = {**START, "c": {"h": 3}}
    with model.perhaps(lambda: model.complete("1", {"c": {"h": 3}})):
        pass
    assert model.listing() == after
    for seen, other in ((START, after), (after, START)):
        model = _model("1")
        try:
            with model.perhaps(lambda model=model: model.complete("1", {"c": {"h": 3}})):  # type: ignore[misc]
                raise InterruptedError
        except InterruptedError:
            pass
        assert model.judge({"a": {"f": 1}}) != ""
        assert model.judge(seen) == ""
        assert model.judge(other) != ""


def test_action_after_an_interrupted_one_applies_to_both_possible_listings() -> None:
    model = _model("1", "2")
    try:
        with model.perhaps(lambda: model.complete("1", {"c": {"h": 3}})):
            raise InterruptedError
    except InterruptedError:
        pass
    model.complete("2", {"d": {"i": 4}})
    assert model.judge({**START, "c": {"h": 3}, "d": {"i": 4}}) == ""
    assert model.judge({**START, "d": {"i": 4}}) != ""


def test_difference_names_missing_extra_and_resized_files() -> None:
    said = difference({"a": {"f": 2, "x": 1}, "z": {}}, {"a": {"f": 1, "y": 1}, "b": {}})
    assert said == snapshot(
        "a/y missing, a/x must not be listed, a/f of 2 bytes instead of 1, no partition 'b', "
        "partition 'z' must not be listed"
    )
    assert difference(START, START) == ""
