-- The messages p_from_seq to p_to_seq of a thread, in the form in which a job gives them to a model.
--
-- With p_speakers_only the result has only messages of users and assistants, without text that was recalled from
-- memory. Limits: a jsonb array holds 256 MiB and models read far less, so the function cuts each content at 64 KiB and
-- limits the number of messages and of tokens. A message counts as at most 2,000 tokens, because prompts show 8,000
-- characters of it. The first message is in the result even if it alone exceeds the limits. With p_speakers_only,
-- p_byte_limit limits the bytes that are read, because removing recalled text from 64 KiB takes up to 40 ms; each row
-- counts as 100 bytes plus the bytes that are read of it. The loop goes row by row, so that it reads no more rows than
-- fit.
--
-- With p_with_tools the result also has messages that call tools without a text, and the outputs of tools, each with
-- the id of the call that it answers, where the message's agent learns from tools (policy extraction.procedures).
-- Outputs that are in quarantine, or that wait for a verdict, are left out.
--
-- With p_reads_expired the result also has expired messages that wait for extraction (awaits_extraction.sql).
--
-- created_at is written with the UTC offset of the zone in which the speaker counts days, so that its first ten
-- characters are the speaker's day.
--
-- last_seq is the last message in the result, examined_seq the last message that was read. is_partial says that a limit
-- ended the reading there.
create or replace function memory._message_payload(
  p_user_id text, p_thread_id text, p_from_seq bigint, p_to_seq bigint, p_speakers_only boolean, p_row_limit int,
  p_token_limit int, p_byte_limit bigint default 1000000, p_reads_expired boolean default false,
  p_with_tools boolean default false,
  out messages jsonb, out last_seq bigint, out examined_seq bigint, out is_partial boolean, out agent_ids text[],
  out tokens int, out bytes bigint
)
language plpgsql stable parallel unsafe
as $$
declare
  message record;
  metadata jsonb;
  said text;
  calls_bytes int;
  agent text; -- the agent of the message before
  utc_offset smallint;
  zone text; -- the zone of messages of this agent with this offset
  here timestamp;
  shift interval;
  learner text; -- the agent of the message before, and whether it learns from tools
  learns boolean := false;
  is_output boolean; -- the message is an output that the agent learns from
  given jsonb[] := array[]::jsonb[];
begin
  is_partial := false;
  agent_ids := array[]::text[];
  tokens := 0;
  bytes := 0;
  for message in
    select m.seq, m.role, m.agent_id, m.content, m.metadata, m.created_at, m.token_count, m.is_counted, m.utc_offset,
      memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
        or p_reads_expired and memory._awaits_extraction(m) as is_readable
    from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq between p_from_seq and p_to_seq
      and (p_speakers_only or memory._is_readable_message(m.is_active, m.summary_id, m.expires_at))
    order by m.seq
  loop
    if p_speakers_only and bytes >= p_byte_limit then
      is_partial := true;
      exit;
    end if;
    bytes := bytes + 100;
    if p_with_tools and message.agent_id is distinct from learner then
      learner := message.agent_id;
      learns := (memory._policy_section(p_user_id, learner, 'extraction') ->> 'procedures')::boolean;
    end if;
    is_output := learns and message.role = 'tool';
    if message.is_readable and (not p_speakers_only or message.role in ('user', 'assistant') or is_output) then
      metadata := message.metadata || '{}'; -- fetches and decompresses the value once instead of with each key
      said := left(message.content, 65536);
      if memory._is_held_back(p_user_id, p_thread_id, message.seq, message.role, metadata, said)
        or is_output and memory._awaits_verdict(p_user_id, p_thread_id, message.seq, message.role, metadata) then
        said := memory._quarantine_notice();
      end if;
      is_output := is_output and said <> memory._quarantine_notice();
      bytes := bytes + octet_length(said) + pg_column_size(message.metadata);
      if p_speakers_only then
        said := case
          when metadata ->> 'recalled' is distinct from 'true' then memory._without_recalled(said)
          else ''
        end;
      end if;
      if not p_speakers_only or is_output
        or message.role <> 'tool' and (said ~ e'\\S' or learns and metadata ? 'tool_calls') then
        if cardinality(given) > 0
          and (cardinality(given) >= p_row_limit or tokens + least(message.token_count, 2000) > p_token_limit) then
          is_partial := true;
          exit;
        end if;
        if zone is null or (agent, utc_offset) is distinct from (message.agent_id, message.utc_offset) then
          zone := memory._zone_of(p_user_id, p_thread_id, message.seq);
          agent := message.agent_id;
          utc_offset := message.utc_offset;
        end if;
        here := message.created_at at time zone zone;
        shift := here - message.created_at at time zone 'UTC';
        calls_bytes := octet_length(metadata ->> 'tool_calls');
        given := given || jsonb_strip_nulls(jsonb_build_object(
          'seq', message.seq, 'role', message.role, 'name', left(metadata ->> 'name', 255), 'content', said,
          'created_at', (to_jsonb(here) #>> '{}') || case when shift < '0' then '-' else '+' end
            || to_char(greatest(shift, -shift), 'HH24:MI'),
          'token_count', message.token_count,
          'tool_calls', case when calls_bytes <= 65536 then metadata -> 'tool_calls' end,
          'tool_call_id', case when is_output then left(metadata ->> 'tool_call_id', 255) end,
          'is_counted', nullif(message.is_counted, false),
          -- The worker cannot count the tokens of a message of which the payload has only a part, such as a message
          -- without its pictures.
          'is_cut', nullif(octet_length(said) < octet_length(message.content) or calls_bytes > 65536
            or memory._file_tokens(metadata) > 0, false)));
        last_seq := message.seq;
        tokens := tokens + least(message.token_count, 2000);
        if not message.agent_id = any (agent_ids) then
          agent_ids := agent_ids || message.agent_id;
        end if;
      end if;
    end if;
    examined_seq := message.seq;
  end loop;
  if cardinality(given) > 0 then
    messages := to_jsonb(given);
  end if;
end;
$$;

create or replace function memory._agent_of_message(p_user_id text, p_thread_id text, p_seq bigint)
returns text
language plpgsql stable parallel safe
as $$
begin
  return m.agent_id from memory.messages as m
  where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq = p_seq;
end;
$$;
