"""Prompts as data: shown, edited, checked, versioned, handed out with jobs, and restored."""

from __future__ import annotations

from typing import Any

import pytest
from agent_memory_models.chat.prompts import chat_messages
from agent_memory_models.jobs.extract_memories import QUESTION

from tests.support import rooms
from tests.support.protocol import ANA, activate, claim, complete, lease, say
from tests.support.sqlapi import Api, refused

BUILT_IN = {
    path.parent.name if path.name == "prompt.txt" else path.stem: path.read_text(encoding="utf-8")
    for path in rooms.files("*.txt")
}
VARIABLES = {
    "compress_thread": ["messages", "previous_summary"],
    "consolidate": ["memories"],
    "describe_artifact": ["text"],
    "extract_memories": ["memory_types", "messages"],
    "placeholders": [],
    "reconcile_memories": ["facts"],
    "rerank": ["query", "texts"],
    "screen_texts": ["texts"],
    "summarize_thread": ["end_seq", "messages", "previous_summary", "start_seq"],
    "summarize_user": ["messages", "previous_summary"],
}
EDIT = "What is worth keeping? ☕\nTypes: {{memory_types}}\n---\n{{messages}}"


def prompt(api: Api, name: str = "extract_memories") -> Any:
    [row] = api.query("select * from memory.prompts where name = %(name)s", name=name)
    return row


def template_of(name: str) -> str:
    """A template with all that it needs."""
    return " ".join(["Edited:", *(f"{{{{{variable}}}}}" for variable in VARIABLES[name])])


def handed_out(api: Api) -> Any:
    """The prompt of the extraction that is handed out now."""
    say(api, "Hello")
    api.extract_memories(**ANA)
    job = claim(api, "extract_memories")
    complete(api, job, memories=[])
    return job.payload["prompt"]


@pytest.mark.feature("E9")
def test_the_built_in_prompts_are_shown_with_their_variables(api: Api) -> None:
    rows = api.query(
        "select name, version, template, is_default, variables, changed_by, changed_at from memory.prompts"
    )
    expected = [(name, 1, BUILT_IN[name], True, VARIABLES[name], None, None) for name in VARIABLES]
    assert sorted(rows) == expected


@pytest.mark.feature("E9")
@pytest.mark.parametrize("name", ["extract_memories", "placeholders"])
def test_a_prompt_can_be_edited_and_restored(api: Api, name: str) -> None:
    assert api.set_prompt(name=name, template=template_of(name)) == 2
    assert api.set_prompt(name=name, template=f"{template_of(name)}!") == 3
    row = prompt(api, name)
    assert (row.version, row.template, row.is_default) == (3, f"{template_of(name)}!", False)
    assert (row.changed_by, row.changed_at is not None) == (api.value("select session_user"), True)
    assert api.reset_prompt(name=name) == 4
    row = prompt(api, name)
    assert (row.version, row.template, row.is_default) == (4, BUILT_IN[name], True)
    edits = api.query("select version, template from memory.prompt_versions order by version")
    assert edits == [(2, template_of(name)), (3, f"{template_of(name)}!"), (4, None)]
    others = api.query("select from memory.prompts where name <> %(name)s and version > 1", name=name)
    assert others == []


@pytest.mark.feature("E9")
def test_an_edit_that_drops_a_variable_is_refused(api: Api) -> None:
    for name, variables in VARIABLES.items():
        for dropped in variables:
            template = BUILT_IN[name].replace(f"{{{{{dropped}}}}}", "")
            with refused("template") as refusal:
                api.set_prompt(name=name, template=template)
            assert refusal.value.diag.message_primary == f"template: lacks {{{{{dropped}}}}}"
        assert prompt(api, name).version == 1


@pytest.mark.feature("E9")
@pytest.mark.parametrize("unknown", ["user_id", "Messages", "x" * 3000])
def test_an_unknown_variable_is_refused_with_the_known_ones(api: Api, unknown: str) -> None:
    with refused("template") as refusal:
        api.set_prompt(name="extract_memories", template=f"{EDIT} {{{{ {unknown} }}}}")
    assert refusal.value.diag.message_hint == "There are: {{memory_types}}, {{messages}}"
    assert len(refusal.value.diag.message_primary or "") < 200


@pytest.mark.feature("E9")
def test_an_unknown_prompt_is_refused_with_the_known_ones(api: Api) -> None:
    for name in (None, "embed", "x" * 10_000):
        calls: list[tuple[Any, dict[str, Any]]] = [(api.set_prompt, {"template": EDIT}), (api.reset_prompt, {})]
        for call, template in calls:
            with refused("name", "P0002") as refusal:
                call(name=name, **template)
            assert refusal.value.diag.message_hint == f"There are: {', '.join(VARIABLES)}"


@pytest.mark.feature("E9")
@pytest.mark.parametrize("spelling", ["{{messages}} {{ messages }}", "{{{messages}}}"])
def test_a_variable_may_come_often_and_with_spaces(api: Api, spelling: str) -> None:
    activate(api)
    template = f"{{{{memory_types}}}} {spelling} {{single}} %s \\1 $1 {{% raw %}}"
    api.set_prompt(name="extract_memories", template=template)
    say(api, "Hello {{memory_types}}")
    api.extract_memories(**ANA)
    payload = claim(api).payload
    assert payload["prompt"]["template"] == template
    [message] = chat_messages(payload, QUESTION.variables)
    assert message["content"].count(": Hello {{memory_types}}\n") == spelling.count("messages")
    assert message["content"].endswith("{single} %s \\1 $1 {% raw %}")


@pytest.mark.feature("E9")
def test_a_job_for_a_provider_brings_the_prompt_of_now(api: Api) -> None:
    assert handed_out(api) is None  # the built-in model asks itself nothing
    activate(api)
    assert handed_out(api) == {"name": "extract_memories", "version": 1, "template": BUILT_IN["extract_memories"]}
    api.set_prompt(name="extract_memories", template=EDIT)
    assert handed_out(api) == {"name": "extract_memories", "version": 2, "template": EDIT}
    api.reset_prompt(name="extract_memories")
    assert handed_out(api) == {"name": "extract_memories", "version": 3, "template": BUILT_IN["extract_memories"]}


@pytest.mark.feature("E9")
def test_a_running_job_keeps_the_prompt_it_was_handed_out_with_and_a_retry_has_the_new_one(api: Api) -> None:
    activate(api)
    say(api, "Hello")
    api.extract_memories(**ANA)
    job = claim(api)
    api.set_prompt(name="extract_memories", template=EDIT)
    assert job.payload["prompt"]["version"] == 1
    api.fail_job(**lease(job), error="x", retry_after="0")
    assert claim(api).payload["prompt"]["version"] == 2
