"""Kind `consolidate`: merges old short-term memories into articles of the knowledge base."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..chat.prompts import fenced, shown
from ..chat.question import Question, check_numbers
from ..payload import Payload, Result
from ..task import Task
from ..text.words import is_telling, words_of

if TYPE_CHECKING:
    from pydantic import BaseModel

# How alike two memories must be for the built-in version to put them into one article.
MIN_SHARED_WORDS = 2
MIN_SIMILARITY = 0.3
"""Shared words over all words of two memories (the Jaccard index)."""
TITLE_WORDS = 3


async def run(task: Task) -> Result:
    """The articles, each with the numbers of the memories that it is made from."""
    return await task.ask(local=_by_shared_words, remote=lambda provider: provider.chat(task, QUESTION))


# The built-in version


class _Entry(NamedTuple):
    memory: dict[str, Any]
    words: frozenset[str]


def _by_shared_words(payload: Payload) -> Result:
    """An article for each cluster of memories that share words; a memory joins the first cluster with one like it."""
    clusters: list[list[_Entry]] = []
    for memory in payload["memories"]:
        entry = _Entry(memory, frozenset(filter(is_telling, words_of(memory["content"]))))
        for cluster in clusters:
            if any(_alike(entry.words, other.words) for other in cluster):
                cluster.append(entry)
                break
        else:
            clusters.append([entry])
    return {"articles": [_article(cluster) for cluster in clusters if len(cluster) > 1]}


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= MIN_SHARED_WORDS and shared / len(one | other) >= MIN_SIMILARITY


def _article(cluster: list[_Entry]) -> dict[str, Any]:
    """The memories of a cluster as a list, under the words that most of them share."""
    counts = Counter(
        word for entry in cluster for word in dict.fromkeys(words_of(entry.memory["content"])) if word in entry.words
    )
    return {
        "title": ", ".join(word for word, count in counts.most_common(TITLE_WORDS) if count > 1).capitalize(),
        "content": "\n".join(f"- {' '.join(entry.memory['content'].split())}" for entry in cluster),
        "numbers": [entry.memory["number"] for entry in cluster],
    }


# The question to a chat model


def _memories(payload: Payload) -> str:
    return fenced("memories", (shown(row, "number", "memory_type", "created_at") for row in payload["memories"]))


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Numbers, Text, reply_object

    article = reply_object("Article", title=Text, content=Text, numbers=Numbers)
    return reply_object("Articles", articles=list[article])  # type: ignore[valid-type]


def _articles(payload: Payload, reply: Any) -> Result:
    check_numbers(payload["memories"], [article.numbers for article in reply.articles], once=True)
    result: Result = reply.model_dump()
    return result


QUESTION = Question(variables={"memories": _memories}, reply_type=lambda _: _reply_type(), result=_articles)
