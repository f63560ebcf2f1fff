"""Tables that don't follow their dataset, or writers that don't mind each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fscontract.contract.api.errors import FileAlreadyExistsException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.fakes.mutants.metadata_table.registry import table_mutant
from fscontract.pipeline.hudi.changes import Change, Names
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.locks import FileLock
from fscontract.pipeline.hudi.metrics import Metrics
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import Instant, Timeline
from fscontract.pipeline.hudi.writer import MetadataWriter, listing


@table_mutant("metadata.init-listing")
class Shallow(MetadataWriter):
    """Only directories at the top are listed."""

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        found = listing(self._fs, self.path)
        self.bootstrap(Change({p: f for p, f in found.items() if "/" not in p}), "dataset")


@table_mutant("metadata.init-empty")
class NothingToDo(MetadataWriter):
    """A dataset without files gets no table."""

    def bootstrap(self, content: Change, *args: Any, **kwargs: Any) -> None:
        if content.added:
            super().bootstrap(content, *args, **kwargs)


@table_mutant("metadata.init-pending")
class AnyTime(MetadataWriter):
    """The table is made while actions are at work."""

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        self.bootstrap(Change(listing(self._fs, self.path)), "dataset")


@table_mutant("metadata.init-once")
class Remakes(MetadataWriter):
    """A table that is there is made again."""

    def _make_room(self) -> None:
        self.drop()


@table_mutant("metadata.init-whole")
class NoSecondTry(MetadataWriter):
    """What an attempt has left is in the way."""

    def _make_room(self) -> None:
        if list(self._fs.list_status(f"{self.path}/.hoodie/metadata")):
            raise FileAlreadyExistsException(self._metadata, "there is something")


class _Applying(MetadataWriter):
    """Some actions are not applied."""

    left_out = ""

    def apply(self, instant: Instant, change: Change) -> None:
        if instant.action != self.left_out:
            super().apply(instant, change)


@table_mutant("metadata.one-deltacommit")
class NoRollbacks(_Applying):
    """Rollbacks are not on the timeline of the table."""

    left_out = "rollback"

    def _behind(self, data: Timeline, metadata: Timeline) -> list[Instant]:
        return [each for each in super()._behind(data, metadata) if each.action != self.left_out]


@table_mutant("metadata.action-write")
class NoReplacements(_Applying):
    """A replacecommit says nothing to the table, nor to readers."""

    def apply(self, instant: Instant, change: Change) -> None:
        empty = instant.action == "replacecommit"
        super().apply(instant, Change() if empty else change)


@table_mutant("metadata.action-compaction")
class NoCompactions(_Applying):
    """What a compaction of the dataset wrote is not in the table."""

    def apply(self, instant: Instant, change: Change) -> None:
        empty = instant.action == "compaction"
        super().apply(instant, Change() if empty else change)


@table_mutant("metadata.action-clean")
class KeepsFiles(MetadataWriter):
    """What was cleaned is not listed, but still there."""

    def _delete_data(self, deleted: Any) -> dict[str, set[str]]:
        return {}


@table_mutant("metadata.action-rollback")
class LeavesBad(MetadataWriter):
    """The files of an action that was rolled back stay."""

    def roll_back(self, failed: Instant, deleted: Names | None = None) -> Instant:
        return super().roll_back(failed)


@table_mutant("metadata.action-restore")
class OneStepBack(MetadataWriter):
    """A restore takes back one action."""

    def _restore(self, instant: Instant, targets: list[Instant]) -> Instant:
        return super()._restore(instant, targets[-1:])


@table_mutant("metadata.restore-deleted")
class RestoresAnything(MetadataWriter):
    """A restore does not mind that files are gone."""

    def _restorable(self, targets: list[Instant]) -> None:
        pass


@table_mutant("metadata.clean-missing")
class MustDelete(MetadataWriter):
    """A file that was gone before was not deleted."""

    def _delete_data(self, deleted: Any) -> dict[str, set[str]]:
        missing: dict[str, set[str]] = {}
        for partition, names in deleted.items():
            for name in names:
                if not self._fs.delete(f"{self.path}/{partition}/{name}"):
                    missing.setdefault(partition, set()).add(name)
        return missing


@table_mutant("metadata.clean-failed")
class Pretends(MetadataWriter):
    """A file that could not be deleted counts as deleted."""

    def _delete_data(self, deleted: Any) -> dict[str, set[str]]:
        super()._delete_data(deleted)
        return {}


@table_mutant("metadata.from-instant")
class LooksThere(MetadataWriter):
    """To catch up, directories are listed."""

    def sync(self) -> list[str]:
        listing(self._fs, self.path)
        return super().sync()


@table_mutant("metadata.v1-sync")
class NeverSyncs(MetadataWriter):
    """The table stays as it is."""

    def sync(self) -> list[str]:
        return []


@table_mutant("metadata.v1-order")
class Backwards(MetadataWriter):
    """The last action is applied first."""

    def _behind(self, data: Timeline, metadata: Timeline) -> list[Instant]:
        return super()._behind(data, metadata)[::-1]


@table_mutant("metadata.v1-stops")
class DoesNotWait(MetadataWriter):
    """What was completed is applied, whatever is at work."""

    def _blocked(self, instant: Instant, data: Timeline) -> bool:
        return False


@table_mutant("metadata.v1-merged")
class Behind(MetadataTable):
    """Readers see the table as it is, though the dataset is ahead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "merge_unsynced": False})


@table_mutant("metadata.v1-read-only")
class Ahead(MetadataTable):
    """Readers see the dataset, though they asked for the table."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "merge_unsynced": True})


@table_mutant("metadata.v2-order")
class DatasetFirst(MetadataWriter):
    """The action is completed, and then the table is changed."""

    def _finish(self, instant: Instant, change: Change, *args: Any, **kwargs: Any) -> Instant:
        design, self._design = self._design, 1
        done = super()._finish(instant, change, *args, **kwargs)
        self._design = design
        self.apply(instant, change)
        return done


@table_mutant("metadata.v2-hidden")
class ShowsAll(MetadataTable):
    """What is in the table is seen."""

    def _counts(self, instant: str) -> bool:
        return True


@table_mutant("metadata.read-only")
class Meddles(MetadataTable):
    """Who reads ends what writers have not."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        MetadataWriter(self._fs, self.path).recover()


@table_mutant("metadata.single-writer")
class OpenDoor(FileLock):
    """Everybody gets the lock."""

    def acquire(self) -> None:
        pass

    def check(self) -> None:
        pass

    def release(self) -> None:
        pass


@table_mutant("metadata.several-writers")
class Impatient(MetadataWriter):
    """What another writer has begun counts as dead at once."""

    def _is_dead(self, instant: Instant) -> bool:
        return instant.time not in self._mine


@table_mutant("metadata.lock-left")
class ForEver(FileLock):
    """Who died with the lock keeps it."""

    def _free(self, number: int) -> bool:
        path = f"{self._path(number)}.released"
        return any(each.path == path for each in self._fs.list_status(self._directory))


@table_mutant("metadata.rolled-back-writer")
class NotTold(MetadataWriter):
    """An action is completed that was rolled back."""

    def finish(self, instant: Instant, change: Change) -> Instant:
        with self._critical():
            return self._finish(instant, change)


@table_mutant("metadata.unbegun")
class AnyAction(MetadataWriter):
    """An action is completed that is not on the timeline."""

    def finish(self, instant: Instant, change: Change) -> Instant:
        with self._critical():
            if instant.time not in self.timelines()[0].instants:
                return self._finish(instant, change)
        return super().finish(instant, change)


@table_mutant("metadata.unbegun")
class AppliesFirst(MetadataWriter):
    """An action that is not on the timeline is refused after its files are deleted."""

    def finish(self, instant: Instant, change: Change) -> Instant:
        if instant.time not in self.timelines()[0].instants:
            self.commit(Change(deleted=change.deleted))
        return super().finish(instant, change)


@table_mutant("metadata.finish-change")
class FirstWord(MetadataWriter):
    """What the table was told of an action first is what it has."""

    def apply(self, instant: Instant, change: Change) -> None:
        if instant.time not in self.timelines()[1].completed:
            super().apply(instant, change)


@table_mutant("metadata.finish-change")
class AddsUp(MetadataWriter):
    """The table has all that it was told of an action."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._told: dict[str, Change] = {}

    def apply(self, instant: Instant, change: Change) -> None:
        told = self._told.setdefault(instant.time, change)
        partitions = {*told.added, *change.added}
        added = {p: {**told.added.get(p, {}), **change.added.get(p, {})} for p in partitions}
        super().apply(instant, Change(added, {**told.deleted, **change.deleted}))


@table_mutant("metadata.race")
class NoDoor(OpenDoor):
    """The lock holds nobody."""


@table_mutant("metadata.validate-listing")
class BelievesTable(FileListing):
    """What the table says is given, though files were listed, too."""

    def list_files(self, partition: str) -> list[FileStatus]:
        found = super().list_files(partition)
        return found if self._table is None else self._table.list_files(partition)


@table_mutant("metadata.validate-counts")
class Silent(FileListing):
    """What differs is not counted."""

    def _compare(self, what: str, known: object, found: object) -> None:
        pass


class _Uncounted(Metrics):
    def count(self, name: str, by: int = 1) -> None:
        if not name.startswith("lookup"):
            super().count(name, by)

    def snapshot(self) -> Mapping[str, float]:
        return dict(super().snapshot())


@table_mutant("metadata.metrics")
class CountsNoLookups(FileListing):
    """Lookups are not counted."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "metrics": _Uncounted()})
