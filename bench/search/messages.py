"""How long search among the messages of one user takes, by how many there are, with many other users in the tables."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import psycopg
from agent_memory import Memory

from bench.search.asking import Query, asking
from bench.search.memories import Directions, Texts, as_text
from bench.search.storing import embed
from bench.support.environment import say
from bench.support.times import in_turns, points

SIZES = [1_000, 10_000, 100_000]
DIMENSIONS = 384
OTHERS, MESSAGES_OF_OTHERS = 1_000, 100
OF_A_THREAD = 250
APPENDED_AT_ONCE = 50
QUERIES = 40
LIMIT = 10

_SEARCH = f"""
select id, content from memory.search(user_id => %(user)s, query => %(query)s, query_embedding => %(vector)s::vector,
  sources => '{{{{message}}}}', top_k => {LIMIT}, {{more}})
"""
VARIANTS = {
    name: _SEARCH.format(more=more)
    for name, more in {
        "keyword": "mode => 'keyword'",
        "vector": "mode => 'vector'",
        "hybrid": "mode => 'hybrid'",
        "hybrid, half of the agents": "agent_id => 'agent 0'",
        "hybrid, without a thread": "exclude_thread_id => '0'",
        "hybrid, the newer half": "created_after => %(middle)s",
        "hybrid, metadata of one in ten": """filter => '{"digit": 7}'""",
    }.items()
} | {
    "get_context with recall": """
select content from memory.get_context(user_id => %(user)s, thread_id => 'new', query => %(query)s,
  query_embedding => %(vector)s::vector)
"""
}
BY_HAND = "hybrid by hand"
_BY_HAND = f"""
with near as (
  select n.*, row_number() over (order by n.distance) as place
  from (
    select thread_id, seq, content, embedding <=> %(vector)s::halfvec as distance
    from by_hand where user_id = %(user)s order by distance limit 50) as n
),
query as materialized (
  select replace(plainto_tsquery('english', %(query)s)::text, '&', '|')::tsquery as words
),
worded as (
  select w.*, row_number() over (order by w.score desc) as place
  from (
    select b.thread_id, b.seq, b.content, ts_rank_cd(b.words, q.words) as score
    from by_hand as b, query as q where b.user_id = %(user)s and b.words @@ q.words order by score desc limit 50) as w
)
select coalesce(n.content, w.content), coalesce(1.0 / (60 + n.place), 0) + coalesce(1.0 / (60 + w.place), 0) as score
from near as n full join worded as w using (thread_id, seq)
order by score desc limit {LIMIT}
"""
"""What an application would write that keeps words and embeddings in a table of its own: reciprocal ranks of both."""
VARIANTS = {BY_HAND: _BY_HAND} | VARIANTS


def measure(connection: psycopg.Connection, sizes: Sequence[int], calls: int) -> dict[str, Any]:
    """Milliseconds of searches for a user of each size, all in one empty database; the searches take turns."""
    started = time.monotonic()
    rng, sentences, directions = random.Random(3), Texts(seed=3), Directions(DIMENSIONS, seed=3)
    contents = _store(connection, sizes, sentences, directions, rng)
    say(f"  {sum(map(len, contents.values())):,} messages in {time.monotonic() - started:.0f} s")
    vectors = [as_text(vector) for vector in directions.draw(QUERIES)]
    users = []
    for user in map(str, sizes):
        queries: list[Query] = [
            {
                "user": user,
                "query": sentences.question(rng.choice(contents[user])),
                "vector": vector,
                "middle": _time(int(user) // 2),
            }
            for vector in vectors
        ]
        users.append({"messages": int(user), "milliseconds": _measure(connection, queries, calls)})
        say(f"  {users[-1]}")
    return {"others": OTHERS, "messages_of_others": MESSAGES_OF_OTHERS, "dimensions": DIMENSIONS, "users": users}


def _store(
    connection: psycopg.Connection, sizes: Sequence[int], sentences: Texts, directions: Directions, rng: random.Random
) -> dict[str, list[str]]:
    """Stores the messages of all users, who write at the same time, with words and embeddings; returns the texts."""
    memory = Memory(connection)
    memory.admin.set_policy({"messages": {"expires_after": "never"}, "summary": {"enabled": False}})
    memory.admin.set_policy({"compression": {"enabled": False}, "cadence": {"fact_extraction_every_n": 0}})
    left = {str(size): size for size in sizes} | {f"other {each}": MESSAGES_OF_OTHERS for each in range(OTHERS)}
    turns = [user for user, size in left.items() for _ in range(0, size, APPENDED_AT_ONCE)]
    contents: dict[str, list[str]] = {user: [] for user in left}
    rng.shuffle(turns)
    for user in turns:
        first = len(contents[user])
        numbers = range(first, min(first + APPENDED_AT_ONCE, left[user]))
        said = [sentences.sentence() for _ in numbers]
        contents[user] += said
        messages = [
            {
                "role": ("user", "assistant")[number % 2],
                "content": text,
                "metadata": {"digit": number % 10},
                "created_at": _time(number),
            }
            for number, text in zip(numbers, said, strict=True)
        ]
        agent = f"agent {first // APPENDED_AT_ONCE % 2}"
        memory.add_messages(user, str(first // OF_A_THREAD), messages, agent_id=agent)
    while memory.admin.sweep()["checked"]:  # jobs would have parsed them
        pass
    ids = connection.execute("select user_id, thread_id || '/' || seq from memory.messages").fetchall()
    rng.shuffle(ids)
    embed(connection, "message", ids, directions)
    connection.execute(
        """
        create table by_hand as
        select m.user_id, m.thread_id, m.seq, m.content, to_tsvector('english', m.content) as words, t.embedding
        from memory.messages as m
        join memory.texts as t on t.user_id = m.user_id and t.source = 'message' and t.id = m.thread_id || '/' || m.seq
        """
    )
    connection.execute("alter table by_hand add primary key (user_id, thread_id, seq)")
    connection.execute("create index on by_hand using gin (words)")
    connection.execute("vacuum analyze")
    connection.execute("checkpoint")
    return contents


def _time(number: int) -> str:
    day, minute = divmod(number, 1000)
    return f"{2020 + day // 336}-{day // 28 % 12 + 1:02}-{day % 28 + 1:02}T{minute // 60:02}:{minute % 60:02}:00Z"


def _measure(connection: psycopg.Connection, queries: Sequence[Query], calls: int) -> dict[str, dict[str, float]]:
    """The milliseconds of each search."""
    searches = {name: asking(connection, statement) for name, statement in VARIANTS.items()}
    # Without a vector, a search by words need not send one.
    by_words = searches["keyword"]
    searches["keyword"] = lambda query: by_words({**query, "vector": None})
    return {name: points(taken) for name, taken in in_turns(searches, queries, calls).items()}
