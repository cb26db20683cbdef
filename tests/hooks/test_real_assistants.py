"""The real Claude Code, Codex and Gemini CLI with our hooks, each against a model's server on this machine.

``make nightly`` writes the versions that this ran with into docs/reliability.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_memory import Memory
from agent_memory.hooks.assistants import ASSISTANTS

from tests.hooks.real import REAL, CannotHaveError
from tests.hooks.steps import FILES, Assistant, command
from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.runners import wait_until

pytestmark = [pytest.mark.feature("F28"), pytest.mark.nightly]

KEY = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789" * 2
KNOWN = "The tests of this project run with: make check-everything"
FIRST, SECOND, THIRD = f"Deploy the lighthouse with {KEY}", "What did we deploy?", "And what now?"
MASKED = FIRST.replace(KEY, "(credential: Anthropic key)")
ANSWER = "The harbour master agreed."


@pytest.mark.parametrize("name", FILES)
def test_a_real_assistant_is_told_and_its_turns_are_stored(
    name: str,
    home: Path,
    assistant: Callable[..., Assistant],
    dsn: str,
    record_property: Callable[[str, object], None],
) -> None:
    real = REAL[name]
    record_property("assistant", ASSISTANTS[name].title)
    try:
        record_property("version", real.installed())
    except CannotHaveError as error:
        pytest.skip(str(error))
    with FakeModelServer(Behaviour(answer=ANSWER)) as model, Memory(dsn) as memory:
        url = model.url.removesuffix("/v1")
        real.write_files(home, url)
        before = (home / FILES[name]).read_bytes()
        session = assistant(name)
        memory.add_memory("ana", KNOWN, metadata={"folder": str(session.cwd)})

        def asked(prompt: str) -> str:
            """The request of a model that the prompt led to, after the assistant has printed the answer."""
            assert ANSWER in real.ask(session, prompt, url)
            [*_, sent] = [text for each in model.requests if prompt in (text := json.dumps(each.body))]
            return sent

        def stored() -> list[list[tuple[str, str]]]:
            """What was said in each thread, the first thread first."""
            threads = [thread.thread_id for thread in reversed(memory.list_threads("ana"))]
            return [[(each.role, each.content) for each in memory.get_messages("ana", thread)] for thread in threads]

        assert KNOWN in asked(FIRST)
        first = [("user", MASKED), ("assistant", ANSWER)]
        wait_until(lambda: stored() == [first])
        told = asked(SECOND)
        for text in (KNOWN, MASKED, ANSWER):
            assert text in told
        assert KEY not in told
        both = [first, [("user", SECOND), ("assistant", ANSWER)]]
        wait_until(lambda: stored() == both)
        assert {thread.metadata["folder"] for thread in memory.list_threads("ana")} == {str(session.cwd)}
        assert session.log == ""

        done = command("hooks", "remove", name, home=home)
        assert done.returncode == 0, done.stderr
        assert (home / FILES[name]).read_bytes() == before
        untold = asked(THIRD)
        assert KNOWN not in untold
        assert MASKED not in untold
        assert stored() == both
