"""Who starts, shares and stops the server of a store."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from agent_memory import Memory
from agent_memory.embedded import open_store

from tests.embedded.steps import PATIENCE, Processes, contents, kill_server, server_pid, server_runs
from tests.support.runners import wait_until

pytestmark = pytest.mark.own_server

USER = "memory = Memory(path=folder); print('open', flush=True); sys.stdin.read()"


@pytest.mark.feature("E17")
def test_the_first_four_lines(home: Path, processes: Processes) -> None:
    code = """
        memory = Memory()
        memory.add_message("ana", "monday", "user", "I prefer trains over planes.")
        print(memory.search("ana", "trains", mode="keyword")[0].content)
    """
    assert processes.run(code) == "I prefer trains over planes.\n"
    folder = home / ".local" / "share" / "agent-memory"
    assert (folder / "data" / "PG_VERSION").exists()
    assert folder.stat().st_mode & 0o777 == 0o700
    wait_until(lambda: not server_runs(folder))
    assert processes.run("print(Memory().get_messages('ana', 'monday')[0].content)") == "I prefer trains over planes.\n"


def test_first_openings_at_once(folder: Path, processes: Processes) -> None:
    code = "memory = Memory(path=folder); print(memory.add_message('ana', 't', 'user', sys.argv[-1]).seq)"
    started = [processes.start(code.replace("sys.argv[-1]", f"'{number}'")) for number in range(4)]
    for process in started:
        _, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, errors) == (0, "")
    with Memory(path=folder) as memory:
        assert sorted(contents(memory)) == ["0", "1", "2", "3"]


@pytest.mark.usefixtures("made")
def test_a_killed_user_has_left_and_the_last_to_leave_stops_the_server(folder: Path, processes: Processes) -> None:
    first, killed = processes.started(USER), processes.started(USER)
    pid = server_pid(folder)
    first.communicate("")
    assert server_pid(folder) == pid
    killed.kill()
    killed.wait()
    with Memory(path=folder):  # takes over its server
        assert server_pid(folder) == pid
    wait_until(lambda: not server_runs(folder))


@pytest.mark.usefixtures("made")
def test_a_store_that_another_process_uses_is_not_stopped_by_a_failed_opening(
    folder: Path, processes: Processes
) -> None:
    with Memory(path=folder) as memory:
        with open_store(folder) as store:
            assert store.folder == folder
        code = """
            from agent_memory.embedded import share
            share.client_version = lambda: "0.0.1"
            try:
                Memory(path=folder)
            except Exception as error:
                print(type(error).__name__)
        """
        assert processes.run(code) == "AgentMemoryError\n"
        assert memory.version()


@pytest.mark.usefixtures("made")
def test_clients_and_threads_of_a_process_share(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        clients = list(pool.map(lambda _: Memory(path=folder), range(8)))
        list(pool.map(lambda number: clients[number].add_message("ana", "t", "user", str(number)), range(8)))
    for client in clients[:-1]:
        client.close()
    assert len(contents(clients[-1])) == 8
    clients[-1].close()
    clients[-1].close()
    wait_until(lambda: not server_runs(folder))
    with Memory(path=folder) as again:
        assert len(contents(again)) == 8


def test_two_names_of_a_folder_are_one_store(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    with Memory(path=folder) as first, Memory(path="link") as second, Memory(path="~/../store") as third:
        first.add_message("ana", "t", "user", "Hi")
        assert contents(second) == contents(third) == ["Hi"]


@pytest.mark.usefixtures("made")
def test_a_server_that_was_killed_is_started_again(folder: Path) -> None:
    with Memory(path=folder) as memory:
        memory.add_message("ana", "t", "user", "before")
        kill_server(folder)
        wait_until(lambda: not server_runs(folder))
        memory.add_message("ana", "t", "user", "after")
        assert contents(memory) == ["before", "after"]


@pytest.mark.usefixtures("made")
def test_a_number_in_the_pid_file_that_is_another_process_by_now(folder: Path, processes: Processes) -> None:
    processes.started(USER)
    kill_server(folder)
    file = folder / "data" / "postmaster.pid"
    file.write_text("\n".join([str(os.getpid()), *file.read_text().splitlines()[1:]]))
    with Memory(path=folder) as memory:
        assert contents(memory) == []
    # The server that is stopped is the store's.
    wait_until(lambda: not server_runs(folder) or server_pid(folder))


@pytest.mark.usefixtures("made")
def test_a_forked_child_opens_the_store_itself(folder: Path, processes: Processes) -> None:
    code = """
        memory = Memory(path=folder)
        memory.add_message("ana", "t", "user", "parent")
        if not os.fork():
            memory.add_message("ana", "t", "user", "child")
            sys.exit()
        os.wait()
        print(len(memory.get_messages("ana", "t")))
        if not os.fork():
            # A child that outlives its parent keeps the server.
            memory.version()
            time.sleep(1)
            memory.add_message("ana", "t", "user", "grandchild")
            os.close(1)
            sys.exit()
    """
    assert processes.run(code) == "2\n"
    with Memory(path=folder) as memory:
        assert contents(memory) == ["parent", "child", "grandchild"]


@pytest.mark.usefixtures("made")
def test_a_forked_child_that_uses_no_memory_holds_nothing(folder: Path, processes: Processes) -> None:
    code = """
        memory = Memory(path=folder)
        if not os.fork():
            [os.close(number) for number in (0, 1, 2)]
            while not os.path.exists(folder + ".end"):
                time.sleep(0.05)
            os._exit(0)
    """
    try:
        processes.run(code)
        wait_until(lambda: not server_runs(folder))
    finally:
        folder.with_name(folder.name + ".end").touch()
