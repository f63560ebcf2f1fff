"""The first lines of scripts."""

from __future__ import annotations

from fscontract.contract.text import redact
from fscontract.implementations.bindings.script_setup import FILE
from fscontract.implementations.s3.moto_target import ACCESS_KEY


def test_name_of_the_file_is_shown_whole_beside_the_key_of_the_test_server() -> None:
    assert redact(f'path = "{FILE}"', {"key": ACCESS_KEY}) == f'path = "{FILE}"'
