"""How long a test waits for what it needs to see."""

from __future__ import annotations

#: Seconds after which something that a test waits for counts as deadlocked. No test measures time
#: by it: what is right comes at once, and later on a busy machine.
DEADLOCK = 900.0
