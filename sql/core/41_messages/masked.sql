-- A message is stored with marks in place of its credentials if the policy has secrets.mask_in_threads, and in place of
-- personal data of the classes in masking.classes. p_masks is the result of memory._masks().

-- The content with marks. The placeholder of an artifact stays whole, even if its key looks random.
create or replace function memory._masked_content(p_content text, p_artifact_key text, p_masks text[])
returns text
language plpgsql stable parallel unsafe
as $$
declare
  masked constant text := memory._masked(p_content, p_masks);
begin
  perform memory._check_content(masked, memory._max_message_bytes()); -- marks can be longer than the data
  return case when p_artifact_key is null or memory._ref_in(masked, p_artifact_key) is not null then masked
    else p_content end;
end;
$$;

-- The metadata with marks. Credentials are masked only in the parts that belong to what was said: the caller's own
-- metadata may hold a key by which the caller looks something up.
create or replace function memory._masked_metadata(p_metadata jsonb, p_masks text[])
returns jsonb
language plpgsql immutable parallel unsafe
as $$
begin
  if p_masks <> '{credential}' then
    p_metadata := memory._json_masked(p_metadata, array_remove(p_masks, 'credential'));
  end if;
  return case when 'credential' = any (p_masks) and p_metadata ?| memory._said_members()
    then p_metadata || memory._json_masked(memory._said_parts(p_metadata), '{credential}') else p_metadata end;
end;
$$;
