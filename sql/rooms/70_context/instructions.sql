-- The prompt named placeholders is a paragraph that teaches a model what placeholders are. The paragraph stands in a
-- context only if a placeholder of an artifact stands there, after the instructions that begin the thread and before
-- all other parts.

-- The number of tokens that a context keeps free for the paragraph. This is the whole paragraph if a message of the
-- thread is kept as an artifact and a quarter of the context is enough for the paragraph. Otherwise the number is 0,
-- and the context shows the paragraph if the other parts leave room.
create or replace function memory._instruction_room(p_user_id text, p_thread_id text, p_max_tokens int)
returns int
language plpgsql stable parallel safe
as $$
declare
  needed int;
begin
  if not exists (
    select from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.artifact_key is not null and m.is_active) then
    return 0;
  end if;
  needed := memory._tokens_at_most(memory._prompt('placeholders') ->> 'template');
  return case when needed <= p_max_tokens / 4 then needed else 0 end;
end;
$$;

-- The parts of a context, numbered in this order. The paragraph is among the parts if a part names an artifact of the
-- user and p_max_tokens leave room for the paragraph. It stands before the first part whose ordinal is above 0. In
-- recalled and summarised texts the placeholders of the user's artifacts work again.
create or replace function memory._with_instructions(
  p_user_id text, p_parts memory.context_part[], p_max_tokens int
)
returns setof memory.context_part
language plpgsql stable parallel safe
as $$
declare
  part memory.context_part;
  paragraph memory.context_part;
  named text[] := array[]::text[];
  template text;
  needed int;
  place int := 0;
begin
  foreach part in array p_parts loop
    if strpos(part.content, 'MemoryRef: ') > 0 then
      named := named || memory._named_keys(part.content);
    end if;
  end loop;
  if named <> '{}' and exists (select from memory._current_artifacts(p_user_id) as a where a.key = any (named)) then
    template := btrim(memory._prompt('placeholders') ->> 'template', e' \n');
    needed := memory._tokens_at_most(template);
    if needed + memory._tokens_of(p_parts) <= p_max_tokens then
      paragraph := row(0, 'system', template, 'instructions', needed, '{}')::memory.context_part;
    end if;
  end if;
  foreach part in array p_parts loop
    if paragraph.content is not null and part.ordinal > 0 then
      place := place + 1;
      return next (
        place, paragraph.role, paragraph.content, paragraph.source, paragraph.token_count,
        paragraph.metadata)::memory.context_part;
      paragraph := null;
    end if;
    place := place + 1;
    return next (
      place, part.role,
      case when part.source = 'message' or named = '{}' then part.content
        else memory._with_own_refs(p_user_id, part.content) end,
      part.source, part.token_count, part.metadata)::memory.context_part;
  end loop;
end;
$$;
