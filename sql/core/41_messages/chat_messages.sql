-- Functions that read an array of OpenAI chat messages.

-- Refuses anything but an array of at most 100,000 objects whose content is a text, parts or nothing.
-- memory._parse_messages() applies the other rules to each object. The limit bounds memory: parsing takes about 0.2 GB
-- for 100,000 short messages and 2.3 GB for a million.
create or replace function memory._check_chat_messages(p_messages jsonb)
returns void
language plpgsql immutable parallel safe
as $$
declare
  wrong record;
begin
  if jsonb_typeof(p_messages) is distinct from 'array' then
    perform memory._refuse('messages',
      case when p_messages is null then 'must not be null' else 'is not a JSON array' end,
      'Pass an array of chat messages such as [{"role": "user", "content": "Hi"}].');
  end if;
  if jsonb_array_length(p_messages) > 100000 then
    perform memory._refuse('messages',
      format('has %s messages, at most 100000 are allowed', jsonb_array_length(p_messages)),
      'Call it several times, in one transaction where all or none are to be stored.', '54000');
  end if;
  select e.position - 1 as seq, jsonb_typeof(e.value) as kind into wrong
  from jsonb_array_elements(p_messages) with ordinality as e (value, position)
  where jsonb_typeof(e.value) <> 'object'
    or coalesce(jsonb_typeof(e.value -> 'content'), 'null') not in ('null', 'string', 'array')
  limit 1;
  if found and wrong.kind = 'object' then
    perform memory._refuse(format('content of messages[%s]', wrong.seq), 'is neither a text nor an array of parts',
      'Write it like {"role": "user", "content": "Hi"}.');
  elsif found then
    perform memory._refuse('messages', format('[%s] is a JSON %s', wrong.seq, wrong.kind),
      'Each message is an object with role and content.');
  end if;
end;
$$;

-- Makes rows of an array of chat messages. It does not apply the rules of messages.
create or replace function memory._parse_messages(
  p_user_id text, p_thread_id text, p_agent_id text, p_messages jsonb
)
returns memory.messages[]
language plpgsql stable parallel safe
as $$
begin
  return array(
    select memory._new_message(p_user_id, p_thread_id, p_agent_id, p.role, p.content, p.metadata, p.created_at, null,
                               p.idempotency_key, p.utc_offset, p.position - 1)
    from (
      select m.role, m.created_at, m.idempotency_key, m.position,
        -- If the content is an array of parts, their texts become the content; the array itself stays in metadata.
        case jsonb_typeof(m.content)
          when 'string' then m.content #>> '{}'
          when 'array' then (
            select coalesce(string_agg(part.value ->> 'text', e'\n' order by part.position), '')
            from jsonb_array_elements(m.content) with ordinality as part (value, position)
            where part.value ->> 'type' = 'text')
        end as content,
        case
          when m.source - '{role,content,metadata,created_at,idempotency_key}'::text[] <> '{}'
            or jsonb_typeof(m.content) = 'array'
            -- The metadata gets all members that are neither columns of memory.messages nor empty, and the content when
            -- it is an array of parts. Chat APIs add members (id, reasoning_content), so none is refused.
            then coalesce(nullif(m.metadata, 'null'), '{}') || (
              select coalesce(jsonb_object_agg(member.key, member.value), '{}')
              from jsonb_each(m.source - '{role,metadata,created_at,idempotency_key}'::text[]) as member
              where member.value not in ('null', '[]')
                and (member.key <> 'content' or jsonb_typeof(member.value) = 'array'))
          else nullif(m.metadata, 'null')
        end as metadata,
        memory._utc_offset(m.source ->> 'created_at') as utc_offset
      from rows from (
        jsonb_to_recordset(p_messages)
          as (role text, content jsonb, metadata jsonb, created_at timestamptz, idempotency_key text),
        jsonb_array_elements(p_messages)
      ) with ordinality as m (role, content, metadata, created_at, idempotency_key, source, position)
      offset 0 -- each column is computed once per message, not once per use
    ) as p
    order by p.position);
end;
$$;

-- Refuses the first of the members p_names that is not a time. PostgreSQL's own error does not say which message or
-- memory has the bad time. An unknown time zone raises 22023, as other refusals do, so callers call this function after
-- every refusal. p_first is the place of the first item, for errors.
create or replace function memory._refuse_times(p_argument text, p_items jsonb, p_names text[], p_first int default 0)
returns void
language plpgsql stable parallel unsafe
as $$
declare
  member record;
begin
  for member in
    select n.name, e.value ->> n.name as said, p_first + e.position - 1 as place
    from jsonb_array_elements(case jsonb_typeof(p_items) when 'array' then p_items else '[]' end)
      with ordinality as e (value, position)
    cross join unnest(p_names) as n (name)
    order by e.position
  loop
    begin
      perform member.said::timestamptz;
    exception
      when data_exception then
        perform memory._refuse(format('%s of %s[%s]', member.name, p_argument, member.place), sqlerrm,
          'Write it like "2026-05-01T10:00:00Z".');
    end;
  end loop;
end;
$$;
