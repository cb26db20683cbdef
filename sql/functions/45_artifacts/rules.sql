create or replace function memory._check_artifact(candidate memory.artifacts)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', candidate.user_id);
  perform memory._check_id('key', coalesce(candidate.key, 'made of the description'));
  perform memory._check_id('artifact_type', candidate.artifact_type);
  perform memory._check_id('agent_id', candidate.agent_id);
  perform memory._check_id('thread_id', coalesce(candidate.thread_id, 'none'));
  -- A model has to copy a key out of a placeholder, so it has no blanks and no letters that look alike.
  if candidate.key !~ '^[A-Za-z0-9._:/@#=+-]+$' then
    perform memory._refuse('key', 'has characters that a placeholder cannot hold',
      'Use letters and digits of ASCII and . _ : / @ # = + -, or leave it out and one is made of the description.');
  end if;
  perform memory._check_text(candidate.content, 10485760, 'Pass what is to be kept; what is empty needs no placeholder.');
  if length(candidate.description) > 500 then
    perform memory._refuse('description', format('has %s characters, at most 500 are allowed', length(candidate.description)),
      'It is the one line that a context shows; put more into the content or the metadata.', '54000');
  end if;
  perform memory._check_metadata(candidate.metadata);
  perform memory._check_moment('created_at', candidate.created_at);
  perform memory._check_bound('expires_at', candidate.expires_at);
end;
$$;
