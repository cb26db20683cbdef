-- Moves a content that plain SQL has inserted into its parts, by an update whose own trigger does the work. A trigger
-- before the insert could not do it: "on conflict do update set content = excluded.content" has to see the content, and
-- "on conflict do nothing" would leave parts that no artifact names. memory.store_artifact() stores the parts first, so
-- that a content is written once.
create or replace function memory._artifact_content_after_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update memory.artifacts as a set content_id = a.content_id where a.user_id = new.user_id and a.key = new.key;
  return null;
end;
$$;

-- Has the words of a new or changed artifact parsed, and a new artifact described.
create or replace function memory._artifact_after_write()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    if new.content_id <> old.content_id then
      perform memory._drop_artifact_texts(old.user_id, old.key, old.content_id);
      perform memory._delete_content(old.user_id, old.content_id);
    else -- the first part has the words of the description, too
      perform memory._drop_texts(new.user_id, 'artifact', array[new.key || '/0']);
      update memory.artifact_parts as p
      set is_parsed = false
      where p.user_id = new.user_id and p.content_id = new.content_id and p.first_byte = 0;
    end if;
  end if;
  perform memory._enqueue_due(new.user_id, 'parse_artifacts', '');
  if tg_op = 'INSERT' and new.awaits_description then
    perform memory._enqueue_due(new.user_id, 'describe_artifact', '');
  end if;
  return null;
end;
$$;

-- Deletes the parts and texts of deleted artifacts.
create or replace function memory._artifacts_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- the writer may lack rights on memory.texts
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Goes row by row, because a join is planned badly without statistics, and a session keeps its first plan.
  perform memory._drop_artifact_texts(o.user_id, o.key, o.content_id),
    memory._delete_content(o.user_id, o.content_id)
  from old_rows as o;
  return null;
end;
$$;

-- Deletes the texts of a content. The parts of the content must still exist.
create or replace function memory._drop_artifact_texts(p_user_id text, p_key text, p_content_id uuid)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._drop_texts(p_user_id, 'artifact', array(
    select p_key || '/' || p.first_byte from memory.artifact_parts as p
    where p.user_id = p_user_id and p.content_id = p_content_id));
end;
$$;
