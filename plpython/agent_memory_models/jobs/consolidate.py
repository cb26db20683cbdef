"""Kind `consolidate`: merges old short-term memories into articles of the knowledge base."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..chat.parts import Parts
from ..chat.prompts import Clock, cut, fenced, label, line
from ..chat.question import Question
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
    clock = Clock()
    return fenced("memories", (
        line(row["number"], label(row["memory_type"]), [clock.shown(row.get("created_at"))], cut(row["content"]))
        for row in payload["memories"]
    ))  # fmt: skip


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Numbers, Text, each_by_itself, reply_object

    article = reply_object("Article", numbers=Numbers, title=Text, content=Text)
    return reply_object("Articles", articles=each_by_itself(article))


QUESTION = Question(
    variables={"memories": _memories},
    reply_type=lambda _: _reply_type(),
    result=lambda _, reply: reply.model_dump(warnings=False),
    parts=Parts("memories"),
    reply_tokens=4000,
)
