"""Makes a database a proxy of a cluster: PL/Proxy runs each of its functions on the node of the user.

A proxy has the whole schema, so that names, arguments, types, comments, rights, bound roles and tokens are those of
every installation, and tenants are checked before anything is forwarded. Its public functions are then replaced by ones
that forward. Its map gives no user to the proxy itself, so that a row of a user cannot be stored in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql
from psycopg.types.json import Jsonb

from ..calls import translated
from ..calls.nodes import CHANGES_OF_ALL
from ..errors import NotSupportedError
from ..install import install
from .nodes import Nodes, share_settings

_SERVER = "agent_memory"

_OWN = {"partition_of", "tenant_user", "version"}
"""What a proxy answers by itself: it is the same everywhere, or about the session."""
OF_NODES = {"claim_jobs", "merge_users", "run_jobs", "schedule_jobs", "vector_index"}
"""What is done beside a node, because it commits by itself, is another thing on each, or is about two users."""
_KEPT = {"bind_role", "set_token_key", "trust_claims", "unbind_role"}
"""What the proxy checks tenants by, so that it needs the change as well."""
_NODES = "generate_series(0, {last}) as n (node)"
_ADDED_UP = {
    "backfill_status": "select a.model, sum(a.done)::bigint, sum(a.total)::bigint, bool_and(a.is_active)"
    " from {nodes}, memory._on_node_backfill_status(n.node) as a group by a.model order by a.model",
    "doctor": "select a.check_name, a.ok, 'node ' || n.node || ': ' || a.detail"
    " from {nodes}, memory._on_node_doctor(n.node) as a",
    "list_spaces": "select s.space, s.title, s.access, s.member_count, s.memory_count, s.created_at,"
    " count(*) over (), s.metadata from {nodes}, memory._on_node_list_spaces(n.node, user_id) as s"
    " where case when user_id is null and not memory._is_tenant() then true else n.node = memory._route(user_id) end"
    " order by s.space",
    "list_users": "with u as (select n.node, a.* from {nodes},"
    " memory._on_node_list_users(n.node, search, row_limit + row_offset, 0) as a)"
    " select u.user_id, u.thread_count, u.message_count, u.memory_count, u.last_at,"
    " (select sum(t.total_count)::bigint from (select distinct u.node, u.total_count from u) as t)"
    " from u order by u.last_at desc nulls last, u.user_id limit row_limit offset row_offset",
    "reencrypt_secrets": "select sum(a)::int from {nodes}, memory._on_node_reencrypt_secrets(n.node, batch_size) as a",
    "status": "select jsonb_build_object('nodes', jsonb_object_agg(n.node, memory._on_node_status(n.node)))"
    " from {nodes}",
    "sweep": "select jsonb_object_agg(s.name, s.number) from (select e.key, sum(e.value::bigint)"
    " from {nodes}, jsonb_each_text(memory._on_node_sweep(n.node, batch_size)) as e"
    " group by e.key) as s (name, number)",
}
"""What concerns all users, as the text of a function in SQL."""

_FUNCTIONS = """
select p.proname, pg_get_function_arguments(p.oid),
  pg_get_function_result(p.oid), pg_get_functiondef(p.oid), p.prokind = 'p', coalesce(p.proargnames[:p.pronargs], '{}'),
  case
    when t.typrelid = 0 then coalesce(p.proargnames[p.pronargs + 1:], '{}')
    else array(
      select a.attname
      from pg_attribute as a
      where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
      order by a.attnum)
  end
from pg_proc as p
join pg_type as t on t.oid = p.prorettype
where p.pronamespace = 'memory'::regnamespace and not starts_with(p.proname, '_') and p.prorettype <> 'trigger'::regtype
order by p.proname
"""
_VIEWS = """
select c.relname, string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum),
  array(select distinct pg_get_userbyid(x.grantee) from aclexplode(c.relacl) as x
        where x.privilege_type = 'SELECT' and x.grantee <> 0)
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
where c.relnamespace = 'memory'::regnamespace and c.relkind = 'v'
group by c.oid
"""
_ROUTE = """
-- The number of the node that serves a user whom this session may reach. PostgreSQL binds the names in its body when it
-- is made, so it needs no search_path of its own, which would cost as much as the rest for each row that comes back.
create or replace function memory._route(p_user_id text)
returns int
language sql volatile
begin atomic
  select case
    when memory._is_id(p_user_id) and not memory._is_tenant() then {number}
    else memory._route_checked(p_user_id)
  end;
end;
-- Clients take the proxy for a single server: they may not reach the nodes.
create or replace function memory._cluster_map()
returns jsonb
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
  select null::jsonb;
end;
"""
_NUMBER = "({numbers}::int[])[memory._partition_of_digest(md5(convert_to(p_user_id, 'UTF8')), {partitions}) + 1]"
_NUMBER_OF_MOVED = "coalesce(({users}::jsonb ->> md5(convert_to(p_user_id, 'UTF8')))::int, {number})"
"""The number of a user's node where users were moved by themselves; without any it takes one MD5 less."""
_ROUTE_CHECKED = """
-- The same for a tenant's session, and for what is no user.
create or replace function memory._route_checked(p_user_id text)
returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  map memory.cluster_map;
begin
  if starts_with(p_user_id, 'space:') and memory._is_id(p_user_id) then -- only its node knows who may reach it
    perform memory._refuse_foreign_user();
  end if;
  if not (memory._is_id(p_user_id) and memory._may_reach(p_user_id)) then
    perform memory._check_id('user_id', p_user_id);
  end if;
  select m.* into map from memory.cluster_map as m;
  return (map.nodes -> memory._node_of(p_user_id, map.partitions, map.users) ->> 'number')::int;
end;
$$;
"""
_PRIVATE = """
do $$
declare
  routine regprocedure;
begin
  for routine in
    select p.oid
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace and p.proname ~ '^_(here|on_node|route)'
  loop
    execute format('revoke all on function %s from public', routine);
  end loop;
end $$
"""
_NO_TRACE = {
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_transaction_sample_rate": "0",
    "log_min_error_statement": "panic",
    "pgaudit.log": "none",
    "pg_stat_statements.track_utility": "off",
}
"""Settings with which a statement that has the password stands in no log."""
_SECURE = "security definer set search_path = pg_catalog, pg_temp"


@dataclass(frozen=True)
class _Routine:
    """A public function as the catalog describes it."""

    name: str
    arguments: str
    result: str
    definition: str
    is_procedure: bool
    names: list[str]
    columns: list[str]
    """Of the rows; empty where the result is one value."""

    @property
    def is_set(self) -> bool:
        return self.result.startswith(("SETOF", "TABLE"))


def make_proxy(cluster: Nodes, proxy: Connection[Any], role: str, password: str | None = None) -> int:
    """Make a database a proxy of the cluster, or bring it up to the map, and return how many functions it forwards."""
    with translated(proxy):
        available = proxy.execute("select from pg_available_extensions where name = 'plproxy'").fetchone()
        if available is None:
            raise NotSupportedError("the server of the proxy has no PL/Proxy", hint="Debian: postgresql-NN-plproxy.")
        install(proxy)
        first = next(iter(cluster.nodes.values()))
        share_settings(first.connection, proxy, is_new=True)
        with proxy.transaction():
            proxy.execute("create extension if not exists plproxy")
            # The definitions of functions are read, and made anew under other names.
            proxy.execute("set local search_path = pg_catalog, pg_temp; set local quote_all_identifiers = off")
            _name_nodes(cluster, proxy, role, password)
            _write_map(cluster, proxy)
            last = max(node["number"] for node in cluster.newest.nodes.values())
            routines = [_Routine(*row) for row in proxy.execute(_FUNCTIONS).fetchall()]
            statements = [statement for routine in routines for statement in _forwarding(routine, last)]
            for statement in [*statements, *_forwarding_views(proxy, last)]:
                proxy.execute(statement.encode())
            proxy.execute(_PRIVATE)
    return len(routines) - len(_OWN)


def _name_nodes(cluster: Nodes, proxy: Connection[Any], role: str, password: str | None) -> None:
    """Tell PL/Proxy where the nodes are, by number. It wants a power of two of them, so the rest repeat the first."""
    places = {node["number"]: node["dsn"] for node in cluster.newest.nodes.values()}
    size = 1 << max(places).bit_length()
    options = [
        sql.SQL("{} {}").format(sql.Identifier(f"p{number}"), sql.Literal(places.get(number, min(places.items())[1])))
        for number in range(size)
    ]
    server = sql.Identifier(_SERVER)
    proxy.execute(sql.SQL("drop server if exists {} cascade").format(server))
    proxy.execute(
        sql.SQL("create server {} foreign data wrapper plproxy options ({})").format(
            server, sql.SQL(", ").join(options)
        )
    )
    known = {"user": role} | ({} if password is None else {"password": password})
    mapping = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(name), sql.Literal(value)) for name, value in known.items()
    )
    for setting, value in _NO_TRACE.items():
        proxy.execute("select set_config(%s, %s, true)", [setting, value])
    proxy.execute(sql.SQL("create user mapping for current_user server {} options ({})").format(server, mapping))


def _write_map(cluster: Nodes, proxy: Connection[Any]) -> None:
    """Write the map as it is on the nodes; no node has the empty name of the proxy."""
    newest = cluster.newest
    proxy.execute("delete from memory.cluster_map")
    proxy.execute(
        "insert into memory.cluster_map (version, partitions, users, moving, nodes, node)"
        " values (%s, %s, %s, %s, %s, '')",
        [newest.version, list(newest.partitions), Jsonb(newest.users), list(newest.moving), Jsonb(newest.nodes)],
    )
    proxy.execute("select memory._route_by_map()")
    proxy.execute(_ROUTE_CHECKED)
    numbers = {name: int(node["number"]) for name, node in newest.nodes.items()}
    number: sql.Composable = sql.SQL(_NUMBER).format(
        numbers=sql.Literal([numbers[node] for node in newest.partitions]),
        partitions=sql.Literal(len(newest.partitions)),
    )
    if newest.users:
        users = json.dumps({digest: numbers[node] for digest, node in newest.users.items()})
        number = sql.SQL(_NUMBER_OF_MOVED).format(users=sql.Literal(users), number=number)
    proxy.execute(sql.SQL(_ROUTE).format(number=number))


def _forwarding(routine: _Routine, last: int) -> Iterator[str]:
    """Yield the statements that replace a public function."""
    name, passed = routine.name, ", ".join(routine.names)
    kind = "procedure" if routine.is_procedure else "function"
    returns = "" if routine.is_procedure else f"returns {routine.result}"
    head = f"create or replace {kind} memory.{name}({routine.arguments})\n{returns}\nlanguage"
    if name in _OWN:
        return
    if name in OF_NODES:
        yield (
            f"{head} plpgsql as $$ begin raise exception '{name}: a proxy does not do this' using errcode = '0A000',"
            " hint = 'Call the function on a node; see docs/cluster.md.'; end $$"
        )
    elif name in CHANGES_OF_ALL or name in _ADDED_UP or name == "get_policy":
        yield _on_node(routine)
        if name in _KEPT:
            yield re.sub(rf"\b{name}(?=[.(])", f"_here_{name}", routine.definition)
        if name in _ADDED_UP:
            body = _ADDED_UP[name].format(nodes=_NODES.format(last=last))
            yield f"{head} sql volatile {_SECURE} as $body$ {body} $body$"
        else:
            yield f"{head} plpgsql volatile {_SECURE} as $body$ {_changing(routine, passed, last)} $body$"
    else:
        # Without a search_path: PL/Proxy looks up nothing but memory._route() by name, see there.
        owner = "'space:' || space" if "space" in routine.names else "user_id"
        call = f"target memory.{name}"
        if routine.columns:  # PL/Proxy would cast each column, which the node would parse in each call
            columns = ", ".join(f"r.{column}" for column in routine.columns)
            call = f"select {columns} from memory.{name}({passed}) as r"
        yield (
            f"{head} plproxy volatile security definer as"
            f" $$ cluster '{_SERVER}'; run on memory._route({owner}); {call}; $$"
        )


def _on_node(routine: _Routine) -> str:
    """Return the function that calls a function on the node with a number."""
    columns = "*" if routine.is_set else f"memory.{routine.name}({', '.join(routine.names)})"
    source = f" from memory.{routine.name}({', '.join(routine.names)})" if routine.is_set else ""
    arguments = ", ".join(["p_node int", *([routine.arguments] if routine.arguments else [])])
    return (
        f"create or replace function memory._on_node_{routine.name}({arguments})\nreturns {routine.result}\n"
        f"language plproxy as $$ cluster '{_SERVER}'; run on p_node; select {columns}{source}; $$"
    )


def _changing(routine: _Routine, passed: str, last: int) -> str:
    """Return the body of a function that changes all nodes, after it has reached each; with a user, only the user's."""
    name, is_void = routine.name, routine.result == "void"
    call = f"memory._on_node_{name}(number{', ' + passed if passed else ''})"
    of_user = "user_id" in routine.names and name != "bind_role"
    one = f"if user_id is not null then return memory._on_node_{name}(memory._route(user_id), {passed}); end if;"
    if name == "get_policy":
        return f"begin {one} return memory._on_node_{name}(0, {passed}); end"
    return " ".join(
        [
            "declare" if not is_void else "",
            f"result {routine.result};" if not is_void else "",
            "begin",
            one if of_user else "",
            f"for number in 0 .. {last} loop perform memory._on_node_get_policy(number, null, null); end loop;",
            f"for number in 0 .. {last} loop {'perform' if is_void else 'result :='} {call}; end loop;",
            # Last: nodes on the proxy's own server would wait for the membership that this transaction grants.
            f"perform memory._here_{name}({passed});" if name in _KEPT else "",
            "return result;" if not is_void else "",
            "end",
        ]
    )


def _forwarding_views(proxy: Connection[Any], last: int) -> Iterator[str]:
    """Yield the statements that replace each view by one with the rows of all nodes."""
    for name, columns, readers in proxy.execute(_VIEWS).fetchall():
        yield (
            f"create or replace function memory._on_node_view_{name}(p_node int)\nreturns table ({columns})\n"
            f"language plproxy security definer as"
            f" $$ cluster '{_SERVER}'; run on p_node; select * from memory.{name}; $$"
        )
        for reader in readers:
            grantee = sql.Identifier(reader).as_string(proxy)
            yield f"grant execute on function memory._on_node_view_{name}(int) to {grantee}"
        yield (
            f"create or replace view memory.{name} as select v.* from {_NODES.format(last=last)},"
            f" memory._on_node_view_{name}(n.node) as v"
        )
