"""What lets users live on several servers: every row belongs to one user, and every call to one, or it says why not."""

from __future__ import annotations

import pytest
from agent_memory.calls.nodes import CHANGES_OF_ALL

from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F14")

KEYS_WITHOUT_USERS = {
    "audit": "who has called what on a node",
    "bound_roles": "by login role: the same on all nodes",
    "changes": "numbered on each node",
    "new_changes": "what has no number yet",
    "secret_reads": "a log without a key",
}
"""Tables with a column user_id whose keys do not begin with it, and why."""

OVER_NODES = {
    "claim_jobs": "workers claim on each node",
    "doctor": "each node",
    "backfill_status": "added up",
    "list_changes": "each node, whose numbers are its own",
    "list_users": "the pages of all nodes, put together",
    "merge_users": "the client moves one user to the node of the other before",
    "get_policy": "without a user any node",
    "partition_of": "the same everywhere",
    "reencrypt_secrets": "added up",
    "run_jobs": "each node",
    "create_space": "the node of the space, as of the three below",
    "grant_space": "which is that of the member, too",
    "revoke_space": "wherever the member is",
    "delete_space": "with all that is in the space",
    "schedule_jobs": "each node has its own pg_cron",
    "status": "added up, and each node",
    "sweep": "added up",
    "tenant_user": "any node: the token says it",
    "vector_index": "each node has its own index",
    "version": "any node",
} | dict.fromkeys(CHANGES_OF_ALL, "all nodes or none")
"""What functions that are not about one user mean in a cluster."""


def test_every_key_of_a_table_with_users_begins_with_the_user(api: Api) -> None:
    rows = api.query("""
        select distinct c.relname::text
        from pg_class as c
        join pg_attribute as u on u.attrelid = c.oid and u.attname = 'user_id'
        left join pg_index as i on i.indrelid = c.oid and i.indisunique
        left join pg_constraint as f on f.conrelid = c.oid and f.contype = 'f'
        where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
          and (i.indkey[0] is distinct from u.attnum or f.conkey is not null and f.conkey[1] <> u.attnum)""")
    assert {table for [table] in rows} == KEYS_WITHOUT_USERS.keys()


def test_every_public_function_is_about_one_user_or_says_what_it_means_over_nodes(api: Api) -> None:
    rows = api.query("""
        select p.proname::text, coalesce(p.proargnames[1], '') = 'user_id' from pg_proc as p
        where p.pronamespace = 'memory'::regnamespace and p.proname !~ '^_'""")
    without = {name for name, has_user_first in rows if not has_user_first}
    assert without - OVER_NODES.keys() == set()
    assert OVER_NODES.keys() - {name for name, _ in rows} == set()
