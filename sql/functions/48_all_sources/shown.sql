-- The columns of one result of a search. They are read for the few results that are returned, not for all rows that are
-- ranked. If the source has no row, content is null, and the caller leaves the result out.
create or replace function memory._search_row(
  p_user_id text, p_source text, p_id text, p_thread_id text, p_number bigint,
  p_filters memory._search_filters default null,
  out id text, out thread_id text, out content text, out metadata jsonb, out details jsonb
)
language plpgsql stable parallel safe
as $$
begin
  case p_source
    {{each source:
    when '<source>' then
      select s.id, s.thread_id, s.content, s.metadata, s.details into id, thread_id, content, metadata, details
      from memory._<source>_shown(p_user_id, p_id, p_thread_id, p_number, p_filters) as s;}}
  end case;
end;
$$;
