"""Measures how well contexts and search hold the evidence of LoCoMo's questions: ``python -m bench.quality --help``.

Everything goes the way it goes in use: the importer stores the messages, the worker has them embedded by a real model,
memory.search() ranks them, and memory.get_context() hands them out. Only the embeddings of the questions are made
beforehand, once for all.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.quality import context, evidence, languages, mixed_lengths, report, samples, search, stored, work
from bench.quality.context import Asked, Reader
from bench.quality.embedding_server import Embeddings, add_options, embeddings_of
from bench.quality.evidence import Question
from bench.quality.fillers import Fillers
from bench.quality.stored import Database, EmbeddingModel, Stored, Turn
from bench.support.environment import LOCOMO, environment, say, write
from bench.support.tokens import token_counter
from tests.support.servers import Server, running_server

CONTEXT = "context"
LOCOMO_SET, MIXED, LANGUAGES, WORK = "LoCoMo", "mixed lengths", "languages", "work"
SETS = (LOCOMO_SET, MIXED, LANGUAGES, WORK)
PARTS = (*(method.name for method in search.METHODS), CONTEXT)


@dataclass(frozen=True)
class Set:
    """Conversations, what was said in their turns, and all questions with their embeddings."""

    name: str
    write: Callable[[Path], None]
    """Writes a file for the importer."""
    texts: Mapping[Turn, str]
    answered: Sequence[Asked]


class Run:
    """What is measured of each set, and with what.

    Args:
        parts: which of PARTS.
        server: where the databases are made.
        embedding: how databases call the model that embeds.
    """

    def __init__(self, parts: Sequence[str], server: Server, embedding: EmbeddingModel) -> None:
        self.token_counter, self._count = token_counter()
        self.environment: dict[str, Any] = {}
        self._parts = parts
        self._server = server
        self._embedding = embedding

    def measure(self, each: Set) -> dict[str, Any]:
        """The figures of a set."""
        with stored.database(self._server, each.name) as database, tempfile.TemporaryDirectory() as folder:
            say(f"\n{each.name}: importing and embedding")
            path = Path(folder) / "conversations.jsonl"
            each.write(path)
            found = stored.load(database, path, self._embedding, each.texts)
            methods = [method for method in search.METHODS if method.name in self._parts]
            findings = search.measure(database, found, each.answered, methods)
            figures = {
                "messages": len(found.tokens),
                "tokens_per_conversation": round(sum(found.tokens.values()) / len({user for user, _ in found.tokens})),
                "methods": search.summarize(findings),
            }
            if each.name == LANGUAGES:
                figures["languages"] = languages.compare(findings)
            if CONTEXT in self._parts:
                figures |= self._contexts(database, found, each)
            self.environment = environment(database.connection)
        return figures

    def _contexts(self, database: Database, found: Stored, each: Set) -> dict[str, Any]:
        """The contexts of an import without model work besides the embeddings, and what plain fillers reach."""
        reader = Reader(found, self._count)
        fillers = Fillers(database.connection, found, self._count).measure(database, each.answered)
        answered = context.measure(database, reader, each.answered, each.name)
        held = {name: context.summarize(filled) for name, filled in {"get_context": answered, **fillers}.items()}
        figures: dict[str, Any] = {"context": held}
        return figures | ({"held_by_language": languages.held(answered)} if each.name == LANGUAGES else {})


def main() -> None:
    """Runs the benchmark, prints its main tables, and writes the results of the whole to bench/results."""
    options = _options()
    conversations = json.loads(options.data.read_text())[: options.conversations]
    with contextlib.ExitStack() as stack:
        embeddings = stack.enter_context(embeddings_of(options))
        embedding = EmbeddingModel(embeddings.url, embeddings.model, embeddings.dimensions)
        server = stack.enter_context(running_server("system", {"shared_buffers": "256MB"}))
        run = Run(options.parts, server, embedding)
        sets = _sets(conversations, embeddings, options.sets)
        measured = {each.name: run.measure(each) for each in sets}
    results: report.Results = {
        **run.environment,
        "embedding": {"model": embedding.name, "dimensions": embedding.dimensions},
        "token_counter": run.token_counter,
        "conversations": len(conversations),
        "top_k": search.TOP_K,
        "sets": measured,
    }
    if not (options.only or options.conversations or len(sets) < len(SETS)):
        write("quality", results, report.markdown(results))
    say("\n" + report.overview(results))


def _sets(conversations: Sequence[evidence.Sample], embeddings: Embeddings, names: Sequence[str]) -> list[Set]:
    def asked(questions: Sequence[Question]) -> list[Asked]:
        say(f"Embedding {len(questions):,} questions")
        return embeddings.asked(questions)

    sets = []
    answered = asked(evidence.questions(conversations)) if {LOCOMO_SET, MIXED} & set(names) else []
    texts = stored.said(conversations)
    if LOCOMO_SET in names:
        sets.append(Set(LOCOMO_SET, lambda path: samples.write(conversations, path), texts, answered))
    if MIXED in names:
        sets.append(Set(MIXED, lambda path: mixed_lengths.write(conversations, path), texts, answered))
    if LANGUAGES in names:
        spoken = languages.samples()
        questions = asked(languages.questions(spoken))
        sets.append(Set(LANGUAGES, lambda path: samples.write(spoken, path), stored.said(spoken), questions))
    if WORK in names:
        sets.append(Set(WORK, work.write, work.texts(), asked(work.questions())))
    return sets


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--data", type=Path, default=LOCOMO, help="LoCoMo's locomo10.json")
    add_options(parser)
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first N, to try it out")
    parser.add_argument("--only", nargs="+", metavar="WORD", help=f"only what has one of these: {'; '.join(PARTS)}")
    parser.add_argument(
        "--sets", nargs="+", metavar="SET", choices=SETS, default=SETS, help=f"only these of {'; '.join(SETS)}"
    )
    options = parser.parse_args()
    options.parts = [part for part in PARTS if not options.only or any(word in part for word in options.only)]
    if not options.parts:
        parser.error("nothing has such a name; there are: " + "; ".join(PARTS))
    if not options.data.exists():
        parser.error("LoCoMo is not there: pass its locomo10.json as --data")
    return options


if __name__ == "__main__":
    main()
