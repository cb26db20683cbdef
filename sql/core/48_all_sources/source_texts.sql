-- These texts of a user as their source has them, without those that are gone.
create or replace function memory._source_texts(p_user_id text, p_source text, p_ids text[])
returns setof memory._source_text
language plpgsql stable parallel safe
as $$
begin
  case p_source
    {{each source:
    when '<source>' then return query select t.* from memory._<source>_texts(p_user_id, p_ids) as t;}}
  end case;
end;
$$;
