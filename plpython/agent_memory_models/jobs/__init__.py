"""One module for each kind of job, named as the kind; there is no list of them.

A module defines `async def run(task: Task) -> Result`, which turns `task.payload` into the result that
memory.complete_job takes. The version for the built-in model, the variables of the prompt and the checks of a chat
model's reply stand in the same module, or in a module of text/ or chat/ where several kinds share them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

from ..errors import ModelError
from ..payload import Result
from ..task import Task

_KIND = re.compile(r"[a-z][a-z0-9_]*")


class JobModule(Protocol):
    """A module of this folder."""

    def run(self, task: Task) -> Awaitable[Result]:
        """The result of a job of this kind. Raises RateLimitedError and ModelError."""


def job_module(kind: str) -> JobModule:
    """The module of a kind of job, imported by the first job of the kind. Raises ModelError for an unknown kind."""
    name = f"{__name__}.{kind}"
    if _KIND.fullmatch(kind):
        try:
            return cast(JobModule, import_module(name))
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
    raise ModelError(f"unknown kind of job: {kind}")


def import_job_modules() -> None:
    """Import the module of every kind, as a long-lived worker does before it claims: no lease pays for an import."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
