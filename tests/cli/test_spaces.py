"""agent-memory spaces: list, create, grant, revoke and delete."""

from __future__ import annotations

import json
import shlex

import psycopg
import pytest
from agent_memory import Memory

from tests.support.servers import ROOT, Run

pytestmark = pytest.mark.feature("F24")


def test_a_space_from_its_creation_to_its_end(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    assert run("spaces").stdout == "No spaces.\n"
    created = run("spaces", "create", "acme", "--title", "ACME, everybody")
    assert (created.returncode, created.stderr) == (0, "")
    assert "agent-memory spaces grant acme USER" in created.stdout
    assert run("spaces", "grant", "acme", "ana").stdout == "ana may read acme.\n"
    assert run("spaces", "grant", "acme", "ben", "write").stdout == "ben may read and write acme.\n"
    memory.add_memory("space:acme", "Releases happen on Thursdays.")

    header, row = run("spaces", "list").stdout.splitlines()
    assert header.split() == ["space", "title", "access", "members", "memories", "created"]
    assert row.split()[:6] == ["acme", "ACME,", "everybody", "2", "1", f"{memory.list_spaces()[0].created_at:%Y-%m-%d}"]
    for arguments, access in ((["list", "ana"], "read"), (["ben"], "write")):
        listed = json.loads(run("spaces", *arguments, "--json").stdout)
        assert (listed["space"], listed["access"], listed["title"]) == ("acme", access, "ACME, everybody")
    assert json.loads(run("spaces", "list", "--json").stdout)["member_count"] == 2

    assert run("spaces", "revoke", "acme", "ana").stdout == "ana may not read acme any more.\n"
    assert run("spaces", "revoke", "acme", "ana").stdout == "ana had no grant of acme.\n"
    assert run("spaces", "ana").stdout == "No spaces.\n"

    asked = run("spaces", "delete", "acme")
    assert (asked.returncode, "cannot be undone" in asked.stderr) == (1, True)
    assert [space.space for space in memory.list_spaces("ben")] == ["acme"]
    receipt = json.loads(run("spaces", "delete", "acme", "--yes", "--json").stdout)
    assert receipt["tables"]["memories"] == 1
    assert memory.list_spaces() == []
    run("spaces", "create", "acme")
    assert "Deleted acme: " in run("spaces", "delete", "acme", stdin="y\n").stdout


def test_what_is_refused_is_said(run: Run) -> None:
    for arguments in (["grant", "acme", "ana"], ["revoke", "acme", "ana"], ["delete", "acme", "--yes"]):
        refused = run("spaces", *arguments)
        assert refused.returncode == 1
        assert "acme" in refused.stderr
        assert refused.stdout == ""
    wrong = run("spaces", "grant", "acme", "ana", "own")
    assert (wrong.returncode, "'own' is not one of" in wrong.stderr) == (2, True)
    run("spaces", "create", "acme")
    assert "Error: " in run("spaces", "create", "acme").stderr


def test_the_commands_of_the_page_run(run: Run) -> None:
    page = (ROOT / "docs" / "spaces.md").read_text(encoding="utf-8")
    commands = [line for line in page.replace("`", "\n").splitlines() if line.startswith("agent-memory spaces ")]
    assert len(commands) == 2
    for command in commands:
        done = run(*shlex.split(command)[1:])
        assert done.returncode == 0, done.stderr
