"""The partition of a user, which every language computes alike."""

from __future__ import annotations

import hashlib

import pytest

from tests.support.sqlapi import Api, refused

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


def digest(user_id: str, partitions: int) -> int:
    return int.from_bytes(hashlib.md5(user_id.encode()).digest()[:4], "big") % partitions


@pytest.mark.parametrize("user_id", FIXED)
def test_the_documented_values_hold(api: Api, user_id: str) -> None:
    assert api.partition_of(user_id=user_id) == FIXED[user_id]


@pytest.mark.parametrize("partitions", [1, 2, 3, 64, 256, 1000, 65536])
def test_the_partition_is_the_same_number_in_another_language(api: Api, partitions: int) -> None:
    users = [f"user {number} \N{SNOWMAN}" for number in range(200)]
    found = api.query(
        "select memory.partition_of(u, %(partitions)s) from unnest(%(users)s::text[]) with ordinality as t (u, o)"
        " order by o",
        users=users,
        partitions=partitions,
    )
    assert [place for [place] in found] == [digest(user_id, partitions) for user_id in users]


def test_users_spread_evenly(api: Api) -> None:
    counts = api.query("select memory.partition_of('user ' || n), count(*) from generate_series(1, 64000) n group by 1")
    assert len(counts) == 64
    assert all(850 < count < 1150 for _, count in counts)


def test_the_encoding_of_the_database_does_not_matter(api: Api) -> None:
    assert api.value("select memory.partition_of(convert_from('\\xc3a9'::bytea, 'UTF8'))") == digest("é", 64)


@pytest.mark.parametrize("user_id", [None, "", "x" * 256])
def test_no_user_has_no_partition(api: Api, user_id: str | None) -> None:
    with refused("user_id"):
        api.partition_of(user_id=user_id)


@pytest.mark.parametrize("partitions", [None, 0, -1, 65537])
def test_a_number_of_partitions_out_of_range_is_refused(api: Api, partitions: int | None) -> None:
    with refused("partitions"):
        api.partition_of(user_id="ana", partitions=partitions)
