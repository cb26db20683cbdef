-- What placeholders are (the prompt placeholders), for a context in which one stands.

-- The tokens that are kept free for it: where a message of the thread is kept as an artifact, those of the whole
-- paragraph, if a quarter of the context is enough. Otherwise the context shows the paragraph if the other parts leave
-- room.
create or replace function memory._tokens_for_placeholders(p_asking memory._asking, p_max_tokens int)
returns int
language plpgsql stable parallel safe
as $$
declare
  needed int;
begin
  if exists (
    select from memory.messages as m
    where m.user_id = p_asking.user_id and m.thread_id = p_asking.thread_id and m.artifact_key is not null
      and m.is_active) then
    needed := memory._tokens_at_most(memory._prompt('placeholders') ->> 'template');
  end if;
  return case when needed <= p_max_tokens / 4 then needed else 0 end;
end;
$$;

create or replace function memory._placeholder_offer(
  p_asking memory._asking, p_offers memory._offer[], p_max_tokens int
)
returns memory._offer[]
language plpgsql stable parallel safe
as $$
declare
  named constant text[] := array(
    select unnest(memory._named_keys(o.content)) from unnest(p_offers) as o
    where o.why_not is null and strpos(o.content, 'MemoryRef: ') > 0);
  paragraph text;
  tokens int;
begin
  if named = '{}'
    or not exists (select from memory._current_artifacts(p_asking.user_id) as a where a.key = any (named)) then
    return array[]::memory._offer[];
  end if;
  paragraph := btrim(memory._prompt('placeholders') ->> 'template', e' \n');
  tokens := memory._tokens_at_most(paragraph);
  if tokens + memory._shown_tokens(p_offers) > p_max_tokens then
    return array[memory._left_out('instructions', 'does not fit', tokens)];
  end if;
  return array[row(0, 9223372036854775807, 'instructions', null, 'system', paragraph, tokens, '{}', null, null, null)
    ::memory._offer];
end;
$$;
