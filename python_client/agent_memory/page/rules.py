"""The policy and the prompts, with what differs from the built-in ones."""

from __future__ import annotations

import json
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

Setting = tuple[str, str, str | None]
"""A key of the policy, its value, and the built-in value where that is another one."""


async def show_rules(visit: Visit) -> Response:
    """Show the policy that applies to a user and an agent, and all prompts."""
    asked, database = visit.asked, visit.database
    [found] = await database.rows(_POLICY, agent=asked.text("agent"), user=asked.text("of"))
    sections = {
        name: _settings(found["policy"][name], found["built_in"].get(name, {})) for name in sorted(found["policy"])
    }
    return visit.shown("rules.html", sections=sections, prompts=await database.rows(_PROMPTS))


def _settings(section: Any, built_in: Any) -> list[Setting]:
    now, before = (each if isinstance(each, dict) else {"": each} for each in (section, built_in))
    settings: list[Setting] = []
    for name in sorted(now | before):
        value, original = (json.dumps(each.get(name), ensure_ascii=False, sort_keys=True) for each in (now, before))
        settings.append((name, value, None if value == original else original))
    return settings
