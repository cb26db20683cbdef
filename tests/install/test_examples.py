"""The examples run unchanged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.support.fake_model_server import Behaviour, FakeModelServer

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.feature("A4")
def test_chat_remembers_what_was_said_in_an_earlier_run(dsn: str, db: psycopg.Connection) -> None:
    def chat(*lines: str) -> str:
        with FakeModelServer(Behaviour(answer="Noted.")) as model:
            env = os.environ | {"AGENT_MEMORY_DSN": dsn, "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url}
            command = [sys.executable, str(EXAMPLES / "chat.py"), "ana"]
            subprocess.run(command, input="\n".join(lines), env=env, text=True, check=True, capture_output=True)
            return str(model.requests[-1].body)

    chat("My name is Ana.", "I prefer trains over planes.")
    assert db.execute("select count(*), sum(message_count) from memory.threads").fetchone() == (1, 4)

    subprocess.run([Path(sys.executable).with_name("agent-memory"), "worker", "--once", "--dsn", dsn], check=True)
    assert "I prefer trains over planes." in chat("Book the journey to Porto!")
