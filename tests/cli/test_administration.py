"""The commands of administrators: install, doctor, prompts, usage and health."""

import json
from pathlib import Path

import psycopg
import pytest

from tests.install.steps import VERSION
from tests.support.servers import Run


def test_install(run: Run, empty_dsn: str) -> None:
    first = run("install", "--dsn", empty_dsn)
    assert first.returncode == 0, first.stderr
    assert "Installed agent_memory" in first.stdout
    assert "pgvector" in first.stdout
    second = run("install", "--dsn", empty_dsn)
    assert second.returncode == 0
    assert "is current already" in second.stdout


def test_doctor_fails_when_a_check_fails(run: Run, db: psycopg.Connection) -> None:
    db.execute("update memory.models set is_active = false where kind = 'chat'")
    result = run("doctor")
    assert result.returncode == 1
    assert ["broken", "chat", "model"] in [line.split()[:3] for line in result.stdout.splitlines()]
    assert result.stderr == ""


def test_libpq_environment(run: Run, dsn: str) -> None:
    parts = psycopg.conninfo.conninfo_to_dict(dsn)
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}
    environment = {variable: str(parts[name]) for name, variable in names.items()}
    assert run("doctor", AGENT_MEMORY_DSN="postgresql://", **environment).returncode == 0


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout.startswith(f"agent-memory {VERSION}\n")
    assert run("-h").stdout == run("--help").stdout
    assert "With none of them, an address with a token is printed" in " ".join(run("serve", "--help").stdout.split())


def test_sweep_goes_on_until_nothing_is_left(run: Run, db: psycopg.Connection) -> None:
    db.execute(
        "select memory.add_message('ana', 't', 'user', 'x', expires_at => now() - interval '1 hour',"
        " created_at => now() - interval '2 hours') from generate_series(1, 25)"
    )
    assert json.loads(run("sweep", "--batch-size", "10", "--json").stdout)["messages"] == 25
    assert ["messages", "0"] in [line.split() for line in run("sweep").stdout.splitlines()]


@pytest.mark.feature("E9")
def test_prompts(run: Run, tmp_path: Path) -> None:
    shown = run("prompt", "show", "consolidate")
    assert shown.returncode == 0, shown.stderr
    assert "{{memories}}" in shown.stdout
    assert shown.stderr == "consolidate: built in; it needs memories\n"

    path = tmp_path / "prompt.txt"
    path.write_text(f"Be brief. [bold]\n{shown.stdout}", encoding="utf-8-sig")
    edited = run("prompt", "edit", "consolidate", "--file", path)
    assert (edited.returncode, edited.stdout) == (0, "consolidate is version 2 now.\n"), edited.stderr
    shown_again = run("prompt", "show", "consolidate")
    assert shown_again.stdout == f"Be brief. [bold]\n{shown.stdout}"
    assert shown_again.stderr.startswith("consolidate: version 2 of 20")

    path.write_text("Be brief.")
    refused = run("prompt", "edit", "consolidate", "--file", path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("Error: template: lacks {{memories}}\nHint: ")

    reset = run("prompt", "reset", "consolidate")
    assert (reset.returncode, reset.stdout) == (0, "consolidate is the built-in one again, as version 3.\n")
    assert run("prompt", "show", "consolidate").stdout == shown.stdout
    unknown = run("prompt", "show", "nonsense")
    assert unknown.returncode == 1
    assert unknown.stderr.startswith('Error: there is no prompt "nonsense"\nHint: There are compress_thread, ')


def test_health(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "health.json"
    missing = run("health", path)
    assert missing.returncode == 1
    assert missing.stderr == (
        f"Error: there is no file {path}\nHint: A worker writes it: agent-memory worker --health-file {path}\n"
    )
    assert run("worker", "--once", "--listen", "--health-file", path).returncode == 0
    alive = run("health", path)
    assert alive.returncode == 0, alive.stderr
    assert alive.stdout.endswith(" s ago, 0 in flight\n")
    state = json.loads(path.read_text())
    path.write_text(json.dumps({**state, "time": "2025-01-01T00:00:00+00:00", "last_error": "no route to the host"}))
    stale = run("health", path, "--max-age", "3600")
    assert stale.returncode == 1
    error, hint = stale.stderr.splitlines()
    assert error.startswith(f"Error: {state['worker']} was polling ")
    assert error.endswith(" s ago, 0 in flight; at most 3600 s are allowed")
    assert hint == "Hint: Its last error: no route to the host"
