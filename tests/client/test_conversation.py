"""A conversation of an agent: load_memory, save_memory, clear_conversation."""

import asyncio
import logging

import psycopg
import pytest
from agent_memory import AsyncConversation, AsyncMemory, Conversation, InvalidValueError, Memory
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from tests.support.sqlapi import Api

NOWHERE = "host=localhost port=1 dbname=nothing connect_timeout=1"
pytestmark = pytest.mark.feature("A21")


@pytest.fixture
def memory(api: Api) -> Memory:
    return Memory(api.connection)


def test_what_is_saved_is_loaded_until_the_conversation_is_cleared(memory: Memory) -> None:
    conversation = Conversation(memory, "ana", "monday", "planner")
    assert conversation.load_memory() == []
    conversation.save_memory("user", "Hello")
    stored = conversation.save_memory("assistant", "Hi there!", metadata={"model": "small"})
    assert stored.seq == 1
    assert conversation.load_memory() == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi there!"},
    ]
    kept = memory.get_messages("ana", "monday")
    assert [(message.agent_id, message.metadata) for message in kept] == [
        ("planner", {}), ("planner", {"model": "small"})
    ]  # fmt: skip
    assert conversation.clear_conversation() == 2
    assert conversation.load_memory() == []


def test_the_history_is_loaded_for_the_question_and_within_its_tokens(memory: Memory) -> None:
    Conversation(memory, "ana", "monday").save_memory("user", "My dentist is called Dr Okafor")
    conversation = Conversation(memory, "ana", "tuesday")
    conversation.save_memory("user", "Good morning " * 50)
    [recalled, _] = conversation.load_memory("Which dentist do I have?")
    assert "Okafor" in recalled["content"]
    assert len(conversation.load_memory("Which dentist do I have?", max_tokens=50)) == 1


@pytest.mark.feature("A4")
def test_a_conversation_below_the_threshold_of_its_compression_is_loaded_whole(memory: Memory) -> None:
    """50 messages of 6,000 tokens in all; document A compresses at 8,000."""
    memory.admin.set_policy({"compression": {"threshold_tokens": 8000}})
    said = [{"role": ("user", "assistant")[n % 2], "content": f"{n} " + "some words here " * 30} for n in range(50)]
    for number in range(40):
        memory.add_memory("ana", f"Fact {number}: " + "Porto has bridges over the Douro. " * 10)
    memory.add_messages("ana", "monday", said)
    loaded = Conversation(memory, "ana", "monday").load_memory()
    assert loaded[-50:] == said
    [memories] = loaded[:-50]
    assert "Fact " in memories["content"]
    memory.admin.set_policy({"compression": {"threshold_tokens": 1000}, "context": {"max_tokens": 500}})
    memory.add_messages("bo", "monday", said)
    context = memory.get_context("bo", "monday", whole_thread=True)
    assert 450 < sum(part.token_count for part in context) <= 1500


def test_on_request_a_failing_database_gives_an_empty_history(caplog: pytest.LogCaptureFixture) -> None:
    with Memory(NOWHERE) as memory:
        with pytest.raises(psycopg.OperationalError):
            Conversation(memory, "ana", "monday").load_memory()
        with caplog.at_level(logging.ERROR, logger="agent_memory"):
            assert Conversation(memory, "ana", "monday", empty_on_failure=True).load_memory() == []
        with pytest.raises(psycopg.OperationalError):
            Conversation(memory, "ana", "monday", empty_on_failure=True).save_memory("user", "Hello")
        [record] = caplog.records
        assert record.getMessage().startswith("The history of thread 'monday' could not be loaded: ")


def test_an_argument_that_is_refused_is_an_error_all_the_same(memory: Memory) -> None:
    with pytest.raises(InvalidValueError, match="max_tokens"):
        Conversation(memory, "ana", "monday", empty_on_failure=True).load_memory(max_tokens=-1)


def test_the_history_comes_back_when_the_database_does(dsn: str) -> None:
    database = Identifier(str(conninfo_to_dict(dsn)["dbname"]))
    admin = psycopg.connect(make_conninfo(dsn, dbname="postgres"), autocommit=True)
    with admin, Memory(make_conninfo(dsn, application_name="lost"), pool_size=1) as memory:
        conversation = Conversation(memory, "ana", "monday", empty_on_failure=True)
        conversation.save_memory("user", "Hello")
        admin.execute(SQL("alter database {} allow_connections false").format(database))
        admin.execute("select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = 'lost'")
        for _ in range(3):
            assert conversation.load_memory() == []
        admin.execute(SQL("alter database {} allow_connections true").format(database))
        assert conversation.load_memory() == [{"role": "user", "content": "Hello"}]


def test_the_asynchronous_conversation_does_the_same(dsn: str) -> None:
    async def scenario() -> None:
        async with AsyncMemory(dsn) as memory:
            conversation = AsyncConversation(memory, "ana", "monday")
            await conversation.save_memory("user", "Hello")
            assert await conversation.load_memory() == [{"role": "user", "content": "Hello"}]
            assert await conversation.clear_conversation() == 1
        async with AsyncMemory(NOWHERE) as memory:
            assert await AsyncConversation(memory, "ana", "monday", empty_on_failure=True).load_memory() == []

    asyncio.run(scenario())


def test_what_says_nothing_is_saved(memory: Memory) -> None:
    conversation = Conversation(memory, "ana", "monday")
    conversation.save_memory("assistant", "")
    conversation.save_memory("tool", None)
    buffer = memory.buffer()
    buffer.add_message("ana", "monday", "tool", None)
    buffer.push()
    assert [message.content for message in memory.get_messages("ana", "monday")] == [""] * 3
