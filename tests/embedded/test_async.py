"""The asynchronous client of an embedded store, whose event loop never waits for the store."""

import asyncio
import time
from pathlib import Path

import pytest
from agent_memory import AsyncMemory, Memory

from tests.embedded.steps import Processes, contents, kill_server, server_runs
from tests.support.runners import wait_until

pytestmark = pytest.mark.own_server


def test_the_event_loop_goes_on_while_the_store_is_made(folder: Path) -> None:
    async def use() -> float:
        longest, last, is_done = 0.0, time.perf_counter(), False

        async def watch() -> None:
            nonlocal longest, last
            while not is_done:
                await asyncio.sleep(0.005)
                now = time.perf_counter()
                longest, last = max(longest, now - last), now

        watcher = asyncio.create_task(watch())
        memory = AsyncMemory(path=folder)
        # Calls at once: one of them opens the store, and the others wait.
        await asyncio.gather(*(memory.add_message("ana", "t", "user", str(number)) for number in range(5)))
        assert len(await memory.get_messages("ana", "t")) == 5
        await memory.close()
        is_done = True
        await watcher
        return longest

    began = time.perf_counter()
    longest = asyncio.run(use())
    # Most of the time is that of initdb.
    assert longest < (time.perf_counter() - began) / 3
    wait_until(lambda: not server_runs(folder))


@pytest.mark.usefixtures("made")
def test_one_client_in_several_event_loops_and_no_close(folder: Path, processes: Processes) -> None:
    code = """
        import asyncio

        async def use():
            memory = AsyncMemory(path=folder)
            await memory.add_message("ana", "t", "user", "Hi")
            return memory

        first, second = asyncio.run(use()), asyncio.run(use())
    """
    processes.run(code)
    wait_until(lambda: not server_runs(folder))
    with Memory(path=folder) as memory:
        assert contents(memory) == ["Hi", "Hi"]


@pytest.mark.usefixtures("made")
def test_a_server_that_was_killed_is_started_again(folder: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(path=folder) as memory:
            await memory.add_message("ana", "t", "user", "before")
            kill_server(folder)
            await asyncio.to_thread(wait_until, lambda: not server_runs(folder))
            await memory.add_message("ana", "t", "user", "after")
            assert len(await memory.get_messages("ana", "t")) == 2

    asyncio.run(use())
