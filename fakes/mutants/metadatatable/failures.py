"""Tables that make the worst of failures and damage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from fscontract.contract.ports import FileStatus
from fscontract.fakes.mutants.metadatatable.registry import table_mutant
from fscontract.pipeline.metadata.changes import Change, Names
from fscontract.pipeline.metadata.commits import encode_commit
from fscontract.pipeline.metadata.errors import CorruptFileException, MetadataException
from fscontract.pipeline.metadata.group import FileGroupReader
from fscontract.pipeline.metadata.listing import FileListing
from fscontract.pipeline.metadata.log import Log, LogBlock
from fscontract.pipeline.metadata.payload import Record
from fscontract.pipeline.metadata.timeline import Instant
from fscontract.pipeline.metadata.write import MetadataWriter


@table_mutant("meta.failed-update")
class CompletesFirst(MetadataWriter):
    """The action is completed before the table is changed."""

    def apply(self, instant: Instant, change: Change) -> None:
        self._data_instants.complete(instant, encode_commit([], "UPSERT"), self._latest())
        super().apply(instant, change)


@table_mutant("meta.recovered")
class LeavesAlone(MetadataWriter):
    """What others have begun is left as it is."""

    def recover(self) -> list[Instant]:
        return []


@table_mutant("meta.rollback-older")
class LastOnly(MetadataWriter):
    """An action that is not the last one is completed by its rollback, as it was in Hudi."""

    def _roll_back(self, instant: Instant, failed: Instant, deleted: Names) -> Instant:
        data, _ = self.timelines()
        if any(time > failed.time for time in data.completed):
            self._data_instants.complete(failed, encode_commit([], "UPSERT"), self._latest())
            return instant
        return super()._roll_back(instant, failed, deleted)


@table_mutant("meta.rollback-first")
class LeavesLogs(MetadataWriter):
    """What an action wrote to the table stays there."""

    def _take_out(self, time: str) -> None:
        pass


@table_mutant("meta.rollback-unknown")
class MustKnow(MetadataWriter):
    """What the table does not know can't be rolled back."""

    def _take_out(self, time: str) -> None:
        if time not in self.timelines()[1].instants:
            raise MetadataException(self.path, f"{time} is not there")
        super()._take_out(time)


@table_mutant("meta.before-or-after")
class TwoHalves(MetadataWriter):
    """Files are added by one instant, and deleted by another."""

    def _finish(self, instant: Instant, change: Change, *args: Any, **kwargs: Any) -> Instant:
        if change.added and change.deleted:
            first = self._begin("commit")
            super()._finish(first, replace(change, deleted={}))
            change = replace(change, added={})
        return super()._finish(instant, change, *args, **kwargs)


@table_mutant("meta.goes-on")
class Helpless(MetadataWriter):
    """What others have begun has to be ended by somebody else."""

    def recover(self) -> list[Instant]:
        data, _ = self.timelines()
        if any(each.time not in self._mine for each in data.pending):
            raise MetadataException(self.path, "repair the dataset")
        return []


@table_mutant("meta.no-leak")
class Litters(MetadataWriter):
    """The files of an action that died are not looked for."""

    def _files_of(self, time: str) -> dict[str, set[str]]:
        return {}


@table_mutant("meta.fallback-absent")
class NoTableNoFiles(FileListing):
    """Without a table there are no files."""

    def _listed(self, partition: str) -> Iterator[FileStatus]:
        return iter(())


@table_mutant("meta.fallback-broken")
class GivesUp(FileListing):
    """Damage is an error."""

    def _ask(self, question: Callable[..., Any]) -> Any:
        return None if self._table is None else question(self._table)


@table_mutant("meta.fallback-uncommitted")
class ListsEverything(FileListing):
    """Files of actions that are at work are listed."""

    def _completed(self, name: str) -> bool:
        return True


@table_mutant("meta.warned")
class SaysNothing(FileListing):
    """Nobody is told that files are listed."""

    def _warn(self, reason: str) -> None:
        pass


@table_mutant("meta.damage")
class MakesDo(FileGroupReader):
    """What can't be read is not there."""

    def get_many(self, keys: Iterable[str]) -> dict[str, Record]:
        try:
            return super().get_many(keys)
        except CorruptFileException:
            return {}


@table_mutant("meta.torn-completed")
class SkipsTorn(FileGroupReader):
    """A log that is not whole is passed over."""

    def _blocks(self) -> list[tuple[Log, LogBlock]]:
        try:
            return super()._blocks()
        except CorruptFileException:
            return []
