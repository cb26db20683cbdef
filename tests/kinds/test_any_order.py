"""The same is true after a conversation, whatever the order in which jobs of the built-in model are done."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.model_payloads import run
from tests.support.protocol import lease, make_due
from tests.support.sqlapi import Api

# By thread, the day of 2024 and what the user said on it.
CONVERSATION = {
    "spring": [
        ("03-01", "Hi! My name is Ana and my favourite colour is blue."),
        ("03-02", "I live in Berlin, near the park. I work at Acme."),
        ("03-03", "I prefer window seats. I like green tea."),
        ("03-04", "I'm a nurse. Remember that the spare key is with Bea."),
        ("03-05", "I am 34 years old and I enjoy jazz."),
        ("03-06", "Where could I live? Somebody said I hate it here."),
    ],
    "summer": [
        ("06-01", "I moved to Lisbon last week."),
        ("06-02", "I started a new job at Globex. I enjoy jazz."),
        ("06-03", "My favourite colour is green. I'm an engineer now."),
        ("06-04", "I live in Berlin."),  # for the summer
        ("06-05", "I enjoy jazz. I really like green tea!"),
    ],
    "autumn": [
        ("09-01", "I live in Rome now. I work at Acme."),
        ("09-02", "I now prefer aisle seats. I am 35 years old."),
        ("09-03", "I live in Porto. I live in Lisbon."),
        ("09-04", "My favourite colour is blue. I am a nurse!"),
        ("09-05", "I prefer trains over planes."),
    ],
    "winter": [
        ("09-03", "My favourite food is rice."),  # the same day as another thread
        ("12-01", "I prefer planes over trains. I live in Rome."),
        ("12-02", "I live in Oslo, by the sea. I work at Initech as a nurse."),
        ("12-03", "I moved to Lisbon last week."),
        ("12-04", "My favourite food is ramen. I like green tea."),
    ],
}
# What is true now: of an attribute its value, whatever the words, else the statement. By whom something is hidden, and
# which of two equal statements stays, depends on the order.
TRUE_NOW = """
select coalesce(m.attribute || ': ' || lower(m.metadata ->> 'value'), m.content) as what, m.memory_type
from memory.memories as m
where m.user_id = %(user_id)s and m.deleted_at is null and m.superseded_at is null order by 1, 2
"""


def true_now(api: Api, user_id: str) -> list[Any]:
    return api.query(TRUE_NOW, user_id=user_id)


def append(api: Api, user_id: str, thread_id: str, said: Iterator[tuple[str, str]]) -> bool:
    """Append the next message of a thread; false when there is none."""
    for day, content in said:
        api.add_message(
            user_id=user_id, thread_id=thread_id, role="user", content=content, created_at=f"2024-{day}T10:00:00Z"
        )
        return True
    return False


def complete(api: Api, job: Any) -> None:
    result = run(job.kind, job.payload)
    api.complete_job(**lease(job), result=result)


def work(api: Api) -> None:
    """Do all jobs there are, one after another."""
    while jobs := api.claim_jobs(worker="the last", max_jobs=1):
        complete(api, jobs[0])


def talk_at_once(api: Api, user_id: str) -> None:
    """Append everything, then do the work."""
    for thread_id, said in CONVERSATION.items():
        rest = iter(said)
        while append(api, user_id, thread_id, rest):
            pass
        api.extract_memories(user_id=user_id, thread_id=thread_id)
    work(api)


def talk_in_disorder(api: Api, user_id: str, chance: random.Random) -> None:
    """Append to any thread, claim, complete, give back and lose jobs in any order, for two workers."""
    rest = {thread_id: iter(said) for thread_id, said in CONVERSATION.items()}
    for thread_id, said in rest.items():
        append(api, user_id, thread_id, said)
    held: list[Any] = []
    while rest:
        match chance.choice(["append", "append", "extract", "claim", "complete", "complete", "release", "die"]):
            case "append":
                thread_id = chance.choice(list(rest))
                if not append(api, user_id, thread_id, rest[thread_id]):
                    del rest[thread_id]
                    api.extract_memories(user_id=user_id, thread_id=thread_id)
            case "extract":
                api.extract_memories(user_id=user_id, thread_id=chance.choice(list(rest)))
            case "claim":
                held += api.claim_jobs(worker=chance.choice(["one", "other"]), max_jobs=chance.randint(1, 4))
            case "complete" if held:
                complete(api, held.pop(chance.randrange(len(held))))
            case "release" if held:
                api.release_job(**lease(held.pop(chance.randrange(len(held)))))
            case "die" if held:
                job = held.pop(chance.randrange(len(held)))
                api.connection.execute(
                    "update memory.jobs set lease_expires_at = now() - interval '1 hour', attempts = 1"
                    " where job_id = %s and user_id = %s",
                    [job.job_id, user_id],
                )
    for job in sorted(held, key=lambda _: chance.random()):
        complete(api, job)
    make_due(api)
    work(api)


@pytest.mark.feature("E10", "E17")
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 20))])
def test_jobs_in_any_order_leave_the_same_memories(api: Api, seed: int) -> None:
    talk_at_once(api, "expected")
    expected = true_now(api, "expected")
    talk_in_disorder(api, "ana", random.Random(seed))
    assert true_now(api, "ana") == expected
