"""The partition of a user, which every language computes alike."""

from __future__ import annotations

import hashlib

import pytest
from agent_memory import partition_of

from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F14")

FIXED = {
    "ana": 6,
    "bob": 60,
    "u1": 29,
    "user-42": 7,
    "Ana": 39,
    "grüße": 2,
    "我喜欢茶": 46,
    "a@example.com": 58,
    " ": 28,
    "x" * 255: 63,
}
"""The values that the documentation gives, for 64 partitions."""


def test_the_documented_values_hold(api: Api) -> None:
    for user_id, place in FIXED.items():
        assert api.partition_of(user_id=user_id) == partition_of(user_id) == place


def test_the_partition_is_the_same_number_in_another_language(api: Api) -> None:
    users = [f"user {number} \N{SNOWMAN}" for number in range(200)]
    for partitions in (1, 1000, 65536):
        found = api.query(
            "select memory.partition_of(u, %(partitions)s) from unnest(%(users)s::text[]) with ordinality as t (u, o)"
            " order by o",
            users=users,
            partitions=partitions,
        )
        digests = [int.from_bytes(hashlib.md5(user_id.encode()).digest()[:4], "big") for user_id in users]
        assert [place for [place] in found] == [digest % partitions for digest in digests]


def test_users_spread_evenly(api: Api) -> None:
    counts = api.query("select memory.partition_of('user ' || n), count(*) from generate_series(1, 64000) n group by 1")
    assert len(counts) == 64
    assert all(850 < count < 1150 for _, count in counts)
