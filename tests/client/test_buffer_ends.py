"""How a buffer ends: at the end of ``with``, with its process, among other processes; and its asynchronous twin."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from agent_memory import AgentMemoryError, AsyncMemory, Memory, NotConnectedError

pytestmark = pytest.mark.feature("E2")

OUT_OF_REACH = "host=/nonexistent"
FILL = """
import sys
from agent_memory import Memory
buffer = Memory("host=/nonexistent").buffer(sys.argv[1])
for number in range(1_000_000):
    buffer.add_message("ana", "t1", "user", f"{number}" + " and more" * 100)
    print(number, flush=True)
"""


@pytest.fixture
def away() -> Memory:
    """A client whose server is out of reach."""
    return Memory(OUT_OF_REACH)


def contents(memory: Memory, thread_id: str = "t1", user_id: str = "ana") -> list[str]:
    return [message.content for message in memory.get_messages(user_id, thread_id)]


class TestWith:
    def test_the_end_pushes_and_closes(self, memory: Memory, tmp_path: Path) -> None:
        for path in (None, tmp_path / "waiting"):
            with memory.buffer(path) as buffer:
                buffer.add_message("ana", "t1", "user", "hi")
            with pytest.raises(AgentMemoryError, match="closed"):
                len(buffer)
        assert contents(memory) == ["hi", "hi"]
        assert [path.name for path in tmp_path.iterdir()] == ["waiting"]

    def test_closed_inside_it_is_not_pushed(self, memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
        with memory.buffer() as buffer:
            buffer.close()
        assert caplog.records == []

    def test_what_would_be_lost_is_an_error(self, memory: Memory, away: Memory) -> None:
        with pytest.raises(NotConnectedError), away.buffer() as buffer:
            buffer.add_message("ana", "t1", "user", "hi")
        assert len(buffer) == 1
        buffer = memory.buffer()
        buffer.add_message("ana", "t1", "nobody", "refused")
        buffer.add_message("ana", "t1", "user", "stored")
        with pytest.raises(AgentMemoryError, match=r"refused 1 item of the buffer, first a message: role"), buffer:
            pass
        assert [item.arguments["message"]["content"] for item in buffer.items()] == ["refused"]
        assert contents(memory) == ["stored"]

    def test_what_is_on_disk_is_only_logged(
        self, away: Memory, memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.ERROR, "agent_memory"), away.buffer(tmp_path / "waiting") as buffer:
            buffer.add_message("ana", "t1", "user", "hi")
        assert "/nonexistent" in caplog.text
        assert memory.buffer(tmp_path / "waiting").push().messages == 1

    def test_within_a_transaction_of_the_caller_nothing_is_forgotten(self, dsn: str, memory: Memory) -> None:
        with psycopg.connect(dsn) as connection:
            inside = Memory(connection)
            inside.version()
            with inside.buffer() as buffer:
                buffer.add_message("ana", "t1", "user", "hi")
            connection.rollback()
            assert buffer.push().messages == 1
        assert contents(memory) == ["hi"]

    def test_an_error_inside_goes_on_and_what_was_collected_is_pushed(self, memory: Memory, away: Memory) -> None:
        for client, left in ((memory, None), (away, 1)):
            buffer = client.buffer()
            buffer.add_message("ana", "t1", "user", "hi")
            with pytest.raises(ZeroDivisionError), buffer:
                _ = 1 / 0
            assert buffer._spool.is_closed == (left is None)
        assert contents(memory) == ["hi"]
        assert len(buffer) == 1


class TestProcesses:
    def test_a_killed_process_loses_nothing_that_was_added(self, memory: Memory, tmp_path: Path) -> None:
        for seconds in (0.05, 0.3):
            path = tmp_path / f"{seconds}"
            with subprocess.Popen(
                [sys.executable, "-c", FILL, str(path)], stdout=subprocess.PIPE, text=True, env={**os.environ}
            ) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == "0\n"
                time.sleep(seconds)
                process.send_signal(signal.SIGKILL)
                reported = [0, *map(int, process.stdout.read().split("\n")[:-1])]
            with path.open("ab") as file:  # as if the file system had written half a page
                file.write(b"half a pa")
            buffer = memory.buffer(path)
            assert len(buffer) in (len(reported), len(reported) + 1)  # the last one may be kept, but not reported
            count = len(buffer)
            assert buffer.push().messages == count
            stored = [int(text.split()[0]) for text in contents(memory)]
            assert stored == list(range(count))
            memory.delete_thread("ana", "t1")

    def test_processes_share_a_file(self, dsn: str, memory: Memory, tmp_path: Path) -> None:
        path = tmp_path / "waiting"
        code = """
import sys
from agent_memory import Memory
with Memory(sys.argv[1]) as memory:
    for turn in range(20):
        buffer = memory.buffer(sys.argv[2])
        for number in range(10):
            buffer.add_message("ana", sys.argv[3], "user", f"{turn * 10 + number}")
        buffer.push()
        buffer.close()
"""
        names = [f"t{number}" for number in range(4)]
        processes = [subprocess.Popen([sys.executable, "-c", code, dsn, str(path), name]) for name in names]
        assert [process.wait(120) for process in processes] == [0] * 4
        assert len(memory.buffer(path)) == 0
        for name in names:
            assert contents(memory, name) == [f"{number}" for number in range(200)]


def test_the_asynchronous_buffer_does_the_same(dsn: str, memory: Memory, tmp_path: Path) -> None:
    async def twin() -> None:
        async with AsyncMemory(OUT_OF_REACH) as away:
            buffer = away.buffer(tmp_path / "waiting")
            assert await buffer.add_message("ana", "t1", "user", "hi") == 1
            with pytest.raises(NotConnectedError):
                await buffer.push()
            await buffer.close()
        async with AsyncMemory(dsn) as client, client.buffer(tmp_path / "waiting") as buffer:
            await buffer.add_messages("ana", "t1", [{"role": "assistant", "content": "hello"}])
            await buffer.add_message("ana", "t1", "nobody", "x")
            await buffer.add_memory("ana", "Prefers tea")
            pushed, empty = await asyncio.gather(buffer.push(), buffer.push())
            assert (pushed.messages, pushed.memories, empty.messages) == (2, 1, 0)
            assert [item.item_id for item in await buffer.items()] == [3]
            assert await buffer.remove(3)
            assert len(buffer) == 0

    asyncio.run(twin())
    assert contents(memory) == ["hi", "hello"]
    assert memory.count_memories("ana") == 1
