"""A process that was forked, as the children of a web server that makes its client before it forks."""

import subprocess
import sys
import textwrap
from collections.abc import Callable

import psycopg
import pytest
from agent_memory import Memory

from tests.support.runners import PATIENCE

CHILDREN = 4
CALLS = 50

HEAD = """
import asyncio, os, sys
from agent_memory import AgentMemoryError, AsyncConversation, AsyncMemory, Conversation, Memory
import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool
dsn = sys.argv[1]

def forked(work):
    # The number of a child process that does the work and says in its status whether that succeeded.
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return child

def wait_for(children):
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)

def refused(call):
    try:
        call()
    except AgentMemoryError as error:
        assert "forked" in error.message and "after the fork" in error.hint, error
    else:
        raise AssertionError("not refused")
"""


@pytest.fixture
def run(dsn: str, db: psycopg.Connection) -> Callable[[str], str]:
    """Return what runs lines of Python in a process of their own, to a good end without a word on stderr."""
    for number in range(CHILDREN + 1):
        Memory(db).add_message(f"user {number}", "t", "user", f"I am user {number}")

    def run(code: str) -> str:
        lines = HEAD + f"CHILDREN, CALLS = {CHILDREN}, {CALLS}\n" + textwrap.dedent(code)
        done = subprocess.run(
            [sys.executable, "-c", lines, dsn], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.mark.feature("A3", "F9")
def test_children_and_their_parent_read_their_own_answers(run: Callable[[str], str]) -> None:
    run("""
        memory = Memory(dsn, pool_size=2)

        def use(number):
            conversation = Conversation(memory, f"user {number}", "t")
            for _ in range(CALLS):
                assert [m.content for m in memory.get_messages(f"user {number}", "t")] == [f"I am user {number}"]
                assert conversation.load_memory()[-1]["content"] == f"I am user {number}"

        use(0)
        children = [forked(lambda number=number: use(number)) for number in range(1, CHILDREN + 1)]
        use(0)
        wait_for(children)
        use(0)
    """)


@pytest.mark.feature("A3", "A17", "F9")
def test_children_of_the_asynchronous_client(run: Callable[[str], str]) -> None:
    run("""
        memory = AsyncMemory(dsn, pool_size=2)

        async def use(number):
            for _ in range(CALLS):
                [message] = await memory.get_messages(f"user {number}", "t")
                assert message.content == f"I am user {number}"

        async def parent():
            await use(0)
            children = [forked(lambda number=number: in_child(number)) for number in range(1, CHILDREN + 1)]
            await use(0)
            await asyncio.to_thread(wait_for, children)
            await use(0)

        def in_child(number):
            asyncio.events._set_running_loop(None)  # as libraries that fork within a loop do
            asyncio.run(use(number))

        asyncio.run(parent())
    """)


def test_a_pool_that_the_child_opens_itself_is_its_own(run: Callable[[str], str]) -> None:
    run("""
        pool = ConnectionPool(dsn, min_size=1, open=False)
        memory = Memory(pool)

        def child():
            with pool:
                memory.version()

        wait_for([forked(child), forked(child)])
    """)


def test_a_child_does_not_wait_for_locks_that_its_parent_holds(run: Callable[[str], str]) -> None:
    run("""
        import threading
        from agent_memory.jobs import background

        memory = Memory(dsn)
        memory.version()
        held = [memory.caller._one_at_a_time, memory._embedder._vectors._lock, background._lock]

        def hold(holding, end):
            for lock in held:
                lock.acquire()
            holding.set()
            end.wait()
            for lock in held:
                lock.release()

        holding, end = threading.Event(), threading.Event()
        thread = threading.Thread(target=hold, args=[holding, end])
        thread.start()
        holding.wait()
        vectors = memory._embedder
        child = forked(lambda: (memory.version(), vectors._vectors.get("m", "t"), background.models(), memory.close()))
        wait_for([child])
        end.set()
        thread.join()
    """)


@pytest.mark.feature("A3", "F9")
def test_a_connection_or_an_open_pool_of_the_parent_is_refused_in_a_child(run: Callable[[str], str]) -> None:
    run("""
        with psycopg.connect(dsn) as connection, ConnectionPool(dsn, min_size=1, open=True) as pool:
            clients = [Memory(connection), Memory(pool)]
            for memory in clients:
                memory.version()
            wait_for([forked(lambda: [refused(memory.version) for memory in clients])])
            for memory in clients:
                memory.version()
    """)


def test_a_buffer_of_a_parent_is_pushed_by_both_and_stored_once(
    run: Callable[[str], str], db: psycopg.Connection
) -> None:
    run("""
        memory = Memory(dsn)
        buffer = memory.buffer()
        buffer.add_message("buffered", "t", "user", "once")
        memory.version()
        wait_for([forked(buffer.push)])
        buffer.push()
    """)
    assert [message.content for message in Memory(db).get_messages("buffered", "t")] == ["once"]
