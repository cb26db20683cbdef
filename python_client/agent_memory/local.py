"""The embedding model that a store has when nobody has chosen one: small, local, without a key."""

from __future__ import annotations

from concurrent.futures import Future
from importlib.util import find_spec
from typing import Any

from agent_memory_models import ModelError, reason_to_keep

from .client import Memory
from .client.background import models, submit

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
"""The model that is registered, as fastembed names it: English, 384 dimensions, Apache 2.0, 90 MB.

It has half as many layers as BAAI/bge-small-en-v1.5, so that a query and what was stored a moment ago are embedded
within the time that a search may take. Its queries need no prefix. The figures of bench/results/quality.md are those of
this model.
"""
DEFAULT_NAME = "all-MiniLM-L6-v2"
"""The name under which it is registered."""

_NO_MODEL = "searching by keyword only, no embedding model is active"


def activate_default(memory: Memory) -> bool:
    """Register and activate the default embedding model, unless the store has an embedding model already.

    The weights are loaded before, which downloads them where they are not on this machine (90 MB, once). Where the
    weights or the packages of the extra ``local`` cannot be had, nothing is registered, and a DegradedWarning names the
    command that helps. Two processes may call this at once, and any number of times.

    Args:
        memory: a client of the role that owns the schema.

    Returns:
        Whether the store has an embedding model now.

    Raises:
        AgentMemoryError: the role may not register models.
        psycopg.errors.InsufficientPrivilege: the role may not read memory.models.
    """
    if memory._has_embedding_model():
        return True
    try:
        _load().result()
    except ModelError as error:
        memory._warn_degraded(f"{_NO_MODEL}: {reason_to_keep(error)}", sqlstate="01AM1")
        return False
    memory.register_model(DEFAULT_NAME, "embedding", "local", DEFAULT_MODEL)
    memory.activate_model(DEFAULT_NAME)
    return True


def what_it_lacks() -> tuple[str, str]:
    """Return what the default model lacks on this machine where it is not active, and the command that helps."""
    if find_spec("fastembed") is None:
        return "the packages of the extra local", "Run: pip install 'pg-agent-memory[local]'"
    return (
        "its weights (90 MB)",
        "Run this with a network once, or copy the folder of the model from a machine that has one and run:"
        " export AGENT_MEMORY_MODEL_DIR=FOLDER",
    )


def _load() -> Future[dict[str, Any]]:
    model = {"name": DEFAULT_NAME, "provider": "local", "model": DEFAULT_MODEL, "settings": {}}
    return submit(models().run("embed", {"model": model, "prompt": None, "texts": []}, []))
