"""Actions that delete files, and the recovery of actions that a dead writer began."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.pipeline.hudi.avro import read_one
from fscontract.pipeline.hudi.changes import (
    CLEAN,
    COMPACTION,
    RESTORE,
    ROLLBACK,
    Change,
    Names,
    below,
    changes_of,
    check_change,
)
from fscontract.pipeline.hudi.commit_metadata import (
    encode_clean_plan,
    encode_restore_plan,
    encode_rollback_plan,
)
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.listing import listing
from fscontract.pipeline.hudi.schema import CLEAN_PLAN, RESTORE_PLAN, ROLLBACK_PLAN
from fscontract.pipeline.hudi.schema import RESTORE as RESTORED
from fscontract.pipeline.hudi.timeline import COMPLETED, REQUESTED, Instant, Timeline, instant_at
from fscontract.pipeline.hudi.updates import TableUpdates

#: The schemas of the plans that actions have.
_PLANS = {CLEAN: CLEAN_PLAN, ROLLBACK: ROLLBACK_PLAN, RESTORE: RESTORE_PLAN}


class Recovery(TableUpdates):
    """A metadata table whose dataset can be cleaned, rolled back and restored.

    Each of these has a plan in the instant that requests it, so another writer can do it again.
    """

    def clean(self, deleted: Names) -> Instant:
        """Delete files of the dataset that no reader needs any more.

        A file that is not there counts as deleted; one that can't be deleted stays listed.
        MetadataException for names that lead out of the dataset.
        """
        check_change(Change(deleted=deleted))
        with self._critical():
            self.recover()
            return self._clean(self._begin(CLEAN, encode_clean_plan(deleted)), deleted)

    def _clean(self, instant: Instant, deleted: Names) -> Instant:
        failed = self._delete_data(deleted)
        gone = {p: set(names) - failed.get(p, set()) for p, names in deleted.items()}
        return self._finish(instant, Change(deleted=gone), failed=failed)

    def roll_back(self, failed: Instant, deleted: Names | None = None) -> Instant:
        """Undo an action that was begun and never completed, as a new action.

        What it wrote to the metadata table did not count, and is removed; its data files `deleted`
        are deleted.
        """
        with self._critical():
            if failed.time in self.timelines()[0].completed:
                raise IllegalArgumentException(f"{failed.time} is completed, and stays")
            instant = self._begin(ROLLBACK, encode_rollback_plan(failed.time, failed.action))
            return self._roll_back(instant, failed, deleted or {})

    def _roll_back(self, instant: Instant, failed: Instant, deleted: Names) -> Instant:
        self._delete_data(deleted)
        self._take_out(failed.time)
        self._data_instants.remove(failed)
        self._mine.discard(failed.time)
        return self._finish(instant, Change(deleted=deleted), [f"{failed.time}.{failed.action}"])

    def restore(self, to: Instant) -> Instant:
        """Take the dataset back to when an instant was completed; what was added since is deleted.

        IllegalArgumentException if files were deleted since: they don't come back.
        """
        with self._critical():
            self.recover()
            data, _ = self.timelines()
            end = data.completed.get(to.time)
            if end is None:
                raise IllegalArgumentException(f"{to.time} is not a completed instant")
            after = [
                instant for instant in data.instants.values() if (instant.completed or "") > end
            ]
            targets = [instant for instant in after if instant.action not in (ROLLBACK, RESTORE)]
            self._restorable(targets)
            plan = encode_restore_plan(
                [(instant.time, instant.action) for instant in targets], to.time
            )
            return self._restore(self._begin(RESTORE, plan), targets)

    def _restorable(self, targets: list[Instant]) -> None:
        for instant, change in zip(targets, changes_of(self._fs, self.path, targets), strict=True):
            if any(change.deleted.values()):
                raise IllegalArgumentException(f"{instant.time} deleted files, which are gone")

    def _restore(self, instant: Instant, targets: list[Instant]) -> Instant:
        added = [change.added for change in changes_of(self._fs, self.path, targets)]
        deleted: dict[str, set[str]] = {}
        for sizes in added:
            for partition, files in sizes.items():
                deleted.setdefault(partition, set()).update(files)
        self._delete_data(deleted)
        named = [f"{target.time}.{target.action}" for target in targets]
        done = self._finish(instant, Change(deleted=deleted), named)
        self._forget(targets)
        return done

    def _forget(self, targets: Iterable[Instant]) -> None:
        """Remove the instants that a restore has taken back, and then what the table has of them.

        In the other order readers would take them for instants that the table lacks.
        """
        for instant in targets:
            self._data_instants.forget(instant)
            self._take_out(instant.time)

    def recover(self) -> list[Instant]:
        """End what other writers have begun: go on with what has a plan, take back the rest.

        Those that are younger than `patience` may be at work still, and are left alone. A
        compaction of the dataset that is only requested waits for whoever runs it. What killed
        writers have left of files that they were writing is removed.
        """
        with self._critical():
            data, metadata = self.timelines()
            self._end_restores(data, metadata)
            recovered = []
            for instant in data.pending:
                if self._is_dead(instant):
                    recovered.append(self._end(instant, data))
            self._sweep(*([self.path] if recovered else []))
            return recovered

    def _is_dead(self, instant: Instant) -> bool:
        if instant.time in self._mine:
            return False
        if instant.action == COMPACTION and instant.state == REQUESTED:
            return False
        return not self._patience or instant.time < instant_at(self._clock() - self._patience)

    def _end(self, instant: Instant, data: Timeline) -> Instant:
        if instant.action in (CLEAN, ROLLBACK, RESTORE):
            plan = self._plan(instant)
            self._data_instants.reserve(instant)
            if instant.action == CLEAN:
                return self._clean(instant, plan["filesToBeDeletedPerPartition"] or {})
            if instant.action == ROLLBACK:
                target = plan["instantToRollback"]
                failed = Instant(target["commitTime"], target["action"], REQUESTED)
                return self._roll_back(instant, failed, self._files_of(failed.time))
            every = data.instants
            named = [entry["commitTime"] for entry in plan["instantsToRollback"]]
            return self._restore(instant, [every[time] for time in named if time in every])
        plan_of_rollback = encode_rollback_plan(instant.time, instant.action)
        undo = self._begin(ROLLBACK, plan_of_rollback)
        return self._roll_back(undo, instant, self._files_of(instant.time))

    def _end_restores(self, data: Timeline, metadata: Timeline) -> None:
        """Remove what restores have taken back that were completed, and died then."""
        for instant in data.instants.values():
            if instant.action == RESTORE and instant.state == COMPLETED:
                named = self._plan(instant)["instantsToRollback"]
                self._forget(data.instants[time] for time in named if time in data.completed)
                for time in named:
                    if time in metadata.instants:
                        self._take_out(time)

    def _plan(self, instant: Instant) -> dict[str, Any]:
        schema = _PLANS[instant.action]
        source = Instant(instant.time, instant.action, REQUESTED)
        if instant.state == COMPLETED:  # of a restore, which says what it has taken back
            source, schema = instant, RESTORED
        try:
            content = self._data_instants.read(source)
            return read_one(content, schema)
        except ValueError as error:
            raise MetadataException(self.path, f"{instant.time} has no plan ({error})") from error

    def _files_of(self, time: str) -> dict[str, set[str]]:
        """Return the files whose names have the action's time, from a listing."""
        mark = re.compile(rf"_{time}\b|_{time}_")
        files_by_partition: dict[str, set[str]] = {}
        for partition, files in listing(self._fs, self.path).items():
            for name in files:
                if mark.search(name):
                    files_by_partition.setdefault(partition, set()).add(name)
        return files_by_partition

    def _delete_data(self, deleted: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
        """Delete files of the dataset; return those that could not be deleted."""
        failed: dict[str, set[str]] = {}
        for partition, names in deleted.items():
            for name in sorted(names):
                try:
                    self._fs.delete(f"{self.path}/{below(partition, name)}")
                except FileNotFoundError:
                    continue
                except OSError:
                    failed.setdefault(partition, set()).add(name)
        return failed
