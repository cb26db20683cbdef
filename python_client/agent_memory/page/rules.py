"""The policy and the prompts, with their difference to the built-in ones."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from .view import Visit

# No public function shows the built-in texts, because applications need only those in use.
_POLICY = """
select memory.get_policy(agent_id => %(agent)s, user_id => %(user)s) as policy, memory._default_policy() as built_in
"""
_PROMPTS = """
select p.*, d.template as built_in from memory.prompts as p join memory._default_prompts() as d using (name)
order by p.name
"""


@dataclass(frozen=True)
class Line:
    """A line of a difference; ``sign`` is + for one that was added, - for one that was removed, else blank."""

    sign: str
    text: str


@dataclass(frozen=True)
class Setting:
    """A key of the policy; ``built_in`` is None where the built-in policy has the same."""

    name: str
    value: str
    built_in: str | None


async def show_rules(visit: Visit) -> Response:
    """Show the policy that applies to a user and an agent, and all prompts."""
    asked, database = visit.asked, visit.database
    found = await database.row(_POLICY, agent=asked.text("agent"), user=asked.text("of"))
    assert found is not None
    prompts = await database.rows(_PROMPTS)
    return visit.shown(
        "rules.html",
        sections=_sections(found["policy"], found["built_in"]),
        prompts=[(prompt, _difference(prompt["built_in"], prompt["template"])) for prompt in prompts],
    )


def _sections(policy: dict[str, Any], built_in: dict[str, Any]) -> list[tuple[str, list[Setting]]]:
    sections = []
    for section in sorted(policy):
        now, before = _flat(policy[section]), _flat(built_in.get(section, {}))
        settings = []
        for name in sorted(now | before):
            value, original = _written(now.get(name)), _written(before.get(name))
            settings.append(Setting(name, value, None if value == original else original))
        sections.append((section, settings))
    return sections


def _flat(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"": value}


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _difference(before: str, after: str) -> list[Line] | None:
    """Return the added and removed lines of two texts, None if they are the same."""
    if before == after:
        return None
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [Line(line[0], line[2:]) for line in lines if line[0] != "?"]
