-- Those of these contents that contain one of these wordings. Each content is searched once for the longest words of
-- the wordings; a word may cross the boundary of two parts.
create or replace function memory._stating_contents(p_user_id text, p_content_ids uuid[], p_wordings text[])
returns uuid[]
language plpgsql volatile parallel safe -- sees rows committed while the caller waited for locks
as $$
declare
  patterns constant text[] := memory._patterns_of(p_wordings);
begin
  return array(
    select c.content_id
    from (
      select distinct p.content_id
      from (
        select n.content_id, concat(lag(right(n.content, 100)) over in_order, n.content) as said
        from memory.artifact_parts as n
        where n.user_id = p_user_id and n.content_id = any (p_content_ids)
        window in_order as (partition by n.content_id order by n.first_byte)) as p
      where memory._may_state(p.said, patterns)
      offset 0) as c
    where memory._content_states_any(p_user_id, c.content_id, p_wordings));
end;
$$;

-- Whether a content contains one of these wordings, also across the boundaries of its parts. The function spells the
-- content in stretches of 256 KiB or four times the longest wording. Each stretch begins with the end of the one
-- before, so that each byte is read once or twice, however long the wordings are.
create or replace function memory._content_states_any(p_user_id text, p_content_id uuid, p_wordings text[])
returns boolean
language plpgsql volatile parallel safe -- for the reason given in memory._stating_contents()
as $$
declare
  longest constant int := (select max(length(w)) from unnest(p_wordings) as w);
  stretch constant int := greatest(262144, 4 * longest);
  starts bigint := 0;
  said text;
  before text := '';
begin
  loop
    select string_agg(p.content, '' order by p.first_byte) into said
    from memory.artifact_parts as p
    where p.user_id = p_user_id and p.content_id = p_content_id
      and p.first_byte >= starts and p.first_byte < starts + stretch;
    exit when said is null;
    -- The added character protects the blank at the end of the stretch.
    said := left(memory._compared_text(before || said || '|'), -1);
    if memory._has_any(btrim(said), p_wordings) then
      return true;
    end if;
    before := right(said, longest);
    starts := starts + stretch;
  end loop;
  return false;
end;
$$;
