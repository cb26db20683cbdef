"""Calls to a database that may be out of reach, or busy with other transactions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import psycopg

from ..errors import LeaseLostError, RetryableError

logger = logging.getLogger("agent_memory.worker")

Value = TypeVar("Value")

FIRST_BACKOFF, LONGEST_BACKOFF = 0.5, 15.0
"""Seconds between attempts to reach a database that went away: doubled from the first to the longest."""


class AnswerLostError(LeaseLostError):
    """The lease is gone and an earlier attempt had no answer: the database may have accepted that attempt."""


def backoffs() -> Iterator[float]:
    """Yield the seconds to wait before each next attempt, without end."""
    backoff = FIRST_BACKOFF
    while True:
        yield backoff
        backoff = min(backoff * 2, LONGEST_BACKOFF)


async def persistently(action: Callable[[], Awaitable[Value]], note: Callable[[str], None]) -> Value:
    """Repeat a database call while the database is out of reach or concurrent work gets in its way.

    A result may have been paid for, so it is kept for as long as it takes. When the connection broke after the database
    had accepted it, the repetition finds the lease gone, and nothing is applied or recorded twice.
    """
    was_cut_off = False
    for backoff in backoffs():
        try:
            return await action()
        except LeaseLostError as error:
            if was_cut_off:
                raise AnswerLostError(error.message, hint=error.hint) from error
            raise
        except RetryableError as error:
            reason = str(error)
        except psycopg.OperationalError as error:
            if not _is_out_of_reach(error):
                raise
            was_cut_off = True
            reason = str(error)
        note(f"the database call failed: {reason}")
        level = logging.WARNING if backoff == FIRST_BACKOFF else logging.DEBUG
        logger.log(level, "the database call failed, and is repeated until it succeeds: %s", reason)
        await asyncio.sleep(backoff)
    raise AssertionError("the backoffs never end")


def _is_out_of_reach(error: psycopg.OperationalError) -> bool:
    """Tell a lost connection or a server that is starting or stopping from the refusal of one statement."""
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))
