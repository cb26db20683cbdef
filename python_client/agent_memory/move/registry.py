"""Which rows are copied. sql/build.py makes this of registry.toml of the rooms: change it there."""

NOT_COPIED = {
    "agent_budgets": "locks of claims, which hold nothing",
    "audit": "who has called what in a database",
    "bound_roles": "login roles of a server, which another server need not have",
    "changes": "what was changed in a database, under numbers of its own",
    "cluster_map": "which node of a cluster a database is",
    "imports": "imports that are under way",
    "moved_users": "who was moved into a database",
    "new_changes": "what was changed in a database",
    "role_grants": "what roles of a server were granted in a database",
    "token_keys": "keys, which are set where they are to count",
    "user_locks": "locks of transactions, which hold nothing",
    "whole_user_changes": "transactions that are under way",
}
"""Tables that are not copied, and why."""

INSTEAD = {
    "jobs": {
        "status": "case status when 'running' then 'pending' else status end",
        "attempts": "attempts - (status = 'running')::int",
        "lease_token": "null::uuid",
        "lease_expires_at": "null::timestamptz",
        "tokens_reserved": "0",
    },
}
"""Values that are sent instead of those of the source, by table and column."""
