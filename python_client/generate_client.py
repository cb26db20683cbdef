"""Writes the client's methods from the catalog of an installed database: ``python generate_client.py [--check]``.

Names, arguments, defaults, results and docstrings are those of the SQL functions and their comments. The tables below
say what the catalog does not: which words an argument takes, the class of the rows, and what happens before a call.
calls/functions.py gets how each function is called, and three other modules the methods that call them.
With ``--check`` nothing is written; the exit status is 1 when a module is not current.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.servers import ROOT, install_agent_memory, running_server

PACKAGE = ROOT / "python_client" / "agent_memory"
BY_HAND = {"run_jobs", "store_artifact"}
PROTOCOL = {
    "claim_jobs", "complete_job", "extend_job", "fail_job", "keep_query_embedding", "query_to_embed", "record_calls",
    "release_job",
}  # fmt: skip
"""What workers call, and the client before a search (docs/jobs.md)."""
ADMIN = {
    "activate_model", "backfill_status", "bind_role", "create_space", "deactivate_model", "delete_space", "doctor",
    "drop_model", "get_policy", "grant_space", "import_user", "list_changes", "list_users", "merge_users",
    "reencrypt_secrets", "register_model", "reset_prompt", "revoke_space", "schedule_jobs", "set_policy", "set_prompt",
    "set_token_key", "status", "sweep", "trust_claims", "unbind_role", "vector_index",
}  # fmt: skip
"""What ``memory.admin`` has."""
BEFORE = {
    "expand_refs": "embed_for_refs",
    "get_context": "embed_for_context",
    "merge_users": "bring_together",
    "render_memories": "embed_for_memories",
    "search": "embed_for_search",
}
"""What a method does first, by its name in steps.py."""
KEYS = {"doctor": "wanted", "get_secret": "needed", "reencrypt_secrets": "needed", "set_secret": "needed"}
"""The functions that need keys of secrets."""
TYPES = {
    "bigint": "int",
    "boolean": "bool",
    "bytea": "bytes",
    "double precision": "float",
    "integer": "int",
    "interval": "timedelta",
    "jsonb": "dict[str, Any]",
    "name": "str",
    "real": "float",
    "text": "str",
    "timestamp with time zone": "datetime",
    "uuid": "UUID",
    "void": "None",
}
GIVEN = {"jsonb": "Mapping[str, Any]", "uuid": "UUID | str", "vector": "Embedding"}
"""What an argument may be, where that is more than what a result is."""
WORDS = {
    "access": "SpaceAccess",
    "calls": "Sequence[Mapping[str, Any]]",
    "layout": "Layout | str",
    "messages": "Sequence[Mapping[str, Any]]",
    "mode": "Mode",
    "on_conflict": "OnConflict",
    "outcome": "Outcome",
    "provider": "Provider | str",
    "role": "Role | str",
    "roles": "Sequence[Role]",
    "sources": "Sequence[Source]",
    "add_memories memories": "Sequence[Mapping[str, Any]]",
    "add_message content": "str | None",
    "delete_thread memories": "Fate",
    "forget_user spaces": "Fate",
    "get_thread_summary kind": "SummaryKind",
    "quarantine_source source": "QuarantineSource",
    "register_model kind": "ModelKind",
    "release_source source": "QuarantineSource",
    "store_artifact content": "LongText | None",
    "summarize_thread kind": "SummaryKind",
}
"""The types of arguments by their names, or by those of their function and their own."""
SENT = {
    "Embedding": "vector",
    "LongText": "long_text",
    "Mapping[str, Any]": "json_object",
    "Sequence[Mapping[str, Any]]": "json_objects",
    "Sequence[Role]": "texts",
    "Sequence[Source]": "texts",
    "Sequence[UUID | str]": "uuids",
    "Sequence[bytes]": "blobs",
    "Sequence[int]": "wholes",
    "Sequence[str]": "texts",
    "UUID | str": "uuid",
    "bool": "flag",
    "datetime": "moment",
    "float": "number",
    "int": "whole",
    "timedelta": "duration",
}
"""How an argument of a type is sent, by its name in calls/arguments.py; all others are texts."""
RESULTS = {
    "add_memories": "list[AddedMemory]",
    "add_memory": "AddedMemory",
    "add_message": "StoredMessage",
    "add_messages": "list[StoredMessage]",
    "backfill_status": "list[Backfill]",
    "claim_jobs": "list[ClaimedJob]",
    "doctor": "list[Check]",
    "get_checkpoint": "Checkpoint | None",
    "get_context": "Context",
    "get_job": "Job",
    "get_memory": "MemoryRecord",
    "get_memory_history": "list[MemoryVersion]",
    "get_messages": "list[Message]",
    "get_thread": "Thread",
    "get_thread_summary": "Summary | None",
    "get_user_summary": "Summary | None",
    "import_user": "dict[str, int]",
    "list_artifacts": "list[Artifact]",
    "list_changes": "list[Change]",
    "list_checkpoints": "list[Checkpoint]",
    "list_documents": "list[Document]",
    "list_memories": "list[MemoryRecord]",
    "list_quarantined": "list[Quarantined]",
    "list_secrets": "list[Secret]",
    "list_spaces": "list[Space]",
    "list_threads": "list[Thread]",
    "list_users": "list[UserRecord]",
    "needs_memory": "MemoryNeed",
    "query_to_embed": "QueryToEmbed | None",
    "search": "list[SearchResult]",
    "store_artifact": "StoredArtifact",
    "tenant_user": "str | None",
}
"""What a method returns, where that is a class of ours or may be None."""
CLASSES = {"Context": "listed(Context, ContextPart)"}
"""Results that are objects of classes of lists."""
BINARY = {"Checkpoint"}
"""Rows that have bytes."""
ROWS = """
AddedMemory, Artifact, Backfill, Change, Check, Checkpoint, ClaimedJob, Context, ContextPart, Document, Job,
MemoryNeed, MemoryRecord, MemoryVersion, Message, Quarantined, QueryToEmbed, SearchResult, Secret, Space,
StoredArtifact, StoredMessage, Summary, Thread, UserRecord
"""
"""The classes of results."""
IMPORTS = """\
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from {calls} import {methods}
from ...choices import (
    Fate, Layout, Mode, ModelKind, OnConflict, Outcome, Provider, QuarantineSource, Role, Source, SpaceAccess,
    SummaryKind,
)
from ...types import ({rows})
from ...vectors import Embedding
{steps}
"""
TABLE = "calls/functions.py"
HEAD = '''\
# Generated by generate_client.py from the catalog; do not edit.
# fmt: off
"""The SQL functions, as methods call them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.pq import Format

from ..types import ({rows})
from .arguments import (
    Optional, blobs, duration, flag, json_object, json_objects, long_text, moment, nullable, number, text, texts, uuid,
    uuids, vector, whole, wholes,
)
from .function import NOTHING, Function, listed, row, row_or_none, rows, value, value_or_none, values

'''
MODULES = {
    "client/_async/functions.py": ("AsyncFunctions", "The functions that applications use, as methods."),
    "client/_async/admin_functions.py": ("AsyncAdminFunctions", "The functions of administrators, as methods."),
    "calls/_async/worker_protocol.py": (
        "AsyncWorkerProtocol",
        "The methods for workers, which claim jobs, hand in their results, and embed queries (docs/jobs.md).",
    ),
}
FUNCTIONS = """
select p.proname as name, p.proretset as is_set, format_type(p.prorettype, null) as result,
  p.pronargs - p.pronargdefaults as required, coalesce(p.proargnames, '{}') as names,
  obj_description(p.oid, 'pg_proc') as comment,
  array(select format_type(t, null) from unnest(p.proargtypes) with ordinality as a (t, n) order by n) as types,
  array(select coalesce(pg_get_function_arg_default(p.oid, n), 'null') from generate_series(1, p.pronargs) as n)
    as defaults
from pg_proc as p
where p.pronamespace = 'memory'::regnamespace and p.proname !~ '^_' and p.prorettype <> 'trigger'::regtype
order by p.proname
"""


def typed(sql: str, given: bool = False) -> str:
    """The type in Python of a value of this type of PostgreSQL; ``given``: of an argument."""
    name = sql.removesuffix("[]").rpartition(".")[2]
    found = (GIVEN.get(name) if given else None) or TYPES[name]
    if not sql.endswith("[]"):
        return found
    return f"{'Sequence' if given else 'list'}[{found}]"


def kind_of(function: Any, place: int) -> str:
    """The type of an argument."""
    name = function.names[place]
    return WORDS.get(f"{function.name} {name}") or WORDS.get(name) or typed(function.types[place], given=True)


def default_of(function: Any, place: int, default: Any) -> Any:
    """The default that the signature shows."""
    shown = None if function.types[place] in ("interval", "jsonb") or default == [] else default
    return tuple(shown) if isinstance(shown, list) else shown


def argument(function: Any, place: int, default: Any) -> str:
    """An argument as the signature has it."""
    name, kind = function.names[place], kind_of(function, place)
    if place < function.required:
        return f"{name}: {kind}"
    return f"{name}: {kind.removesuffix(' | None')} | None = {default_of(function, place, default)!r}"


def quoted(value: Any) -> str:
    """A value as ruff writes it."""
    return repr(value).replace("'", '"')


def sent(function: Any, place: int, default: Any) -> str:
    """An argument as the table of functions has it."""
    kind = kind_of(function, place)
    how = SENT.get(kind.removesuffix(" | None"), "text")
    if place >= function.required:
        shown = default_of(function, place, default)
        how = f"Optional({how})" if shown is None else f"Optional({how}, {quoted(shown)})"
    elif kind.endswith(" | None"):
        how = f"nullable({how})"
    return f"{function.names[place]}={how}"


def result_of(function: Any) -> str:
    """The type of what a method returns."""
    found = RESULTS.get(function.name)
    return found or (f"list[{typed(function.result)}]" if function.is_set else typed(function.result))


def returned(function: Any) -> str:
    """The result as the table of functions has it."""
    result = result_of(function)
    if result in CLASSES or result == "None":
        return CLASSES.get(result, "NOTHING")
    kind = result.removesuffix(" | None")
    is_list = kind.startswith("list[")
    kind = kind[5:-1] if is_list else kind
    is_class = kind in re.findall(r"\w+", ROWS)
    how = ("rows" if is_class else "values") if is_list else "row" if is_class else "value"
    how += "_or_none" if result.endswith(" | None") else ""
    return f"{how}({kind}, Format.BINARY)" if kind in BINARY else f"{how}({kind})"


def entry(function: Any, defaults: list[Any]) -> str:
    """A function in the table."""
    listed = [quoted(function.name), returned(function)]
    listed += [f'"{KEYS[function.name]}"'] if function.name in KEYS else []
    listed += [sent(function, place, default) for place, default in enumerate(defaults)]
    line = f"{function.name.upper()} = Function({', '.join(listed)})"
    if len(line) <= 120:
        return line + "\n"
    text = ", ".join(each.replace(", ", ",\0") for each in listed)  # an argument stays in one line
    lines = textwrap.wrap(text, 116, break_long_words=False, break_on_hyphens=False)
    inside = textwrap.indent("\n".join(lines), "    ").replace("\0", " ")
    return f"{function.name.upper()} = Function(\n{inside}\n)\n"


def method(function: Any, defaults: list[Any]) -> str:
    """A method, which calls the function of its name with its own arguments."""
    given = [argument(function, place, default) for place, default in enumerate(defaults)]
    lines = textwrap.wrap(function.comment, 109)
    text = "\n".join(lines) if len(lines) == 1 else "\n".join([*lines, ""])
    prefix = "r" if "\\" in text else ""
    body = f'{prefix}"""{text}"""\n'
    step = BEFORE.get(function.name)
    if step:
        body += f"given = locals()\nawait {step}(self, given)\n"
    body += f"return await self.caller.call(functions.{function.name.upper()}, {'given' if step else 'locals()'})"
    return (
        f"    async def {function.name}({', '.join(['self', *given])}) -> {result_of(function)}:\n"
        + textwrap.indent(body, " " * 8)
        + "\n"
    )


def modules(connection: psycopg.Connection) -> dict[str, str]:
    """The source of each module."""
    found: dict[str, list[str]] = {name: [] for name in MODULES}
    client, admin, protocol = found
    table: list[str] = []
    cursor: Any = connection.cursor(row_factory=namedtuple_row)
    for function in cursor.execute(FUNCTIONS).fetchall():
        if function.name == "partition_of":  # which the package computes by itself
            continue
        shown: list[Any] = []
        for default in function.defaults:
            [value] = connection.execute(f"select to_jsonb({default})".replace("null)", "null::text)")).fetchone() or [
                0
            ]
            shown.append(value)
        table.append(entry(function, shown))
        if function.name not in BY_HAND:
            place = protocol if function.name in PROTOCOL else admin if function.name in ADMIN else client
            found[place].append(method(function, shown))
    sources = {name: module(name, methods) for name, methods in found.items()}
    return formatted({TABLE: HEAD.format(rows=ROWS) + "".join(table), **sources})


def module(name: str, methods: Iterable[str]) -> str:
    """A module with one class."""
    title, what = MODULES[name]
    is_client = name.startswith("client")
    steps = "embed_for_context, embed_for_memories, embed_for_refs, embed_for_search, bring_together"
    imports = IMPORTS.format(
        calls="...calls" if is_client else "..",
        methods="AsyncMethods, functions" if is_client else "functions",
        rows=ROWS,
        steps=f"from .steps import {steps}" if is_client else "from .caller import AsyncMethods",
    )
    return (
        f'# Generated by generate_client.py from the catalog; do not edit.\n"""{what}"""\n\n'
        f"from __future__ import annotations\n\n{imports}\n"
        f'class {title}(AsyncMethods):\n    """{what}"""\n\n' + "\n".join(methods)
    )


def formatted(sources: dict[str, str]) -> dict[str, str]:
    """The sources without the imports that they do not need, as ruff formats them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder, name) for name in sources}
        for name, path in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(sources[name])
        ruff = [sys.executable, "-m", "ruff"]
        for command in (["check", "--select=I,F401", "--fix", "--quiet"], ["format", "--quiet"]):
            subprocess.run([*ruff, *command, "--config", ROOT / "pyproject.toml", folder], check=True)
        return {name: path.read_text() for name, path in paths.items()}


def main() -> int:
    """Write the modules, or with ``--check`` compare them."""
    with running_server("system") as server:
        install_agent_memory(server, "postgres")
        with psycopg.connect(server.conninfo("postgres")) as connection:
            wanted = modules(connection)
    stale = [name for name, text in wanted.items() if (PACKAGE / name).read_text() != text]
    if "--check" not in sys.argv[1:]:
        for name in stale:
            (PACKAGE / name).write_text(wanted[name])
        return 0
    if stale:
        print(f"Not current ({', '.join(stale)}): run make reference", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
