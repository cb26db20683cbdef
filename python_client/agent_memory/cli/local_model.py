"""Finds the reason why an active local embedding model cannot serve on this machine."""

from __future__ import annotations

from typing import Any

import psycopg
from agent_memory_models import ModelError, reason_to_keep
from psycopg.rows import dict_row

from ..jobs.background import models, submit

_LOCAL = """
select name, provider, model, settings from memory.models
where is_active and kind = 'embedding' and provider = 'local'
"""
HELP = "Correct the setting model_dir or AGENT_MEMORY_MODEL_DIR, or with a network run: agent-memory models local"


def unable(connection: psycopg.Connection[Any]) -> str | None:
    """Return why the active embedding model cannot run on this machine, where it is a local one that cannot."""
    model = connection.cursor(row_factory=dict_row).execute(_LOCAL).fetchone()
    if model is None:
        return None
    try:
        submit(models().run("embed", {"model": model, "prompt": None, "texts": []}, [])).result()
    except ModelError as error:
        return f'searches compare words, not meaning: "{model["name"]}" cannot run here: {reason_to_keep(error)}'
    return None
