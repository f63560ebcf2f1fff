"""Options of the pytest runs that tests start."""

from __future__ import annotations

#: Leaves out plug-ins of the developer's environment that no such run uses. Importing them takes
#: longer than all else at the start of a process: Zarr's imports NumPy.
WITHOUT_OTHERS = "-p no:zarr -p no:inline_snapshot -p no:fakefs -p no:anyio"
