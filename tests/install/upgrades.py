"""Later versions of the install file for the tests of upgrades, and what users build on our objects."""

from __future__ import annotations

from collections.abc import Callable

from tests.install.steps import VERSION

LATER, LATEST = "98.0.0", "99.0.0"
PART = f"migrations/{VERSION}-{LATER}.sql"
CODE = "rooms/80_operate/extra.sql"
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
