"""What the map of a cluster keeps of a user who was forgotten."""

from __future__ import annotations

import pytest
from agent_memory import Memory
from agent_memory.calls.nodes import user_hash
from agent_memory.cluster import checks, moving

from tests.cluster.databases import PARTITIONS, USERS, Databases

pytestmark = pytest.mark.feature("F14")


def test_the_map_loses_the_hash_of_a_user_who_is_forgotten(databases: Databases) -> None:
    databases.begin("ab", "a" * PARTITIONS)
    user, other = USERS[:2]
    with Memory(databases.dsn["a"]) as memory:
        for each in (user, other):
            memory.add_message(each, "t", "user", "Hello")
            with databases.opened() as opened:
                moving.move_user(opened, each, "b")
        memory.forget_user(user)
    with databases.opened() as opened:
        [finding] = checks.check(opened)
        assert (finding.node, finding.what, finding.is_mended) == ("all", "map", False)
        assert all(finding.is_mended for finding in checks.check(opened, repair=True))
        assert list(checks.check(opened)) == []
    for name in "ab":
        with databases.api(name) as api:
            assert api.value("select users from memory.cluster_map") == {user_hash(other): "b"}
    with Memory(databases.dsn["a"]) as memory:
        assert memory.was_forgotten(user, [{"content": "Hello"}]) == [True]
        assert [message.content for message in memory.get_messages(other, "t")] == ["Hello"]
        memory.add_message(user, "t", "user", "Hello again")
    assert databases.rows("a").keys() == {user}
