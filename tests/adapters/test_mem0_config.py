"""mem0's configuration: which database and which models it names."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory.adapters import mem0

pytestmark = [
    pytest.mark.feature("F15"),
    pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning"),  # no embedding model is active
]


def test_database_and_models_are_those_of_the_configuration(dsn: str, db: psycopg.Connection) -> None:
    parts = psycopg.conninfo.conninfo_to_dict(dsn)
    config = {
        "vector_store": {
            "provider": "pgvector",
            "config": {key: parts[key] for key in ("dbname", "user", "host", "port") if key in parts},
        },
        "llm": {"provider": "openai", "config": {"model": "gpt-4.1-mini", "temperature": 0.1}},
        "embedder": {"provider": "ollama", "config": {"model": "nomic-embed-text", "embedding_dims": 768}},
        "version": "v1.1",
    }
    models = "select kind, provider, model, settings from memory.models where is_active order by kind"
    embedding = {"base_url": "http://localhost:11434/v1", "dimensions": 768}
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            m = mem0.Memory.from_config(config)
        assert db.execute(models).fetchall() == [
            ("chat", "openai", "gpt-4.1-mini", {"temperature": 0.1}),
            ("embedding", "openai", "nomic-embed-text", embedding),
        ]
    # The second call found its models active.
    assert db.execute("select count(*) from memory.audit where function = 'register_model'").fetchone() == (2,)
    m.add("Likes tea", infer=False, user_id="ana")
    assert db.execute("select user_id from memory.memories").fetchall() == [("ana",)]


def test_each_key_that_is_not_used_is_named(dsn: str) -> None:
    config = {
        "vector_store": {
            "provider": "pgvector",
            "config": {"connection_string": dsn, "collection_name": "notes", "hnsw": True, "diskann": None},
        },
        "llm": {"config": {"model": "gpt-4.1-mini", "api_key": "sk-secret", "top_p": 0.1}},
        "embedder": {"config": {"model": "e", "azure_kwargs": {"azure_endpoint": "https://a"}}},
        "history_db_path": "/tmp/history.db",
        "custom_instructions": "Be brief.",
        "graph_store": {"provider": "neo4j"},
    }
    with pytest.warns(UserWarning, match="this is not used") as caught:
        mem0.Memory.from_config(config)
    [text] = [str(warning.message) for warning in caught if "this is not used" in str(warning.message)]
    for key in (
        "vector_store.config.collection_name",
        "vector_store.config.hnsw",
        "llm.config.api_key",
        "llm.config.top_p",
        "embedder.config.azure_kwargs",
        "history_db_path",
        "custom_instructions",
        "Keys of models are never stored",
        "graph_store",
    ):
        assert key in text
    assert "sk-secret" not in text
    assert "diskann" not in text
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"vector_store": {"provider": "qdrant", "config": {"path": "/tmp/q"}}}, "vector_store.provider: .*qdrant"),
        ({"llm": {"provider": "anthropic", "config": {"model": "m"}}}, "llm.provider: anthropic is not read"),
        ({"embedder": {"provider": "ollama"}}, "embedder.config.model: name the model"),
    ],
)
def test_what_means_nothing_here_is_an_error_that_names_the_key(config: dict[str, Any], says: str) -> None:
    for kind in (mem0.Memory, mem0.AsyncMemory):
        with pytest.raises(ValueError, match=says):
            kind.from_config(config)


@pytest.mark.parametrize(("place", "kind"), [("llm", "chat"), ("embedder", "embedding")])
def test_a_model_that_is_not_named_is_the_one_that_mem0_takes(
    dsn: str, db: psycopg.Connection, place: str, kind: str
) -> None:
    package = importlib.util.find_spec("mem0")
    if package is None or package.origin is None:
        pytest.skip("mem0 is not installed")
    folder = Path(package.origin).parent / {"chat": "llms", "embedding": "embeddings"}[kind]
    store = {"provider": "pgvector", "config": {"connection_string": dsn}}
    mem0.Memory.from_config({"vector_store": store, place: {"provider": "openai"}})
    [(model,)] = db.execute("select model from memory.models where is_active and kind = %s", [kind]).fetchall()
    assert f'"{model}"' in (folder / "openai.py").read_text()
