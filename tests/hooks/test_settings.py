"""The settings of an assistant: our hooks are added and taken out, and nothing else changes."""

from __future__ import annotations

import json
import re
import shlex
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_memory import InvalidValueError, Memory
from agent_memory.hooks import keep, settings
from agent_memory.hooks.assistants import ASSISTANTS, PATIENCE, UNSEEN_PATIENCE
from agent_memory.hooks.run import _GIVE_UP

from tests.hooks.steps import FILES, Assistant, command
from tests.support.servers import ROOT

pytestmark = pytest.mark.feature("F28")

THEIRS = {
    "plain": '{\n  "model": "opus",\n  "permissions": {"allow": ["Bash(ls:*)"]}\n}\n',
    "empty": "",
    "one line": '{"z": 1, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "a": 1.50}',
    "tabs": '{\n\t"hooks": {\n\t\t"PreToolUse": [\n\t\t\t{"matcher": "Bash", "hooks": []}\n\t\t]\n\t}\n}\n',
}


@pytest.fixture(autouse=True)
def _in_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    for assistant in ASSISTANTS.values():
        monkeypatch.delenv(assistant.variable, raising=False)


@pytest.mark.parametrize("case", THEIRS)
def test_what_others_have_written_stays_and_comes_back_to_the_letter(home: Path, case: str) -> None:
    assistant, theirs = ASSISTANTS["claude-code"], THEIRS[case]
    file = home / FILES[assistant.name]
    file.parent.mkdir()
    file.write_text(theirs, encoding="utf-8")
    file.chmod(0o640)
    settings.install(assistant, {"user": "ana", "dsn": "postgresql:///x"})
    installed = file.read_text(encoding="utf-8")
    value, before = json.loads(installed), json.loads(theirs or "{}")
    for event in assistant.events:
        *others, group = value["hooks"].pop(event)
        assert "agent-memory hooks run" in group["hooks"][0]["command"]
        assert others == before.get("hooks", {}).pop(event, [])
    assert {**before, "hooks": before.get("hooks", {})} == value
    assert list(value)[: len(before)] == list(before)
    assert ("\n\t" in installed) == ("\n\t" in theirs)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert file.with_name(file.name + ".before-agent-memory").read_text(encoding="utf-8") == theirs
    settings.install(assistant, {"user": "ana", "dsn": "postgresql:///x"})
    assert file.read_text(encoding="utf-8") == installed
    assert settings.remove(assistant) == file.resolve()
    assert file.read_text(encoding="utf-8") == (theirs or "{}\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert settings.remove(assistant) is None
    assert not (file.parent / "agent-memory.json").exists()


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_made_for_the_hooks_goes_with_them(home: Path, name: str) -> None:
    for _ in range(2):
        file = settings.install(ASSISTANTS[name], {"user": "ana", "dsn": "postgresql:///x"})
    assert file == (home / FILES[name]).resolve()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert settings.remove(ASSISTANTS[name]) == file
    assert not file.exists()


def test_only_our_command_leaves_a_group_of_somebody_else() -> None:
    file = settings.install(ASSISTANTS["codex"], {"user": "ana", "dsn": "postgresql:///x"})
    value = json.loads(file.read_text(encoding="utf-8"))
    ours = value["hooks"]["Stop"][0]["hooks"][0]["command"]
    theirs = [
        {"type": "command", "command": command}
        for command in (
            "say done", ours.replace("hooks run codex", "hooks run claude-code"), "echo 'agent-memory hooks run codex",
            "/usr/bin/agent-memory users list",
        )
    ]  # fmt: skip
    value["hooks"]["Stop"][0]["hooks"][:0] = theirs
    value["hooks"]["Notification"] = [7, {"hooks": "odd"}, {"hooks": [None, {"command": 7}]}]
    file.write_text(json.dumps(value), encoding="utf-8")
    settings.remove(ASSISTANTS["codex"])
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept == {"hooks": {"Stop": [{"hooks": theirs}], "Notification": value["hooks"]["Notification"]}}


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (b'{"a": 1', "is no JSON without comments"),
        (b'{"a": 1} // mine', "by hand"),
        (b"[]", "it is not an object"),
        (b'{"hooks": []}', "hooks is not an object"),
        (b'{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
        (b'{"a": "\xff"}', "is no text in UTF-8"),
        (b"[" * 100_000, "is no JSON"),
    ],
)
def test_a_broken_file_is_refused_by_name_and_left_as_it_is(home: Path, broken: bytes, said: str) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_bytes(broken)
    calls: list[Callable[[], object]] = [
        lambda: settings.install(ASSISTANTS["claude-code"], {"user": "ana", "dsn": ""}),
        lambda: settings.remove(ASSISTANTS["claude-code"]),
    ]
    for call in calls:
        with pytest.raises(InvalidValueError) as refused:
            call()
        assert said in str(refused.value)
        assert str(file.resolve()) in str(refused.value)
    assert file.read_bytes() == broken
    assert {path.name for path in file.parent.iterdir()} == {"settings.json"}


def test_settings_behind_a_link_stay_behind_it(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text('{"a": 1}\n', encoding="utf-8")
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.symlink_to(real)
    settings.install(ASSISTANTS["claude-code"], {"user": "ana", "dsn": "postgresql:///x"})
    assert file.is_symlink()
    assert "hooks run" in real.read_text(encoding="utf-8")
    settings.remove(ASSISTANTS["claude-code"])
    assert real.read_text(encoding="utf-8") == '{"a": 1}\n'


def test_assistants_that_are_told_another_folder_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, expected in (
        ("CLAUDE_CONFIG_DIR", "settings.json"),
        ("CODEX_HOME", "hooks.json"),
        ("GEMINI_CLI_HOME", ".gemini/settings.json"),
    ):
        monkeypatch.setenv(variable, str(tmp_path / variable))
        [assistant] = [each for each in ASSISTANTS.values() if each.variable == variable]
        assert settings.install(assistant, {"user": "ana", "dsn": ""}) == tmp_path / variable / expected


def test_the_command_records_the_database_that_it_was_given(
    home: Path, assistant: Callable[..., Assistant], dsn: str
) -> None:
    session = assistant("codex")
    kept = home / ".codex" / "agent-memory.json"
    assert json.loads(kept.read_text(encoding="utf-8")) == {"user": "ana", "dsn": dsn, "made_file": True}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600  # the string may have a password
    assert dsn not in session.file.read_text(encoding="utf-8")
    session.install("--user", "ana", AGENT_MEMORY_DSN=dsn)
    assert json.loads(kept.read_text(encoding="utf-8"))["dsn"] == dsn
    session.environment["AGENT_MEMORY_DSN"] = "postgresql://nobody@127.0.0.1:1/nothing"
    session.turn("Hello", "Hello!")
    assert session.log == ""


def test_what_cannot_be_installed_leaves_the_settings_alone(home: Path, dsn: str) -> None:
    for options, said in (
        (["--dsn", dsn, "--store", str(home / "store")], "--store: names an embedded store"),
        (["--dsn", "postgresql://127.0.0.1:1/nothing"], "refused"),
    ):
        done = command("hooks", "install", "claude-code", *options, home=home)
        assert done.returncode == 1
        assert said in done.stderr
    assert not list(home.iterdir())
    assert "has no hooks" in command("hooks", "remove", "claude-code", home=home).stdout


@pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning")
def test_the_page_says_what_is_installed(home: Path, dsn: str) -> None:
    page = (ROOT / "docs" / "assistants.md").read_text(encoding="utf-8")
    for name, assistant in ASSISTANTS.items():
        [row] = re.findall(rf"^\| `{name}` \|(.*)$", page, re.MULTILINE)
        assert f"`~/{assistant.folder}/{assistant.file}` (`{assistant.variable}`)" in row
        assert row.endswith(f"| {', '.join(f'`{event}`' for event in assistant.events)} |")
    assert f"After {PATIENCE * _GIVE_UP:g} seconds" in page
    assert f"so they have {UNSEEN_PATIENCE * _GIVE_UP:g}" in page
    assert "running for half an hour" in page
    assert keep.SECONDS == 1800
    [shell] = re.findall(r"^(agent-memory hooks install \S+)", page, re.MULTILINE)
    done = command(*shlex.split(shell)[1:], "--dsn", dsn, home=home)
    assert done.returncode == 0, done.stderr
    [example] = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    with Memory(dsn) as memory:
        exec(example, {"memory": memory})
        [added] = memory.list_memories("ana", filter={"folder": "/home/ana/app"})
        assert added.content == "The tests run with pytest"
