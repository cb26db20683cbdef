-- Refuses an artifact that breaks a rule.
create or replace function memory._check_artifact(p_candidate memory.artifacts)
returns void
language plpgsql immutable parallel safe
as $$
begin
  perform memory._check_id('user_id', p_candidate.user_id);
  perform memory._check_id('key', coalesce(p_candidate.key, 'made of the description'));
  perform memory._check_id('artifact_type', p_candidate.artifact_type);
  perform memory._check_id('agent_id', p_candidate.agent_id);
  perform memory._check_id('thread_id', coalesce(p_candidate.thread_id, 'none'));
  -- A model copies the key out of a placeholder, so a key has no blanks and no letters that look alike.
  if p_candidate.key !~ '^[A-Za-z0-9._:/@#=+-]+$' then
    perform memory._refuse('key', 'has characters that a placeholder cannot hold',
      'Use letters and digits of ASCII and . _ : / @ # = + -, or leave it out and one is made of the description.');
  end if;
  if length(p_candidate.description) > 500 then
    perform memory._refuse('description',
      format('has %s characters, at most 500 are allowed', length(p_candidate.description)),
      'It is the one line that a context shows; put more into the content or the metadata.', '54000');
  end if;
  perform memory._check_metadata(p_candidate.metadata);
  perform memory._check_moment('created_at', p_candidate.created_at);
  perform memory._check_bound('expires_at', p_candidate.expires_at);
end;
$$;

-- Refuses a content that is null, empty or too long.
create or replace function memory._check_artifact_content(p_content text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  perform memory._check_text(p_content, memory._max_file_bytes(),
    'Pass the text to keep; an empty text needs no placeholder.');
end;
$$;
