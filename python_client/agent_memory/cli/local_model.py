"""What keeps the local embedding model of an embedded store from serving, and the command that helps."""

from __future__ import annotations

from typing import Any

import psycopg
from agent_memory_models import ModelError, reason_to_keep
from psycopg.rows import dict_row

from ..client.background import models, submit
from ..local import DEFAULT_NAME, what_it_lacks

_PROBLEM = "embedding model"
_LOCAL = """
select name, provider, model, settings from memory.models
where is_active and kind = 'embedding' and provider = 'local'
"""


def explain(problems: list[dict[str, Any]], connection: psycopg.Connection[Any]) -> None:
    """Say of an embedded store why it has no embedding model, or why the one it has cannot run on this machine.

    Args:
        problems: those that the database has found; the one about the embedding model is made more exact.
        connection: a connection to the store.
    """
    lacks, helps = what_it_lacks()
    for problem in problems:
        if problem["name"] == _PROBLEM and not problem["is_broken"]:
            problem |= {"detail": f"{problem['detail']}; {DEFAULT_NAME} lacks {lacks}", "help": helps}
    for model in connection.cursor(row_factory=dict_row).execute(_LOCAL):
        reason = _reason(model)
        if reason is not None:
            detail = f'searches compare words, not meaning: "{model["name"]}" cannot run here: {reason}'
            problems.append({"name": _PROBLEM, "is_broken": False, "detail": detail, "help": helps})


def _reason(model: dict[str, Any]) -> str | None:
    """Return why a model cannot be loaded here; a search would load it in the same way."""
    try:
        submit(models().run("embed", {"model": model, "prompt": None, "texts": []}, [])).result()
    except ModelError as error:
        return reason_to_keep(error)
    return None
