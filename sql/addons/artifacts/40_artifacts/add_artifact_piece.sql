create or replace function memory.add_artifact_piece(user_id text, content text, upload_id uuid default null)
returns uuid
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  if (content <> '') is not true then
    perform memory._refuse('content', case when content is null then 'must not be null' else 'must not be empty' end,
      'Pass the next piece of the text, or end the upload with memory.store_artifact().');
  end if;
  if upload_id is null then
    upload_id := memory._uuid_v7();
    insert into memory.artifact_uploads (user_id, upload_id) values (add_artifact_piece.user_id, upload_id);
  else
    -- Two pieces that come at the same time are stored one after the other, because each call locks this row.
    update memory.artifact_uploads as u
    set updated_at = statement_timestamp()
    where u.user_id = add_artifact_piece.user_id and u.upload_id = add_artifact_piece.upload_id;
    if not found then
      perform memory._refuse_upload(upload_id);
    end if;
  end if;
  perform memory._append_content(user_id, upload_id, content);
  if memory._is_space(user_id) then
    perform memory._note_writer(user_id, 'upload', upload_id::text, false);
  end if;
  return upload_id;
end;
$$;
comment on function memory.add_artifact_piece(text, text, uuid) is
'Sends a long text in pieces. The first call, without upload_id, begins an upload and returns its upload_id; each '
'further call adds a piece; memory.store_artifact(user_id, null, upload_id => ...) makes an artifact of all. Until '
'then nobody can find or read it, and memory.sweep() deletes it a day after its last piece.';

create or replace function memory._refuse_upload(p_upload_id uuid)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._refuse('upload_id', format('this user has no upload "%s"', p_upload_id),
    'It was stored already, or a day has passed since its last piece. memory.add_artifact_piece() begins a new one.',
    'P0002');
end;
$$;
