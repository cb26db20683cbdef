-- The importance of a memory whose writer gives none. The column has the same default.
create or replace function memory._default_importance()
returns double precision
language sql immutable parallel safe
begin atomic
  select 0.5;
end;
