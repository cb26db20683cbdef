"""The block of memories in a context."""

from __future__ import annotations

import random

import pytest

from tests.context.steps import at_most, estimate, remember
from tests.support.sqlapi import Api


class TestMemoryBlock:
    @pytest.mark.feature("B10")
    def test_has_the_layout_of_the_prompt(self, api: Api) -> None:
        remember(api, "The user's name is Alice", "Alice works at Google")
        remember(api, "I prefer dark mode", "I like my coffee black", memory_type="preference")
        assert api.render_memories(user_id="ana") == (
            "## Your Memories\n"
            "\n"
            "**Facts about the user or environment:**\n"
            "1. The user's name is Alice\n"
            "2. Alice works at Google\n"
            "\n"
            "**User preferences:**\n"
            "1. I prefer dark mode\n"
            "2. I like my coffee black"
        )

    @pytest.mark.feature("B1", "B10")
    def test_has_a_heading_for_each_type_that_occurs(self, api: Api) -> None:
        api.connection.execute(
            "insert into memory.memory_types (memory_type, heading, description, position) "
            "values ('goal', 'Goals', 'What the user wants to reach', 15)"
        )
        for memory_type in ("conversation_summary", "goal", "context", "fact"):
            remember(api, f"a {memory_type}", memory_type=memory_type)
        headings = [line.strip("*:") for line in api.render_memories(user_id="ana").splitlines() if line[:2] == "**"]
        assert headings == [
            "Facts about the user or environment",
            "Goals",
            "Current context",
            "Previous conversations",
        ]

    @pytest.mark.feature("A3", "B7")
    def test_leaves_out_what_is_not_the_readers_or_not_current(self, api: Api) -> None:
        remember(api, "expired", expires_at="2020-01-01")
        remember(api, "of another agent", agent_id="other")
        api.add_memory(user_id="bob", content="of another user")
        old, _ = api.add_memory(user_id="ana", content="superseded")
        new, _ = api.add_memory(user_id="ana", content="current")
        api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
        gone, _ = api.add_memory(user_id="ana", content="deleted")
        api.delete_memory(user_id="ana", memory_id=gone)
        assert api.render_memories(user_id="ana", agent_id="default").endswith("**\n1. current")

    @pytest.mark.feature("B11")
    def test_is_limited_by_count_to_the_most_important(self, api: Api) -> None:
        assert api.render_memories(user_id="ana") == ""
        for number, importance in enumerate((0.2, 0.9, 0.5, 0.9)):
            remember(api, f"fact {number}", importance=importance)
        assert api.render_memories(user_id="ana", max_memories=2).endswith("**\n1. fact 1\n2. fact 3")
        assert api.render_memories(user_id="ana", max_memories=3).endswith("**\n1. fact 1\n2. fact 2\n3. fact 3")

    @pytest.mark.feature("B11")
    def test_is_limited_by_tokens(self, api: Api) -> None:
        chance = random.Random(1)
        types = ["fact", "preference", "context", "procedural", "episodic", "conversation_summary"]
        for number in range(30):
            remember(
                api, f"{number} " + chance.choice("xé€😀") * chance.randrange(60), memory_type=chance.choice(types)
            )
        everything = api.render_memories(user_id="ana", max_memories=30)
        needed = at_most(api, everything)
        for limit in range(1, needed + 150, 17):
            block = api.render_memories(user_id="ana", max_memories=30, max_tokens=limit)
            used = at_most(api, block) if block else 0
            assert estimate(block) <= used <= limit
            assert block == everything or used > limit * 0.7 - 60
        assert block == everything
