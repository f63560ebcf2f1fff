"""Checks of one stream that several threads share."""

from fscontract.contract.concurrency.check import (
    ConcurrencyReport,
    ScheduleReplay,
    check_concurrency,
    replay_schedule,
)
from fscontract.contract.concurrency.schedule import Schedule

__all__ = [
    "ConcurrencyReport",
    "Schedule",
    "ScheduleReplay",
    "check_concurrency",
    "replay_schedule",
]
