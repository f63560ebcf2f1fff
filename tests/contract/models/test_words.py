"""What was expected, in words."""

from __future__ import annotations

import pytest

from fscontract.contract.models.transition_table import span


@pytest.mark.parametrize(
    ("least", "most", "said"), [(0, 5, "0 to 5"), (1, 2, "1 to 2"), (0, 0, "0"), (1, 1, "1")]
)
def test_a_span_of_one_number_is_that_number(least: int, most: int, said: str) -> None:
    assert span(least, most) == said
