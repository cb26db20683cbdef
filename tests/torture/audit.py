"""Everything that is counted, reserved or derived, computed again from the rows it stands for.

Each query returns the rows that are wrong. All must be empty after whatever has happened to the server.
"""

from __future__ import annotations

from typing import Any

import psycopg

HISTORY_GAPS = "memories with a gap in their history"
"""Right where a memory says anew, or said once, what was forgotten of another one."""

WRONG = {
    "threads whose counters are not those of their messages": """
        select t.user_id, t.thread_id, t.message_count, s.messages, t.active_tokens, s.tokens
        from memory.threads as t
        cross join lateral (
          select count(*) filter (where m.is_active) as messages,
            coalesce(sum(m.token_count) filter (where m.is_active), 0) as tokens
          from memory.messages as m where m.user_id = t.user_id and m.thread_id = t.thread_id) as s
        where (t.message_count, t.active_tokens) <> (s.messages, s.tokens)""",
    "threads that would number a message twice": """
        select t.user_id, t.thread_id, t.next_seq, max(s.seq) from memory.threads as t
        join (select m.user_id, m.thread_id, m.seq from memory.messages as m
              union all
              select k.user_id, k.thread_id, k.seq from memory.idempotency_keys as k) as s using (user_id, thread_id)
        group by 1, 2, 3 having max(s.seq) >= t.next_seq""",
    "threads whose times are not those of their messages": """
        select t.user_id, t.thread_id from memory.threads as t
        join memory.messages as m using (user_id, thread_id)
        group by t.user_id, t.thread_id, t.first_at, t.last_at
        having (t.first_at <= min(m.created_at) and t.last_at >= max(m.created_at)) is not true""",
    "messages without a thread": """
        select m.user_id, m.thread_id, m.seq from memory.messages as m
        where not exists (
          select from memory.threads as t where t.user_id = m.user_id and t.thread_id = m.thread_id)""",
    "messages stored twice": """
        select s.user_id, s.thread_id, s.idempotency_key from (
          select m.user_id, m.thread_id, m.idempotency_key from memory.messages as m
          where m.idempotency_key is not null
          union all
          select k.user_id, k.thread_id, k.idempotency_key from memory.idempotency_keys as k) as s
        group by 1, 2, 3 having count(*) > 1""",
    "messages that name an artifact which is gone": """
        select m.user_id, m.thread_id, m.seq, m.artifact_key from memory.messages as m
        where m.artifact_key is not null and m.is_active
          and not exists (
            select from memory.artifacts as a where a.user_id = m.user_id and a.key = m.artifact_key)""",
    "agents whose counter is not that of their memories": """
        select s.user_id, s.agent_id, s.memory_count from memory.memory_scopes as s
        where s.memory_count <> (
          select count(*) from memory.memories as m
          where m.user_id = s.user_id and m.agent_id = s.agent_id
            and m.superseded_at is null and m.deleted_at is null)""",
    "memories that no agent counts": """
        select m.user_id, m.memory_id from memory.memories as m
        where not exists (
          select from memory.memory_scopes as s where s.user_id = m.user_id and s.agent_id = m.agent_id)""",
    "memories stored twice": """
        select m.user_id, m.agent_id, m.content_hash from memory.memories as m
        where m.superseded_at is null and m.deleted_at is null group by 1, 2, 3 having count(*) > 1""",
    HISTORY_GAPS: """
        select m.user_id, m.memory_id, m.version from memory.memories as m
        where m.version - 1 <> (
          select count(*) from memory.memory_history as h
          where h.user_id = m.user_id and h.memory_id = m.memory_id and h.version < m.version)""",
    "history of memories that are gone": """
        select h.user_id, h.memory_id, h.version from memory.memory_history as h
        where not exists (
          select from memory.memories as m where m.user_id = h.user_id and m.memory_id = h.memory_id)""",
    "hidden memories without a winner": """
        select m.user_id, m.memory_id from memory.memories as m
        where m.superseded_by is not null and m.deleted_at is null
          and not exists (
            select from memory.memories as w where w.user_id = m.user_id and w.memory_id = m.superseded_by)
          and not exists (
            select from memory.documents as d where d.user_id = m.user_id and d.document_id = m.superseded_by)""",
    "memories that are half superseded": """
        select m.user_id, m.memory_id from memory.memories as m
        where num_nonnulls(m.superseded_at, m.superseded_by, m.supersede_reason) not in (0, 3)""",
    "jobs that are not running but keep a lease or a reservation": """
        select j.user_id, j.job_id, j.status, j.tokens_reserved from memory.jobs as j
        where j.status <> 'running' and (num_nonnulls(j.lease_token, j.lease_expires_at) > 0 or j.tokens_reserved <> 0)
          or j.status = 'running' and num_nulls(j.lease_token, j.lease_expires_at) > 0""",
    "jobs queued twice": """
        select j.user_id, j.kind, j.scope, j.variant from memory.jobs as j
        where j.status in ('pending', 'running') group by 1, 2, 3, 4 having count(*) > 1""",
    "summaries that wait for a job that is gone": """
        select s.user_id, s.thread_id, s.summary_id from memory.summaries as s
        where s.status = 'processing' and not exists (
          select from memory.jobs as j
          where j.user_id = s.user_id and j.status in ('pending', 'running')
            and j.input ->> 'summary_id' = s.summary_id::text)""",
    "summaries whose range is not that of their chain": """
        select s.user_id, s.thread_id, s.summary_id, s.start_seq, s.end_seq from memory.summaries as s
        left join memory.summaries as b on b.user_id = s.user_id and b.summary_id = s.base_summary_id
        where s.thread_id is not null
          and (s.start_seq > s.end_seq or b.end_seq > s.end_seq or b.thread_id <> s.thread_id)""",
    "compressed messages without a summary": """
        select m.user_id, m.thread_id, m.seq from memory.messages as m
        where m.summary_id is not null and not exists (
          select from memory.summaries as s
          where s.user_id = m.user_id and s.thread_id = m.thread_id and s.kind = 'thread' and s.end_seq >= m.seq)
          and not exists ( -- that is to be made anew
            select from memory.jobs as j
            where j.user_id = m.user_id and j.scope = m.thread_id and j.status in ('pending', 'running')
              and (j.kind, j.variant) = ('summarize_thread', 'thread'))""",
    "artifacts whose parts do not make up their content": """
        select a.user_id, a.key, a.token_count, p.bytes from memory.artifacts as a
        cross join lateral (
          select coalesce(sum(octet_length(p.content)), 0) as bytes, coalesce(max(p.first_byte), 0) as last_byte,
            coalesce(sum(octet_length(p.content)) filter (
              where p.first_byte < (select max(l.first_byte) from memory.artifact_parts as l
                                    where l.user_id = a.user_id and l.content_id = a.content_id)), 0) as before_last
          from memory.artifact_parts as p where p.user_id = a.user_id and p.content_id = a.content_id) as p
        where a.token_count <> ceil(p.bytes / 4.0) or p.last_byte <> p.before_last""",
    "parts of artifacts that are gone": """
        select distinct p.user_id, p.content_id from memory.artifact_parts as p
        where not exists (
            select from memory.artifacts as a where a.user_id = p.user_id and a.content_id = p.content_id)
          and not exists (
            select from memory.artifact_uploads as u where u.user_id = p.user_id and u.upload_id = p.content_id)""",
    "chunks of documents that are gone": """
        select distinct c.user_id, c.document_id from memory.document_chunks as c
        where not exists (
          select from memory.documents as d where d.user_id = c.user_id and d.document_id = c.document_id)""",
    "texts that differ from their source": """
        select t.user_id, t.source, t.id from memory.texts as t
        left join lateral memory._source_texts(t.user_id, t.source, array[t.id]) as s on true
        where s.id is null or (t.thread_id, t.number, t.agent_id, t.created_at, t.valid_until, t.hash)
          is distinct from (s.thread_id, s.number, s.agent_id, s.created_at, s.valid_until, md5(s.embedded)::uuid)""",
    "memories without a text": """
        select m.user_id, m.memory_id from memory.memories as m
        where not memory._is_parsed(m.user_id, 'memory', m.memory_id::text)""",
    "embeddings of texts that are gone": """
        select e.user_id, e.source, e.id from memory.embeddings as e
        where not exists (
          select from memory.texts as t
          where t.user_id = e.user_id and t.source = e.source and t.id = e.id and t.hash = e.hash)""",
    "marks of threads that are gone": """
        select k.user_id, k.scope, k.kind from memory.marks as k
        where k.user_id <> '' and k.scope <> '' and k.kind not in ('language', 'parsed_anew', 'spoken') and not exists (
          select from memory.threads as t where t.user_id = k.user_id and t.thread_id = k.scope)""",
}


def problems(connection: psycopg.Connection[Any], but: tuple[str, ...] = ()) -> list[str]:
    """What is wrong in a database, one line for each kind ``but`` these, with an example."""
    found = []
    for problem, query in WRONG.items():
        if problem not in but and (rows := connection.execute(query).fetchall()):
            found.append(f"{len(rows)} {problem}, such as {rows[0]}")
    return found
