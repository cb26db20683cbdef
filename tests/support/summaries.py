"""What the tests of summaries do again and again: write messages, compress, and look at summaries."""

from __future__ import annotations

from typing import Any

from tests.support.protocol import ANA, claim, complete
from tests.support.sqlapi import Api

QUIET: dict[str, dict[str, Any]] = {
    "summary": {"enabled": False},
    "compression": {"enabled": False},
    "cadence": {"fact_extraction_every_n": 0},
}
COMPRESSION = {"enabled": True, "threshold_tokens": 100, "recent_messages_to_keep": 4}
LISTS = {"topics": ["tea"], "entities": ["Ana", "Porto"], "decisions": ["take the train"], "questions": ["when?"]}


def only(api: Api, **sections: dict[str, Any]) -> None:
    """Have nothing happen by itself but what these sections of the policy say."""
    settings = {name: {**QUIET.get(name, {}), **sections.get(name, {})} for name in {**QUIET, **sections}}
    api.set_policy(settings=settings)


def each_round(api: Api, **summary: Any) -> None:
    """Have a rolling summary made after each round, as a window of the newest messages."""
    api.set_policy(settings={"summary": {"when": "each_round", **summary}})


def compressing(api: Api, **changes: Any) -> None:
    """Compress at 100 tokens all but the newest four messages, unless changed."""
    only(api, compression={**COMPRESSION, **changes})


def write(api: Api, *sizes: int, **arguments: Any) -> None:
    """Append messages of so many tokens each, one by one, question and answer in turns."""
    for number, size in enumerate(sizes):
        role = ("user", "assistant")[number % 2]
        api.add_message(**{**ANA, "role": role, "content": "x" * 4 * size, **arguments})


def write_at_once(api: Api, *sizes: int) -> None:
    api.add_messages(**ANA, messages=[{"role": "user", "content": "x" * 4 * size} for size in sizes])


def seqs(messages: Any) -> list[int]:
    return [message["seq"] if isinstance(message, dict) else message.seq for message in messages]


def active(api: Api) -> list[int]:
    """Messages that readers get, after a look at the counters of the only thread."""
    messages = api.get_messages(**ANA)
    [thread] = api.list_threads(user_id="ana")
    counted = sum(message.token_count for message in messages)
    assert (thread.message_count, thread.active_tokens) == (len(messages), counted)
    return seqs(messages)


def compress(api: Api, summary: str = "They talked.", **result: Any) -> dict[str, Any]:
    return complete(api, asked(api, "compress_thread"), summary=summary, **result)


def asked(api: Api, kind: str) -> Any:
    """A job of this kind that someone asked for."""
    getattr(api, kind)(**({"user_id": "ana"} if kind == "summarize_user" else ANA))
    return claim(api, kind)


def summaries(api: Api, columns: str = "kind, start_seq, end_seq, status") -> list[Any]:
    return api.query(f"select {columns} from memory.summary_chain")


def sources(api: Api, **arguments: Any) -> list[str]:
    return [part.source for part in api.get_context(**{**ANA, **arguments})]


def both(api: Api) -> None:
    """A thread with a rolling summary, and one of all but the last four messages, which are not active any more."""
    compressing(api)
    api.talk(**ANA, rounds=5)
    complete(api, asked(api, "summarize_thread"), summary="Window.")
    compress(api, "Whole.")


def hear(api: Api, thread_id: str, *contents: str, **arguments: Any) -> None:
    for content in contents:
        api.add_message(**{"user_id": "ana", "thread_id": thread_id, "role": "user", "content": content, **arguments})


def profile_job(api: Api, **arguments: Any) -> Any:
    api.summarize_user(user_id="ana", **arguments)
    return claim(api, "summarize_user")


def profile(api: Api, summary: str = "Ana lives in Oslo.", **arguments: Any) -> dict[str, Any]:
    return complete(api, profile_job(api, **arguments), summary=summary)
