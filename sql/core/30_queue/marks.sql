-- Notes how far a kind of work has come. A watermark never moves back.
create or replace function memory._set_mark(p_user_id text, p_scope text, p_kind text, p_reached bigint)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.marks as k (user_id, scope, kind, position)
  values (p_user_id, p_scope, p_kind, p_reached)
  on conflict on constraint marks_pkey do update set position = greatest(k.position, excluded.position);
end;
$$;

-- Turns a moment into the position of a watermark: microseconds since 1970.
create or replace function memory._microseconds(p_moment timestamptz)
returns numeric
language sql stable parallel safe
begin atomic
  select extract(epoch from p_moment) * 1000000;
end;
