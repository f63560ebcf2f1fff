"""Checks of one stream that several threads share."""

from fscontract.contract.suite.concurrency.check import check_concurrency
from fscontract.contract.suite.concurrency.replay import ScheduleReplay, replay_schedule
from fscontract.contract.suite.concurrency.report import ConcurrencyReport
from fscontract.contract.suite.concurrency.schedule import Schedule

__all__ = [
    "ConcurrencyReport",
    "Schedule",
    "ScheduleReplay",
    "check_concurrency",
    "replay_schedule",
]
