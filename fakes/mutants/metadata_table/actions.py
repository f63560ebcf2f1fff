"""Tables that don't follow their dataset, or writers that ignore each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from fscontract.contract.api.errors import FileAlreadyExistsException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.hudi.changes import Change, Names
from fscontract.pipeline.hudi.file_slices import FileSlice
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.locks import FileLock
from fscontract.pipeline.hudi.metrics import Metrics
from fscontract.pipeline.hudi.records import Record
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import Instant, Timeline
from fscontract.pipeline.hudi.writer import MetadataWriter, listing


@mutant("metadata.init-listing", MetadataWriter.initialize)
def shallow(self: MetadataWriter, *args: Any, **kwargs: Any) -> None:
    """Only directories at the top are listed."""
    listed = listing(self._fs, self.path)
    self.bootstrap(Change({p: f for p, f in listed.items() if "/" not in p}), "dataset")


@mutant("metadata.init-empty", MetadataWriter.bootstrap)
def nothing_to_do(self: MetadataWriter, content: Change, *args: Any, **kwargs: Any) -> None:
    """A dataset without files gets no table."""
    if content.added:
        right(self).bootstrap(content, *args, **kwargs)


@mutant("metadata.init-pending", MetadataWriter.initialize)
def any_time(self: MetadataWriter, *args: Any, **kwargs: Any) -> None:
    """The table is made while actions are pending."""
    self.bootstrap(Change(listing(self._fs, self.path)), "dataset")


@mutant("metadata.init-once", MetadataWriter._make_room)
def remakes(self: MetadataWriter) -> None:
    """An existing table is made again."""
    self.drop()


@mutant("metadata.init-whole", MetadataWriter._make_room)
def no_second_try(self: MetadataWriter) -> None:
    """Files of a failed attempt block the next one."""
    if list(self._fs.list_status(f"{self.path}/.hoodie/metadata")):
        raise FileAlreadyExistsException(self._metadata, "there is something")


class _Applying(MetadataWriter):
    """Does not apply some actions."""

    left_out = ""

    def apply(self, instant: Instant, change: Change) -> None:
        if instant.action != self.left_out:
            super().apply(instant, change)


@mutant("metadata.one-deltacommit")
class NoRollbacks(_Applying):
    """The table's timeline has no rollbacks."""

    left_out = "rollback"

    def _behind(self, data: Timeline, metadata: Timeline) -> list[Instant]:
        return [
            pending
            for pending in super()._behind(data, metadata)
            if pending.action != self.left_out
        ]


@mutant("metadata.action-write", _Applying.apply)
def no_replacements(self: _Applying, instant: Instant, change: Change) -> None:
    """Replacecommits are ignored by the table and by readers."""
    empty = instant.action == "replacecommit"
    right(self).apply(instant, Change() if empty else change)


@mutant("metadata.action-compaction", _Applying.apply)
def no_compactions(self: _Applying, instant: Instant, change: Change) -> None:
    """The table ignores files written by a compaction of the dataset."""
    empty = instant.action == "compaction"
    right(self).apply(instant, Change() if empty else change)


@mutant("metadata.action-clean", MetadataWriter._delete_data)
def keeps_files(self: MetadataWriter, deleted: Any) -> dict[str, set[str]]:
    """Cleaned files are not listed, but not deleted."""
    return {}


@mutant("metadata.action-clean", MetadataWriter._delete_data)
def deletes_a_batch(self: MetadataWriter, deleted: Any) -> dict[str, set[str]]:
    """A clean deletes the first 50 files of each partition only."""
    return right(self)._delete_data({p: sorted(names)[:50] for p, names in deleted.items()})


@mutant("metadata.action-rollback", MetadataWriter.roll_back)
def leaves_bad(self: MetadataWriter, failed: Instant, deleted: Names | None = None) -> Instant:
    """The files of an action that was rolled back stay."""
    return right(self).roll_back(failed)


@mutant("metadata.action-restore", MetadataWriter._restore)
def one_step_back(self: MetadataWriter, instant: Instant, targets: list[Instant]) -> Instant:
    """A restore takes back one action."""
    return right(self)._restore(instant, targets[-1:])


@mutant("metadata.restore-deleted", MetadataWriter._restorable)
def restores_anything(self: MetadataWriter, targets: list[Instant]) -> None:
    """A restore ignores that files do not exist any more."""


@mutant("metadata.action-rollback", MetadataWriter.roll_back)
def rolls_back_names(
    self: MetadataWriter, failed: Instant, deleted: Names | None = None
) -> Instant:
    """Files that have the name of one of the action's are deleted in all partitions."""
    names = {name for files in (deleted or {}).values() for name in files}
    known = {p: names & {*files} for p, files in listing(self._fs, self.path).items()}
    return right(self).roll_back(failed, {p: files for p, files in known.items() if files})


@mutant("metadata.action-clean", MetadataWriter._delete_data)
def cleans_names(
    self: MetadataWriter, deleted: Mapping[str, Collection[str]]
) -> dict[str, set[str]]:
    """Files of all partitions that have a name to be deleted are deleted."""
    names = {name for files in deleted.values() for name in files}
    for partition, files in listing(self._fs, self.path).items():
        right(self)._delete_data({partition: names & {*files}})
    return right(self)._delete_data(deleted)


@mutant("metadata.clean-missing", MetadataWriter._delete_data)
def must_delete(self: MetadataWriter, deleted: Any) -> dict[str, set[str]]:
    """Deleting a file that does not exist is an error."""
    missing: dict[str, set[str]] = {}
    for partition, names in deleted.items():
        for name in names:
            if not self._fs.delete(f"{self.path}/{partition}/{name}"):
                missing.setdefault(partition, set()).add(name)
    return missing


@mutant("metadata.clean-missing", MetadataWriter.clean)
def knows_partitions(self: MetadataWriter, deleted: Names) -> Instant:
    """Deleting a file of a partition that does not exist is an error."""
    for partition, files in self._names(deleted).items():
        if not files:
            raise FileNotFoundError(f"no such partition: {partition}")
    return right(self).clean(deleted)


@mutant("metadata.clean-failed", MetadataWriter._delete_data)
def pretends(self: MetadataWriter, deleted: Any) -> dict[str, set[str]]:
    """A file that can't be deleted counts as deleted."""
    right(self)._delete_data(deleted)
    return {}


@mutant("metadata.from-instant", MetadataWriter.sync)
def looks_there(self: MetadataWriter) -> list[str]:
    """Catching up lists directories."""
    listing(self._fs, self.path)
    return right(self).sync()


@mutant("metadata.v1-sync", MetadataWriter.sync)
def never_syncs(self: MetadataWriter) -> list[str]:
    """The table is never brought up to date."""
    return []


@mutant("metadata.v1-order", MetadataWriter._behind)
def backwards(self: MetadataWriter, data: Timeline, metadata: Timeline) -> list[Instant]:
    """The last action is applied first."""
    return right(self)._behind(data, metadata)[::-1]


@mutant("metadata.v1-stops", MetadataWriter._blocked)
def does_not_wait(self: MetadataWriter, instant: Instant, data: Timeline) -> bool:
    """Completed actions are applied though an earlier one is pending."""
    return False


@mutant("metadata.v1-merged")
class Behind(MetadataTable):
    """Readers see an outdated table although the dataset is ahead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "merge_unsynced": False})


@mutant("metadata.v1-read-only")
class Ahead(MetadataTable):
    """Readers see the dataset although they requested the table."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "merge_unsynced": True})


@mutant("metadata.v2-order", MetadataWriter._finish)
def dataset_first(
    self: MetadataWriter, instant: Instant, change: Change, *args: Any, **kwargs: Any
) -> Instant:
    """The action is completed before the table is changed."""
    design, self._design = self._design, 1
    done = right(self)._finish(instant, change, *args, **kwargs)
    self._design = design
    self.apply(instant, change)
    return done


@mutant("metadata.v2-hidden", MetadataTable._counts)
def shows_all(self: MetadataTable, instant: str) -> bool:
    """Readers see records of actions that are not completed."""
    return True


@mutant("metadata.read-only")
class Meddles(MetadataTable):
    """A reader recovers pending actions of writers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        MetadataWriter(self._fs, self.path).recover()


@mutant("metadata.single-writer")
class OpenDoor(FileLock):
    """Every writer gets the lock."""

    def acquire(self) -> None:
        pass

    def check(self) -> None:
        pass

    def release(self) -> None:
        pass


@mutant("metadata.single-writer", FileLock.check)
def never_lost(self: FileLock) -> None:
    """A writer does not notice that another one has taken its lock."""


@mutant("metadata.several-writers", MetadataWriter.finish)
def keeps_lock(self: MetadataWriter, instant: Instant, change: Change) -> Instant:
    """A writer keeps the lock if an action is refused."""
    try:
        return right(self).finish(instant, change)
    except MetadataException:
        self._lock_up()
        raise


@mutant("metadata.several-writers", MetadataWriter._is_dead)
def impatient(self: MetadataWriter, instant: Instant) -> bool:
    """The pending action of another writer immediately counts as dead."""
    return instant.time not in self._mine


@mutant("metadata.several-writers")
class CompactsOwn(MetadataWriter):
    """A compaction leaves out what other writers completed after this one had begun an action."""

    known: Collection[str] = ()

    def _begin(self, action: str, plan: bytes = b"") -> Instant:
        instant = super()._begin(action, plan)
        self.known = {*self.timelines()[1].completed, instant.time}
        return instant

    def _compacted(
        self, file_slice: FileSlice, instant: Instant, data: Timeline
    ) -> Iterator[Record]:
        logs = tuple(log for log in file_slice.logs if log.name.instant in self.known)
        return super()._compacted(replace(file_slice, logs=logs), instant, data)


@mutant("metadata.lock-left", FileLock._free)
def for_ever(self: FileLock, number: int) -> bool:
    """A crashed writer keeps the lock without a limit."""
    path = f"{self._path(number)}.released"
    return any(each.path == path for each in self._fs.list_status(self._directory))


@mutant("metadata.rolled-back-writer", MetadataWriter.finish)
def not_told(self: MetadataWriter, instant: Instant, change: Change) -> Instant:
    """An action is completed after its rollback."""
    with self._critical():
        return self._finish(instant, change)


@mutant("metadata.unbegun", MetadataWriter.finish)
def any_action(self: MetadataWriter, instant: Instant, change: Change) -> Instant:
    """An action is completed that is not on the timeline."""
    with self._critical():
        if instant.time not in self.timelines()[0].instants:
            return self._finish(instant, change)
    return right(self).finish(instant, change)


@mutant("metadata.unbegun", MetadataWriter.finish)
def applies_first(self: MetadataWriter, instant: Instant, change: Change) -> Instant:
    """An action that is not on the timeline is refused after its files are deleted."""
    if instant.time not in self.timelines()[0].instants:
        self.commit(Change(deleted=change.deleted))
    return right(self).finish(instant, change)


@mutant("metadata.finish-change", MetadataWriter.apply)
def first_word(self: MetadataWriter, instant: Instant, change: Change) -> None:
    """Only the first change of an action is applied; later ones are ignored."""
    if instant.time not in self.timelines()[1].completed:
        right(self).apply(instant, change)


@mutant("metadata.finish-change")
class AddsUp(MetadataWriter):
    """The changes of one action are added up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._told: dict[str, Change] = {}

    def apply(self, instant: Instant, change: Change) -> None:
        changes = self._told.setdefault(instant.time, change)
        partitions = {*changes.added, *change.added}
        added = {p: {**changes.added.get(p, {}), **change.added.get(p, {})} for p in partitions}
        super().apply(instant, Change(added, {**changes.deleted, **change.deleted}))


@mutant("metadata.race", MetadataWriter._withdraw)
def keeps_late_log(self: MetadataWriter, instant: Instant) -> None:
    """The log of a slow writer stays after another one has rolled its action back."""


@mutant("metadata.race")
class NoDoor(OpenDoor):
    """The lock excludes no writer."""


@mutant("metadata.validate-listing", FileListing.list_files)
def believes_table(self: FileListing, partition: str) -> list[FileStatus]:
    """The table's content is returned although the files were listed."""
    listed = right(self).list_files(partition)
    return listed if self._table is None else self._table.list_files(partition)


@mutant("metadata.validate-counts", FileListing._compare)
def compares_names(self: FileListing, what: str, known: Any, listed: Any) -> None:
    """A file with another size does not count as a difference."""
    sides = (known or (), listed)
    names = [[each if isinstance(each, str) else each[0] for each in side] for side in sides]
    right(self)._compare(what, *names)


@mutant("metadata.validate-counts", FileListing._compare)
def silent(self: FileListing, what: str, known: object, listed: object) -> None:
    """Differences are not counted."""


class _Uncounted(Metrics):
    def count(self, name: str, by: int = 1) -> None:
        if not name.startswith("lookup"):
            super().count(name, by)

    def snapshot(self) -> Mapping[str, float]:
        return dict(super().snapshot())


@mutant("metadata.metrics")
class CountsNoLookups(FileListing):
    """Lookups are not counted."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "metrics": _Uncounted()})
