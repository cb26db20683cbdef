"""Work that runs by itself: pg_cron, and the settings of the models that jobs use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from protocol import activate, claim, open_jobs, say
from servers import Server, install_agent_memory, running_server
from sqlapi import Api, refused, rolled_back


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api:
        yield api


# pg_cron --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cron_server(server: Server) -> Iterator[Server]:
    """A server whose database "postgres" has pg_cron and agent_memory, and whose database "other" has agent_memory."""
    if server.kind != "system":
        pytest.skip("the embedded server has no pg_cron")
    settings = {"shared_preload_libraries": "pg_cron", "cron.use_background_workers": "on"}
    with running_server("system", settings) as cron_server:
        for dbname in ("postgres", "other"):
            with psycopg.connect(cron_server.conninfo(), autocommit=True) as connection:
                connection.execute("create extension pg_cron" if dbname == "postgres" else "create database other")
            install_agent_memory(cron_server, dbname)
        yield cron_server


@pytest.fixture
def cron(cron_server: Server) -> Iterator[Api]:
    with psycopg.connect(cron_server.conninfo(), autocommit=True) as connection, rolled_back(Api(connection)) as api:
        yield api


def scheduled(api: Api) -> list[Any]:
    return api.query("select jobname, schedule, command, database from cron.job order by jobname")


@pytest.mark.feature("E15")
def test_one_call_schedules_model_work_and_the_sweep_and_another_changes_that(cron: Api) -> None:
    cron.schedule_jobs()
    version = cron.value("select extversion from pg_extension where extname = 'pg_cron'")
    every = "* * * * *" if version.startswith(("1.3", "1.4")) else "10 seconds"
    jobs = [
        ("agent_memory jobs postgres", every, "call memory.run_jobs()", "postgres"),
        ("agent_memory sweep postgres", "17 3 * * *", "select memory.sweep()", "postgres"),
    ]
    assert scheduled(cron) == jobs
    assert cron.schedule_jobs(every="*/5 * * * *", sweep_at="0 4 * * *") == [
        ("agent_memory jobs: */5 * * * *, call memory.run_jobs()",),
        ("agent_memory sweep: 0 4 * * *, select memory.sweep()",),
    ]
    assert [job.schedule for job in scheduled(cron)] == ["*/5 * * * *", "0 4 * * *"]


@pytest.mark.feature("E15")
@pytest.mark.parametrize("argument", ["every", "sweep_at"])
@pytest.mark.parametrize("schedule", [None, "", "often", "99 99 * * *"])
def test_a_schedule_that_is_none_is_refused_and_nothing_is_scheduled(
    cron: Api, argument: str, schedule: str | None
) -> None:
    with refused(argument):
        cron.schedule_jobs(**{"every": "* * * * *", argument: schedule})
    assert scheduled(cron) == []


@pytest.mark.feature("E15")
def test_in_another_database_the_hint_says_what_to_run_where_pg_cron_lives(cron_server: Server, cron: Api) -> None:
    with (
        psycopg.connect(cron_server.conninfo("other"), autocommit=True) as connection,
        pytest.raises(psycopg.errors.FeatureNotSupported, match='database "postgres"') as refusal,
    ):
        Api(connection).schedule_jobs(every="* * * * *")
    hint = (refusal.value.diag.message_hint or "").removeprefix("Run there: ")
    cron.connection.execute(hint)
    assert scheduled(cron) == [
        ("agent_memory jobs other", "* * * * *", "call memory.run_jobs()", "other"),
        ("agent_memory sweep other", "17 3 * * *", "select memory.sweep()", "other"),
    ]


@pytest.mark.feature("E15")
def test_without_pg_cron_the_hint_names_the_worker(api: Api) -> None:
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="pg_cron") as refusal:
        api.schedule_jobs()
    assert "agent-memory worker" in (refusal.value.diag.message_hint or "")


# Models ---------------------------------------------------------------------------------------------------------------

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
    "batch_size": [1, 2048],
    "price_per_million_input": [0, 0.15],
    "price_per_million_output": [0, 60],
}
INVALID: dict[str, list[Any]] = {
    "base_url": [
        1,
        "",
        "localhost:11434/v1",
        ["http://localhost"],
        "http://",
        "http:///v1",
        "https://user:password@localhost/v1",
        "https://api.openai.com\\@localhost/v1",
        "https://localhost/v1?key=secret",
        "https://localhost/v1#x",
        "https://local host/v1",
        "https://localhost/v1\n",
    ],
    "api_key_env": ["", 5, {}, "sk-proj-abc", "AGENT_MEMORY_KEY_DIR", "AGENT_MEMORY_KEY_VARIABLES"],
    "api_key_file": ["/etc/passwd", "../key", "a/b", ".hidden", "", 5],
    "api_version": ["", 2024],
    "timeout_seconds": [0, -1, "5", True],
    "max_concurrency": [0, -1, 1.5, "4", 10**9],
    "temperature": [-1, "hot", [0]],
    "json_mode": ["json", 1, "", {}],
    "dimensions": [0, -3, 4001, 1.5, "1536"],
    "batch_size": [0, 1.5, "all"],
    "price_per_million_input": [-0.01, "0.15", True],
    "price_per_million_output": [-1, {}, "free"],
    "api_key": ["sk-secret"],
    "Temperature": [0],
}


def register(api: Api, **settings: Any) -> None:
    api.register_model(name="gpt", kind="chat", provider="openai", model="gpt-4.1-mini", settings=settings)


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in VALID.items() for value in [*values, None]])
def test_a_setting_of_a_model_reaches_its_jobs(api: Api, key: str, value: Any) -> None:
    register(api, **{key: value})
    api.activate_model(name="gpt")
    say(api, "Hello")
    api.extract_memories(user_id="ana", thread_id="t1")
    assert claim(api).payload["model"]["settings"] == {key: value}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in INVALID.items() for value in values])
def test_an_invalid_setting_of_a_model_is_refused(api: Api, key: str, value: Any) -> None:
    before = api.state()
    with refused("settings") as refusal:
        register(api, **{key: value})
    assert key in (refusal.value.diag.message_primary or "")
    assert api.state() == before


@pytest.mark.parametrize("settings", ["null", "[]", '"x"', "1"])
def test_settings_of_a_model_are_an_object(api: Api, settings: str) -> None:
    with refused("settings"):
        api.query(f"select memory.register_model('gpt', 'chat', 'openai', 'gpt', '{settings}'::jsonb)")


@pytest.mark.parametrize("kind", ["embedding", "rerank"])
def test_the_built_in_model_does_neither_embed_nor_rerank(api: Api, kind: str) -> None:
    with refused("provider"):
        api.register_model(name="own", kind=kind, provider="local", model="patterns")


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
