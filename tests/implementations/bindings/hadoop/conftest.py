"""Fixtures: Hadoop's filesystems on directories and servers. All tests share one JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.jvm import jvm
from servers.ftp import ftp_server, web_server

Make: TypeAlias = Callable[..., HadoopBinding]


@pytest.fixture(scope="session")
def java() -> Callable[[str], Any]:
    """A lookup of Java classes by name."""
    jvm.start(jvm.hadoop_jars(), short_lived=True)
    return jvm.java_class


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """A function that creates prepared bindings to a directory of this test, by scheme."""
    made: list[HadoopBinding] = []

    def of(scheme: str, **options: str) -> HadoopBinding:
        made.append(HadoopBinding.from_url(f"{scheme}://{tmp_path}", options))
        made[-1].prepare()
        return made[-1]

    yield of
    for binding in made:
        binding.dispose()


@pytest.fixture
def shown() -> Callable[..., list[str]]:
    """A function that runs calls such as `("seek", 3)` on a new stream; returns their texts."""

    def run(binding: HadoopBinding, content: bytes, *calls: tuple[object, ...]) -> list[str]:
        opened = binding.open(binding.create(content))
        steps = [Step(str(op), tuple(args)) for op, *args in calls]
        said = [str(binding.bind(step)(opened)) for step in steps]
        binding.bind(Step("close"))(opened)
        return said

    return run


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """The URL of a web server with the files of this test's directory."""
    with web_server(tmp_path) as url:
        yield url


@pytest.fixture
def ftp(tmp_path: Path) -> Iterator[str]:
    """The URL, with user and password, of an FTP server with this test's directory."""
    with ftp_server(tmp_path) as url:
        yield url
