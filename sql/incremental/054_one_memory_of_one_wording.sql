-- One memory for one wording: the same words of an agent are one memory, whatever type they were stored as. Earlier
-- versions stored them once per type. Of those the memory stays that has not expired, was stated, is more than a plain
-- fact, and came first, in this order; it hides the others as duplicates, so that none is lost. What triggers would do
-- besides is done here: those of an earlier version may be in place.
alter table memory.memories disable trigger user;
with duplicates as materialized (
  select w.user_id, w.memory_id, w.agent_id, w.winner
  from (
    select m.user_id, m.memory_id, m.agent_id, first_value(m.memory_id) over (
        partition by m.user_id, m.agent_id, m.content_hash
        order by coalesce(m.expires_at <= statement_timestamp(), false), m.is_stated desc, m.memory_type = 'fact',
          m.created_at, m.memory_id) as winner
    from memory.memories as m
    where m.superseded_at is null and m.deleted_at is null) as w
  where w.winner <> w.memory_id
), kept as (
  insert into memory.memory_history (
    user_id, memory_id, version, operation, content, metadata, tags, confidence, importance, expires_at, changed_at,
    changed_by)
  select m.user_id, m.memory_id, m.version, m.operation, m.content, m.metadata, m.tags, m.confidence, m.importance,
    m.expires_at, m.updated_at, m.changed_by
  from duplicates as d join memory.memories as m on m.user_id = d.user_id and m.memory_id = d.memory_id
), unfindable as (
  update memory.embeddings as e
  set valid_until = '-infinity'
  from duplicates as d
  where e.user_id = d.user_id and e.source = 'memory' and e.id = d.memory_id::text
), counted as (
  update memory.memory_scopes as s
  set memory_count = s.memory_count - d.hidden
  from (select x.user_id, x.agent_id, count(*) as hidden from duplicates as x group by x.user_id, x.agent_id) as d
  where s.user_id = d.user_id and s.agent_id = d.agent_id
)
update memory.memories as m
set superseded_by = d.winner, supersede_reason = 'duplicate', superseded_at = statement_timestamp(),
    updated_at = statement_timestamp(), version = m.version + 1, operation = 'supersede', changed_by = session_user
from duplicates as d
where m.user_id = d.user_id and m.memory_id = d.memory_id;
alter table memory.memories enable trigger user;

drop index memory.memories_content_hash_idx, memory.memories_hidden_hash_idx, memory.memories_quarantined_idx;
create unique index memories_content_hash_idx on memory.memories (user_id, agent_id, content_hash)
  where superseded_at is null and deleted_at is null;
create index memories_hidden_hash_idx on memory.memories (user_id, agent_id, content_hash)
  where superseded_at is not null and deleted_at is null;
create index memories_quarantined_idx on memory.memories (user_id, agent_id, content_hash)
  where quarantined_at is not null;

comment on column memory.memories.said_at is
'When it was last said: in the newest message that states it, or by the last memory.add_memory() that repeated it. Null '
'for a memory that was stored once and that no message states: it was said at created_at.';

-- The languages by which words of a user's texts may still be parsed after search.language was changed, and how far
-- they are parsed anew. A search looks both up; few users have such rows.
create index marks_languages_idx on memory.marks (user_id) where kind in ('language', 'parsed_anew');
create index policies_language_idx on memory.policies (user_id) where settings -> 'search' ? 'language';
comment on column memory.marks.position is
'extract_memories, summarize_user: the seq up to which the thread was read. words: the seq up to which all messages '
'are parsed and have search_keys. extractions: how many there were. reconcile_memories, consolidate: the time of the '
'newest memory looked at, in microseconds since 1970. unchecked: how far memory.sweep() has to look at what was '
'stored before version 0.2 had rules of quarantine. claims: erasures hold this row so that no worker claims a job of '
'the user meanwhile. language: scope names a language by which texts may still be parsed. parsed_anew: which source '
'of search is parsed anew, scope names the last text.';

-- Words of texts are parsed by the language of each text. Those of texts from before were all parsed by search.language:
-- these marks have jobs parse them anew, and a search compares the query in that language meanwhile.
insert into memory.marks (user_id, scope, kind, position)
select u.user_id, 'language:' || coalesce(
    (select p.settings #>> '{search,language}' from memory.policies as p where p.user_id = '' and p.agent_id = ''),
    'english'), 'language', (extract(epoch from statement_timestamp()) * 1000000)::bigint
from (
  select t.user_id from memory.threads as t
  union select s.user_id from memory.memory_scopes as s
  union select d.user_id from memory.documents as d
  union select a.user_id from memory.artifacts as a) as u
order by u.user_id;
