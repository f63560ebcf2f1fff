"""The fixture, the fsspec filesystem and the target, as others use them."""

from __future__ import annotations

import fsspec
import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.program.content import content
from fscontract.contract.program.faults import Fault
from fscontract.contract.program.program import Step
from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import resolve_target
from fscontract.fakes.filesystem.filesystem import FakeBinding, FakeFileSystem, FakeFsspec, fake

from .support import outcomes, plan, read


class TestFixture:
    def test_it_is_new_and_empty(self, fake_filesystem: FakeFileSystem) -> None:
        assert list(fake_filesystem.list_status("/")) == []
        assert fake_filesystem.clock.now > 0, "a listing takes its time"

    def test_urls_lead_to_it(self, fake_filesystem: FakeFileSystem) -> None:
        """So code under test that opens URLs needs nothing else."""
        fake_filesystem.write("/d/a", b"hello")
        with fsspec.open("fake:///d/a") as file:
            assert file.read() == b"hello"
        assert outcomes(fake_filesystem) == ["ok"]
        assert fsspec.filesystem("fake").ls("/d", detail=False) == ["/d/a"]

    def test_urls_lead_elsewhere_afterwards(self, pytester: pytest.Pytester) -> None:
        """And it can be used without any import."""
        shared = FakeFsspec.shared
        pytester.makepyfile(
            """
            import fsspec

            def test_one(fake_filesystem):
                fake_filesystem.write("/a", b"x")
                assert fsspec.filesystem("fake").exists("/a")

            def test_other(fake_filesystem):
                assert not fsspec.filesystem("fake").exists("/a")
            """
        )
        pytester.runpytest_inprocess().assert_outcomes(passed=2)
        assert FakeFsspec.shared is shared


class TestFsspec:
    def test_a_filesystem_has_a_view(self) -> None:
        fs = FakeFileSystem()
        view = fs.as_fsspec()
        view.pipe("/d/a", b"hello")
        assert read(fs, "/d/a") == b"hello"
        assert view.cat("fake:///d/a", start=1, end=3) == b"el"
        fs.attach(plan(Fault("reset", times=100)))
        with pytest.raises(ConnectionResetError):
            view.cat("/d/a")

    def test_without_one_there_is_one_for_all(self) -> None:
        assert FakeFsspec().fs is FakeFsspec().fs is FakeFsspec.shared


class TestTarget:
    def test_it_is_found_by_name(self) -> None:
        binding = resolve_target("fake", {"replicas": "2"})
        assert isinstance(binding, FakeBinding)
        assert binding.default_profile == "fake"

    @pytest.mark.usefixtures("programs")
    @pytest.mark.parametrize("clauses", ["new-source,consistency,seek", "openfile", "faults"])
    def test_it_conforms(self, clauses: str) -> None:
        """While all goes well, and while requests fail."""
        chosen = tuple(clause for clause in select(clauses.split(",")) if clause.testable)
        faults = "quick" if clauses == "faults" else None
        settings = Settings(load_profile("fake"), chosen, faults=faults)
        result = check(fake({}), settings)
        assert result.conforms
        passed = sum(c.outcome is Verdict.PASS for c in result.clauses)
        assert passed > len(chosen) * 0.7

    def test_its_faults_strike_streams_only(self) -> None:
        """The suite's changes of files are not requests."""
        binding = fake({})
        binding.prepare()
        assert binding.injector is not None
        assert set(binding.injector.kinds) >= {"short", "hang"}
        with binding.injector.attached(plan(Fault("timeout", times=100))):
            path = binding.create(content(10))
            binding.change(path, b"other")
            binding.change(path, None)
            assert binding.injector.requests == 0
        path = binding.create(content(10_000))
        opened = binding.open(path)
        assert binding.bind(Step("seek_to_new_source", (5000,)))(opened).value is True
        binding.dispose()

    @pytest.mark.parametrize("value", ["0", "-1", "x", "101", "", "²"])
    def test_replicas_are_a_number(self, value: str) -> None:
        with pytest.raises(TargetError, match="replicas is a number from 1 to 100"):
            fake({"replicas": value})

    def test_other_options_are_not_taken(self) -> None:
        with pytest.raises(
            TargetError, match="fake: unknown option 'blocks'; allowed options: replicas"
        ):
            fake({"blocks": "1"})
