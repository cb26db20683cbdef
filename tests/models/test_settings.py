"""Settings of models: which are valid, and how they reach jobs."""

from __future__ import annotations

from typing import Any

from tests.support.protocol import activate, claim, open_jobs, say
from tests.support.sqlapi import Api, refused

VALID: dict[str, list[Any]] = {
    "base_url": ["http://localhost:11434/v1", "https://[::1]:8080", "https://x.openai.azure.com/"],
    "api_key_env": ["MY_KEY", "AGENT_MEMORY_KEY_PROXY", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"],
    "api_key_file": ["openai", "open.ai-key_2"],
    "api_version": ["2024-10-21"],
    "timeout_seconds": [0.5, 600],
    "max_concurrency": [1, 64],
    "temperature": [0, 1.5],
    "json_mode": ["schema", "object", "off", True, False],
    "dimensions": [1, 1536, 4000],
    "nothing_below": [-1, 0, 0.2],
    "batch_size": [1, 2048],
    "model_dir": ["/opt/models/all-MiniLM-L6-v2"],
    "query_prefix": ["query: ", ""],
    "text_prefix": ["passage: ", ""],
    "input_type": [{}, {"query": "search_query", "text": "search_document"}, {"query": "query", "text": None}],
    "context_tokens": [256, 4096, 1_000_000],
    "max_output_tokens": [16, 8000],
    "request": [{}, {"seed": 1, "reasoning_effort": "low", "options": {"num_thread": 2}}],
    "price_per_million_input": [0, 0.15],
    "price_per_million_output": [0, 60],
}
INVALID: dict[str, list[Any]] = {
    "base_url": [
        1, "localhost:11434/v1", "http:///v1", "https://user:password@localhost/v1", "https://localhost/v1#x",
        "https://api.openai.com\\@localhost/v1", "https://localhost/v1?key=secret", "https://localhost/v1\n",
    ],
    "api_key_env": ["", 5, {}, "sk-proj-abc", "AGENT_MEMORY_KEY_DIR", "AGENT_MEMORY_KEY_VARIABLES"],
    "api_key_file": ["/etc/passwd", "../key", "a/b", ".hidden", "", 5],
    "api_version": ["", 2024],
    "timeout_seconds": [0, -1, "5", True],
    "max_concurrency": [0, -1, 1.5, "4", 10**9],
    "temperature": [-1, "hot", [0]],
    "json_mode": ["json", 1, "", {}],
    "dimensions": [0, -3, 4001, 1.5, "1536"],
    "nothing_below": [-1.1, 1, "0.2"],
    "batch_size": [0, 1.5, "all"],
    "model_dir": ["", "models", "../models", 5, "/models\n"],
    "query_prefix": [5, ["query: "], "q" * 1001],
    "text_prefix": [5, "t" * 1001],
    "input_type": ["query", {"queries": "query"}, {"query": 1}, []],
    "context_tokens": [0, 255, 4096.5, "4096", 10**9],
    "max_output_tokens": [0, 15, 0.5, "all"],
    "request": ["seed", [], {"model": "other"}, {"messages": []}, {"stream": True}],
    "price_per_million_input": [-0.01, "0.15", True],
    "price_per_million_output": [-1, {}, "free"],
    "api_key": ["sk-secret"],
    "Temperature": [0],
}  # fmt: skip


def register(api: Api, **settings: Any) -> None:
    api.register_model(name="gpt", kind="chat", provider="openai", model="gpt-4.1-mini", settings=settings)


def test_settings_of_a_model_reach_its_jobs(api: Api) -> None:
    for key, values in VALID.items():
        for value in [*values, None]:
            register(api, **{key: value})
            assert api.value("select settings from memory.models where name = 'gpt'") == {key: value}
    api.activate_model(name="gpt")
    say(api, "Hello")
    api.extract_memories(user_id="ana", thread_id="t1")
    assert claim(api).payload["model"]["settings"] == {"price_per_million_output": None}


def test_an_invalid_setting_of_a_model_is_refused(api: Api) -> None:
    before = api.state()
    for key, values in INVALID.items():
        for value in values:
            with refused("settings") as refusal:
                register(api, **{key: value})
            assert key in (refusal.value.diag.message_primary or "")
    with refused("settings"):
        api.query("select memory.register_model('gpt', 'chat', 'openai', 'gpt', '[]'::jsonb)")
    assert api.state() == before


def test_a_model_keeps_its_kind(api: Api) -> None:
    register(api)
    with refused("kind", "23505"):
        api.register_model(name="gpt", kind="embedding", provider="openai", model="gpt")


def test_one_model_of_each_kind_is_active(api: Api) -> None:
    for name, kind in (("gpt", "chat"), ("ada", "embedding"), ("bge", "embedding")):
        activate(api, name, kind)
    active = api.query("select kind, name from memory.models where is_active order by kind")
    assert active == [("chat", "gpt"), ("embedding", "bge")]
    assert open_jobs(api) == []
