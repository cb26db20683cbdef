"""Later versions of the install file for the tests of upgrades, and what users build on our objects."""

from __future__ import annotations

from collections.abc import Callable

from tests.install.steps import of_tables
from tests.support.servers import ROOT

LATER, LATEST = "98.0.0", "99.0.0"
PART = f"migrations/{of_tables()}-{LATER}.sql"
OF_SECRETS = f"addons/secrets/migrations/{of_tables('secrets')}-{LATER}.sql"
CODE = "core/80_operate/extra.sql"
PUBLIC = """
create or replace function memory.extra({arguments})
returns {result}
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return {value};
end;
$$;
comment on function memory.extra is 'Extra.';
"""

Build = Callable[..., str]

TABLES = """
alter table memory.messages add column extra int not null default 7; -- number
create table memory.extra_rows (
  user_id text not null, -- user
  extra_id int not null, -- id
  content text, -- text
  primary key (user_id, extra_id)
);
create index messages_extra_idx on memory.messages (user_id, extra) where extra > 7;
"""
TYPES = "alter type memory.secret add attribute extra int;\n"
COMMENTS = """
comment on table memory.extra_rows is 'Rows that came with a later version.';
comment on column memory.messages.extra is 'A column that came with a later version.';
"""


def altered() -> dict[str, str]:
    """The files of a later version, which has a further column, table, index, function and column of a result."""
    secrets = "addons/secrets/49_secrets/list_secrets.sql"
    return {
        PART: TABLES,
        OF_SECRETS: TYPES,
        "core/90_later/tables.sql": TABLES + COMMENTS,
        "core/90_later/registry.toml": '[extra_rows]\nnot_exported = "rows of a test"\n',
        "addons/secrets/90_later/types.sql": TYPES,
        secrets: (ROOT / "sql" / secrets).read_text().replace("s.updated_at\n", "s.updated_at, 7\n"),
        CODE: PUBLIC.format(arguments="", result="int", value="7"),
    }
