-- Removes uploads, which nothing names yet, that have one of these wordings in them, and returns how many. The parts go
-- in a statement of their own, because it sees the piece for which the one before has waited.
create or replace function memory._forget_uploads(p_user_id text, p_wordings text[])
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  stating constant uuid[] := memory._stating_contents(p_user_id,
    array(select u.upload_id from memory.artifact_uploads as u where u.user_id = p_user_id), p_wordings);
  gone uuid[];
begin
  with deleted as (
    delete from memory.artifact_uploads as u where u.user_id = p_user_id and u.upload_id = any (stating)
    returning u.upload_id
  )
  select array_agg(d.upload_id) into gone from deleted as d;
  delete from memory.artifact_parts as p where p.user_id = p_user_id and p.content_id = any (gone);
  return case when gone is null then jsonb '{}' else jsonb_build_object('artifact_uploads', cardinality(gone)) end;
end;
$$;

-- Removes artifacts that have one of these wordings in them, and returns how many.
create or replace function memory._forget_artifacts(p_user_id text, p_wordings text[])
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  stating constant uuid[] := memory._stating_contents(p_user_id,
    array(select a.content_id from memory.artifacts as a where a.user_id = p_user_id), p_wordings);
  removed bigint;
begin
  delete from memory.artifacts as a where a.user_id = p_user_id and a.content_id = any (stating);
  get diagnostics removed = row_count;
  return case when removed > 0 then jsonb_build_object('artifacts', removed) else jsonb '{}' end;
end;
$$;

-- Which of these contents have one of these wordings in them. All are read once for what they may state; a word may
-- cross the boundary of two parts.
create or replace function memory._stating_contents(p_user_id text, p_content_ids uuid[], p_wordings text[])
returns uuid[]
language plpgsql volatile parallel safe -- sees what was committed while the caller waited for locks
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

-- Whether a content has one of these wordings in it, across the boundaries of its parts. It is spelled by stretches of
-- 256 KiB or four times the longest wording, each with the end of the one before, so that each byte is looked at once
-- or twice however long the wordings are.
create or replace function memory._content_states_any(p_user_id text, p_content_id uuid, p_wordings text[])
returns boolean
language plpgsql volatile parallel safe -- as memory._stating_contents()
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
    -- The mark at the end keeps the blank before it.
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
