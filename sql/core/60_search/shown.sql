-- The columns of one result of a search. A search calls this function only for the few results that it returns. If the
-- source has no row, content is null, and the caller leaves the result out. If the whole text is too long to show,
-- content is the part that says most about p_query.
create or replace function memory._search_row(
  p_user_id text, p_source text, p_id text, p_thread_id text, p_number bigint,
  p_filters memory._search_filters default null, p_query text default null,
  out id text, out thread_id text, out content text, out metadata jsonb, out details jsonb, out valid_from timestamptz
)
language plpgsql stable parallel unsafe
as $$
begin
  case p_source
    {{each source:
    when '<source>' then
      select s.id, s.thread_id, s.content, s.metadata, s.details, s.valid_from
      into id, thread_id, content, metadata, details, valid_from
      from memory._<source>_shown(p_user_id, p_id, p_thread_id, p_number, p_filters, p_query) as s;}}
  end case;
end;
$$;
