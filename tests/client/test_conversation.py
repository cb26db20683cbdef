"""A conversation of an agent: load_memory, save_memory, clear_conversation."""

import asyncio
import logging

import psycopg
import pytest
from agent_memory import AsyncConversation, AsyncMemory, Conversation, InvalidValueError, Memory
from psycopg.conninfo import make_conninfo

NOWHERE = "host=localhost port=1 dbname=nothing connect_timeout=1"
pytestmark = pytest.mark.feature("A21")


def test_what_is_saved_is_loaded_until_the_conversation_is_cleared(memory: Memory) -> None:
    conversation = Conversation(memory, "ana", "monday")
    assert conversation.load_memory() == []
    conversation.save_memory("user", "Hello")
    stored = conversation.save_memory("assistant", "Hi there!", metadata={"model": "small"})
    assert stored.seq == 1
    assert conversation.load_memory() == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi there!"},
    ]
    assert memory.get_messages("ana", "monday")[1].metadata == {"model": "small"}
    assert conversation.clear_conversation() == 2
    assert conversation.load_memory() == []


def test_a_message_saved_twice_with_one_key_is_stored_once(memory: Memory) -> None:
    conversation = Conversation(memory, "ana", "monday")
    assert [conversation.save_memory("user", "Hello", idempotency_key="1").seq for _ in range(2)] == [0, 0]


def test_the_history_is_loaded_for_the_question_and_within_its_tokens(memory: Memory) -> None:
    Conversation(memory, "ana", "monday").save_memory("user", "My dentist is called Dr Okafor")
    conversation = Conversation(memory, "ana", "tuesday")
    conversation.save_memory("user", "Good morning " * 50)
    [recalled, _] = conversation.load_memory("Which dentist do I have?")
    assert "Okafor" in recalled["content"]
    assert len(conversation.load_memory("Which dentist do I have?", max_tokens=50)) == 1


def test_the_messages_are_those_of_the_agent(memory: Memory) -> None:
    Conversation(memory, "ana", "monday", "planner").save_memory("user", "Plan Porto")
    assert [message.agent_id for message in memory.get_messages("ana", "monday")] == ["planner"]


def test_on_request_a_failing_database_gives_an_empty_history(caplog: pytest.LogCaptureFixture) -> None:
    with Memory(NOWHERE) as memory:
        with pytest.raises(psycopg.OperationalError):
            Conversation(memory, "ana", "monday").load_memory()
        with caplog.at_level(logging.ERROR, logger="agent_memory"):
            assert Conversation(memory, "ana", "monday", empty_on_failure=True).load_memory() == []
        [record] = caplog.records
        assert record.getMessage().startswith("The history of thread 'monday' could not be loaded: ")


def test_a_message_that_cannot_be_saved_is_an_error_all_the_same() -> None:
    with Memory(NOWHERE) as memory, pytest.raises(psycopg.OperationalError):
        Conversation(memory, "ana", "monday", empty_on_failure=True).save_memory("user", "Hello")


def test_an_argument_that_is_refused_is_an_error_all_the_same(memory: Memory) -> None:
    with pytest.raises(InvalidValueError, match="max_tokens"):
        Conversation(memory, "ana", "monday", empty_on_failure=True).load_memory(max_tokens=-1)


def test_the_history_comes_back_when_the_database_does(dsn: str) -> None:
    """The connection is lost once; the pool opens another one for the next call."""
    with Memory(make_conninfo(dsn, application_name="lost"), pool_size=1) as memory:
        conversation = Conversation(memory, "ana", "monday", empty_on_failure=True)
        conversation.save_memory("user", "Hello")
        with psycopg.connect(dsn, autocommit=True) as admin:
            admin.execute(
                "select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = 'lost'"
            )
        assert conversation.load_memory() == []
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
