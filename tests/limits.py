"""The time limit of tests that wait for something."""

from __future__ import annotations

#: Seconds after which a wait counts as deadlocked. No test measures time by it: a correct result
#: comes at once, or later on a busy machine.
DEADLOCK = 900.0
