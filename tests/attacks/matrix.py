"""Which role may call which function for which user: ``python -m tests.attacks.matrix`` writes the table anew."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import psycopg
from psycopg import errors

from tests.support.servers import install_agent_memory, running_server
from tests.support.sqlapi import Api
from tests.tenants.steps import KEY, OTHER_KEY, login_role, session_of, text_of, token_of
from tests.values.bad_arguments import VALID
from tests.values.valid_calls import make_calls_work

TABLE = Path(__file__).with_name("matrix.txt")
LEGEND = """\
# Each public function, called with arguments that work for the user ana, by each role.
# o  the function does its work, or says what is wrong with an argument
# x  the session may not reach this user
# -  the role may not call the function
"""
# Title of the column, login role, the group of that role, the user that its token or claims name, the user that the
# call names.
COLUMNS = [
    ("stranger", "matrix_stranger", None, None, "ana"),
    ("app", "matrix_app", "memory_app", None, "ana"),
    ("worker", "matrix_worker", "memory_worker", None, "ana"),
    ("reader", "matrix_reader", "memory_reader", None, "ana"),
    ("admin", "matrix_admin", "memory_admin", None, "ana"),
    ("bound_to_ana", "matrix_ana", None, None, "ana"),
    ("bound_to_bob", "matrix_bob", None, None, "ana"),
    ("bound,_of_nobody", "matrix_bob", None, None, "nobody"),
    ("token_of_ana", "matrix_tenant", "memory_tenant", "ana", "ana"),
    ("token_of_bob", "matrix_tenant", "memory_tenant", "bob", "ana"),
    ("forged_token", "matrix_tenant", "memory_tenant", "forged", "ana"),
    ("expired_token", "matrix_tenant", "memory_tenant", "expired", "ana"),
    ("no_token", "matrix_tenant", "memory_tenant", None, "ana"),
    ("claims_of_ana", "matrix_gateway", "matrix_claims", "ana", "ana"),
    ("claims_of_bob", "matrix_gateway", "matrix_claims", "bob", "ana"),
    ("expired_claims", "matrix_gateway", "matrix_claims", "expired", "ana"),
    ("forged_claims", "matrix_tenant", "memory_tenant", "forged claims", "ana"),
]


def prepare(api: Api) -> None:
    """Create the login roles, bind two of them, set the key of tokens, and trust the claims of a gateway."""
    if not api.query("select from pg_roles where rolname = 'matrix_claims'"):
        api.connection.execute("create role matrix_claims nologin")
    for _, role, group, _, _ in COLUMNS:
        login_role(api.connection, role, *([group] if group else []))
    api.bind_role(role_name="matrix_ana", user_id="ana")
    api.bind_role(role_name="matrix_bob", user_id="bob")
    api.set_token_key(key=text_of(KEY))
    api.trust_claims(role_name="matrix_claims")


def matrix(api: Api) -> str:
    """Call every function in every role, undo each call, and return the table."""
    width = max(map(len, VALID)) + 2
    titles = [title for title, *_ in COLUMNS]
    lines = ["function".ljust(width) + "  ".join(titles)]
    for function, valid in sorted(VALID.items()):
        cells = []
        for title, role, _, named_by_token, user_id in COLUMNS:
            arguments = {**valid, "user_id": user_id} if "user_id" in valid else valid
            cells.append(outcome(api, function, arguments, role, named_by_token).center(len(title)))
        lines.append((function.ljust(width) + "  ".join(cells)).rstrip())
    return LEGEND + "\n".join(lines) + "\n"


def outcome(api: Api, function: str, arguments: dict[str, object], role: str, named_by_token: str | None) -> str:
    """The cell of one call."""
    claims = None
    match named_by_token:
        case _ if role == "matrix_gateway" or named_by_token == "forged claims":
            token, named = None, "bob" if named_by_token == "bob" else "ana"
            claims = json.dumps({"sub": named, "exp": 1000 if named_by_token == "expired" else 4102444800})
        case None:
            token = None
        case "forged":
            token = token_of("ana", key=OTHER_KEY)
        case "expired":
            token = token_of("ana", seconds=-10)
        case _:
            token = token_of(named_by_token)
    with api.connection.transaction(force_rollback=True), contextlib.suppress(errors.InsufficientPrivilege):
        try:
            with session_of(api.connection, role, token):
                if claims is not None:
                    claim = "select set_config('request.jwt.claims', %s, true), set_config('role', %s, true)"
                    set_role = "matrix_claims" if role == "matrix_gateway" else "none"
                    api.connection.execute(claim, [claims, set_role])
                getattr(api, function)(**arguments)
        except errors.InsufficientPrivilege as error:
            return "-" if (error.diag.message_primary or "").startswith("permission denied") else "x"
        except psycopg.Error:
            return "o"
    return "o"


def main() -> None:
    """Write the table as an installation of this version has it."""
    with running_server("system") as server:
        install_agent_memory(server, "postgres")
        with psycopg.connect(server.conninfo("postgres"), autocommit=True) as connection:
            api = Api(connection)
            make_calls_work(api)
            prepare(api)
            TABLE.write_text(matrix(api), encoding="utf-8")


if __name__ == "__main__":
    main()
