"""Later versions of the install file for the tests of upgrades, and what users build on our objects."""

from __future__ import annotations

from collections.abc import Callable

PART = "incremental/900_part.sql"
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
