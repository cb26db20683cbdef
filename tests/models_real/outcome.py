"""What the jobs of a real model left in a database, and what of it is harmful."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tests.models_real.conversations import Conversation, Score, judged, shared_words

EARLIER = 4
"""Messages before those that an extraction reads, which it sees too."""
SAYS_NOTHING_BELOW = 3
"""Words that a summary must have of the messages that it covers."""
_NOT_THE_MODELS_FAULT = re.compile(
    r"time|context|too (?:large|long)|connect|refused to connect|unreachable|50[234]", re.I
)


@dataclass
class Outcome:
    """What was found.

    Attributes:
        calls: calls by kind of job, each with how many failed and its tokens.
        failures: how often each reason stands in the ledger.
        jobs: jobs by kind and status.
        refused: what the database did not store, by kind of job and reason.
        ended: the known memories that replies have ended.
        memories: the texts of the memories, by user.
        stored: the first words of everything that was stored.
        harm: what no message is evidence of, and the jobs that died of something else than their replies.
        scores: the comparison with the labels, by conversation.
    """

    calls: list[dict[str, Any]] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    jobs: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    ended: list[str] = field(default_factory=list)
    memories: dict[str, list[str]] = field(default_factory=dict)
    stored: list[str] = field(default_factory=list)
    harm: list[str] = field(default_factory=list)
    scores: dict[str, Score] = field(default_factory=dict)

    def report(self, *, is_judged: bool) -> str:
        """A page of lines; with `is_judged`, recall and precision come last."""
        lines = [
            f"  {row['kind']}: {row['calls']} calls, {row['failed']} failed, {row['tokens_in']:,} tokens in, "
            f"{row['tokens_out']:,} out, {row['seconds']:.0f} s"
            for row in self.calls
        ]
        lines += [f"  jobs {each}: {count}" for each, count in sorted(self.jobs.items())]
        lines += [f"  failed {count} times: {reason}" for reason, count in self.failures.most_common(12)]
        lines += [f"  refused {each}: {count}" for each, count in sorted(self.refused.items())]
        lines += [f"  stored {text}" for text in self.stored]
        lines += [f"  ended {text}" for text in self.ended]
        lines += [f"  HARM {text}" for text in self.harm] or ["  nothing harmful"]
        if is_judged:
            lines += [_judgement(name, score) for name, score in self.scores.items()]
            lines.append(_judgement("all", _sum(list(self.scores.values()))))
        return "\n".join(lines)


def _judgement(name: str, score: Score) -> str:
    recall = score.found / max(score.facts, 1)
    precision = score.right / max(score.memories, 1)
    told = [f"  {name}: recall {score.found} of {score.facts} ({recall:.0%}), precision {score.right} of "
            f"{score.memories} ({precision:.0%}), {len(score.false)} false"]  # fmt: skip
    if name != "all":
        for what in ("missing", "false", "unknown"):
            told += [f"    {what}: {text[:150]}" for text in getattr(score, what)]
    return "\n".join(told)


def _sum(scores: Sequence[Score]) -> Score:
    numbers = [sum(getattr(score, name) for score in scores) for name in ("found", "facts", "right", "memories")]
    return Score(*numbers, *([text for score in scores for text in getattr(score, name)]
                             for name in ("false", "missing", "unknown")))  # fmt: skip


def outcome(connection: psycopg.Connection, talks: Sequence[Conversation]) -> Outcome:
    """What the tables say after all jobs are done."""
    found = Outcome()
    with connection.cursor(row_factory=dict_row) as cursor:
        found.calls = cursor.execute(
            """
            select kind, count(*) as calls, count(error) as failed, coalesce(sum(tokens_in), 0) as tokens_in,
              coalesce(sum(tokens_out), 0) as tokens_out, coalesce(sum(duration_ms), 0) / 1000.0 as seconds
            from memory.model_calls group by kind order by kind
            """
        ).fetchall()
        for row in cursor.execute("select error from memory.model_calls where error is not null"):
            found.failures[re.sub(r"\d+", "N", row["error"])[:150]] += 1
        for row in cursor.execute(
            "select c.kind, r.key as reason, sum(r.value::int) as number"
            " from memory.model_calls as c cross join jsonb_each_text(c.refusals) as r group by c.kind, r.key"
        ):
            found.refused[f"{row['kind']}: {row['reason']}"] = row["number"]
        for row in cursor.execute("select user_id, kind, status, error from memory.jobs order by job_id"):
            found.jobs[f"{row['kind']} {row['status']}"] += 1
            if row["status"] == "dead" and _NOT_THE_MODELS_FAULT.search(row["error"] or ""):
                found.harm.append(f"a job died: {row['kind']} of {row['user_id']}: {row['error'][:200]}")
        for talk in talks:
            _read(cursor, talk, found)
    return found


def _read(cursor: psycopg.Cursor[dict[str, Any]], talk: Conversation, found: Outcome) -> None:
    said = [str(message["content"]) for message in talk.messages]
    rows = cursor.execute(
        "select subject, content, source_seqs, source from memory.memories"
        " where user_id = %s and superseded_at is null and deleted_at is null order by created_at",
        (talk.name,),
    ).fetchall()
    found.memories[talk.name] = [f"{row['subject'] or 'user'}: {row['content']}" for row in rows]
    for row in rows:
        seqs = row["source_seqs"] or range(len(said))
        evidence = " ".join(" ".join(said[max(0, seq - EARLIER) : seq + 1]) for seq in seqs)
        is_evident = shared_words(row["content"], evidence) > 0
        found.stored.append(f"{talk.name} memory {row['source_seqs']}: {row['content'][:100]}")
        if not is_evident:
            found.harm.append(f"a memory without evidence: {talk.name}: {row['content'][:150]}")
    for row in cursor.execute(
        "select content, source_seqs, supersede_reason from memory.memories"
        " where user_id = %s and superseded_at is not null and source = 'extraction'",
        (talk.name,),
    ):
        found.ended.append(f"{talk.name} ({row['supersede_reason']}): {row['content'][:100]}")
        if shared_words(row["content"], " ".join(said[max(row["source_seqs"]) + 1 :])) == 0:
            found.harm.append(f"a memory ended of which nothing was said later: {talk.name}: {row['content'][:150]}")
    found.scores[talk.name] = judged(talk, found.memories[talk.name])
    for row in cursor.execute(
        "select s.kind, s.summary, (select count(*) from memory.messages as m where m.user_id = s.user_id"
        " and m.summary_id = s.summary_id and not m.is_active) as put_away"
        " from memory.summaries as s where s.user_id = %s and s.status = 'completed'",
        (talk.name,),
    ):
        found.stored.append(f"{talk.name} {row['kind']} summary ({row['put_away']} deleted): {row['summary'][:100]!r}")
        if shared_words(row["summary"], " ".join(said)) < SAYS_NOTHING_BELOW:
            found.harm.append(
                f"a {row['kind']} summary that says nothing, {row['put_away']} messages deleted: {talk.name}: "
                f"{row['summary'][:150]!r}"
            )
