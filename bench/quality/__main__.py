"""Measures how well contexts and search hold the evidence of LoCoMo's questions: ``python -m bench.quality --help``.

Everything goes the way it goes in use: the importer stores the messages, the worker has them embedded by a real model,
memory.search() ranks them, and memory.get_context() hands them out. Only the embeddings of the questions are made
beforehand, once for all.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.quality import context, evidence, languages, mixed_lengths, production, report, search, stored, uses, work
from bench.quality.context import Asked, Reader
from bench.quality.embedding_server import Embeddings, literal, running_embedding_servers
from bench.quality.evidence import Question, Sample
from bench.quality.fillers import Fillers
from bench.quality.model_server import ModelServer
from bench.quality.samples import write as write_samples
from bench.quality.stored import Database, EmbeddingModel, Stored, Turn
from bench.support.environment import LOCOMO, RESULTS, announce, machine, pgvector, postgresql, say
from bench.support.tokens import token_counter
from tests.support.servers import Server, running_server

CONTEXT, PRODUCTION = "context", "context in production"
LANGUAGES = "languages"
WORK = "work"
SETS = ("LoCoMo", "mixed lengths", LANGUAGES, WORK)
PARTS = (*(method.name for method in search.METHODS), CONTEXT, PRODUCTION)


@dataclass(frozen=True)
class Asking:
    """What was said in the turns of a set, and all questions with their embeddings."""

    texts: Mapping[Turn, str]
    answered: Sequence[Asked]
    adversarial: Sequence[Asked] = ()
    never_said: Sequence[Asked] = ()


class Run:
    """What is measured of each set, and with what.

    Args:
        parts: which of PARTS.
        server: where the databases are made.
        model: serves embeddings and chat completions.
        embedding: how databases call the model that embeds.
    """

    def __init__(
        self,
        parts: Sequence[str],
        server: Server,
        model: ModelServer,
        embedding: EmbeddingModel,
    ) -> None:
        self.token_counter, self._count = token_counter()
        self.versions: dict[str, str] = {}
        self._parts = parts
        self._server = server
        self._model = model
        self._embedding = embedding

    def measure(self, name: str, path: Path, asking: Asking) -> dict[str, Any]:
        """The figures of the set that a file holds."""
        with stored.database(self._server, name) as database:
            self.versions = {"postgresql": postgresql(database.connection), "pgvector": pgvector(database.connection)}
            say(f"\n{name}: importing and embedding")
            found = stored.load(database, path, self._embedding, asking.texts)
            methods = [method for method in search.METHODS if method.name in self._parts]
            findings = search.measure(database, found, asking.answered, methods)
            figures = {**_size(found), "methods": search.summarize(findings)}
            if name == LANGUAGES:
                figures["languages"] = languages.compare(findings)
            if CONTEXT in self._parts:
                figures |= self._contexts(name, database, found, asking)
            if PRODUCTION in self._parts and name not in (LANGUAGES, WORK):  # nothing is extracted from these
                figures |= self._production(name, database, found, asking)
        return figures

    def measure_uses(
        self, samples: Sequence[Sample], answered: Sequence[Asked], embeddings: Embeddings, weights: Sequence[float]
    ) -> dict[str, Any]:
        """The figures of replayed uses at each weight."""
        with stored.database(self._server, "uses") as database:
            self.versions = {"postgresql": postgresql(database.connection), "pgvector": pgvector(database.connection)}
            known = uses.load(database, samples, answered, self._embedding)
            asked = [question for user in uses.CHANGED for _, _, question in uses.changed(user)]
            vectors = dict(zip(asked, map(literal, embeddings.of(asked)), strict=True))
            return uses.measure(database, known, vectors, weights)

    def _contexts(self, name: str, database: Database, found: Stored, asking: Asking) -> dict[str, Any]:
        """The contexts of an import without model work besides the embeddings, and what plain fillers reach."""
        reader = Reader(found, self._count)
        fillers = Fillers(database.connection, found, self._count).measure(database, asking.answered)
        asked = {"answered questions": asking.answered}
        if name == SETS[0]:  # as many tokens come in the other set, and a context of it takes longer
            asked["adversarial questions"] = asking.adversarial
            asked["questions about things never said"] = asking.never_said
        measured = {kind: context.measure(database, reader, each, kind) for kind, each in asked.items()}
        return {
            "context": {
                "get_context": context.summarize(measured["answered questions"]),
                **{name: context.summarize(each) for name, each in fillers.items()},
            },
            "recalled": {kind: context.summarize_noise(each) for kind, each in measured.items()},
            **({"held_by_language": languages.held(measured["answered questions"])} if name == LANGUAGES else {}),
        }

    def _production(self, name: str, source: Database, found: Stored, asking: Asking) -> dict[str, Any]:
        """The contexts where all jobs of the default policy have run."""
        with stored.database(self._server, f"{name} in production") as database:
            say(f"\n{name} in production: talking, with all jobs")
            made = production.load(source, database, self._embedding)
            reader = Reader(found, self._count, self._model.observations)
            measured = context.measure(database, reader, asking.answered, "answered questions")
            return {"production": {"stored": made, "get_context": context.summarize(measured)}}


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    options = _options()
    started = time.monotonic()
    samples = json.loads(options.data.read_text())[: options.conversations]
    with contextlib.ExitStack() as stack:
        urls = [options.embeddings_url] * stored.CONNECTIONS if options.embeddings_url else None
        embeddings = Embeddings(
            urls or stack.enter_context(running_embedding_servers(options.embedding_python)), options.embedding_model
        )
        asking = Asking(
            stored.said(samples),
            _asked(embeddings, evidence.questions(samples)),
            _asked(embeddings, evidence.adversarial(samples)),
            _asked(embeddings, evidence.never_said(samples)),
        )
        dimensions = asking.answered[0][1].count(",") + 1
        model = ModelServer(embeddings, samples)
        stack.enter_context(model)
        embedding = EmbeddingModel(model.url, options.embedding_model, dimensions)
        server = stack.enter_context(running_server(options.server, {"shared_buffers": "256MB"}))
        run = Run(options.parts, server, model, embedding)
        if options.use_weights:
            figures = run.measure_uses(samples, asking.answered, embeddings, options.use_weights)
            announce([_write_uses({"conversations": len(samples), **run.versions, **figures}, options)])
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        spoken = languages.samples()
        own = {
            name: Asking(texts, _asked(embeddings, questions))
            for name, texts, questions in (
                (LANGUAGES, stored.said(spoken), languages.questions(spoken)),
                (WORK, work.texts(), work.questions()),
            )
            if name in options.sets
        }
        measured = {
            name: run.measure(name, path, own.get(name, asking))
            for name, path in _files(samples, spoken, folder)
            if name in options.sets
        }
    results: report.Results = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        **run.versions,
        "embedding": {"model": options.embedding_model, "dimensions": dimensions},
        "token_counter": run.token_counter,
        "conversations": len(samples),
        "top_k": search.TOP_K,
        "sets": measured,
    }
    say(f"\nDone in {time.monotonic() - started:.0f} s")
    announce(report.write(results, options.results))
    say("\n" + report.overview(results))


def _asked(embeddings: Embeddings, questions: Sequence[Question]) -> list[Asked]:
    say(f"Embedding {len(questions):,} questions")
    vectors = embeddings.of([question.text for question in questions])
    return [(question, literal(vector)) for question, vector in zip(questions, vectors, strict=True)]


def _write_uses(figures: dict[str, Any], options: argparse.Namespace) -> Path:
    date = datetime.date.today().isoformat()
    path: Path = options.results / f"{date}-uses.json"
    results = {"date": date, "machine": machine(), "embedding": options.embedding_model, **figures}
    path.write_text(json.dumps(results, indent=1) + "\n")
    return path


def _size(found: Stored) -> dict[str, int]:
    conversations = {user for user, _ in found.tokens}
    return {
        "messages": len(found.tokens),
        "tokens_per_conversation": round(sum(found.tokens.values()) / len(conversations)),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--data", type=Path, default=LOCOMO, help="LoCoMo's locomo10.json")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--embeddings-url", help="an OpenAI-compatible server of embeddings, up to /v1")
    source.add_argument("--embedding-python", type=Path, help="a Python with the packages of the server to start")
    parser.add_argument("--embedding-model", default="all-MiniLM-L6-v2", help="name of the model (default %(default)s)")
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first N, to try it out")
    parser.add_argument(
        "--only", nargs="+", metavar="WORD", help=f"only what contains one of these: {'; '.join(PARTS)}"
    )
    parser.add_argument(
        "--sets", nargs="+", metavar="SET", choices=SETS, default=SETS, help=f"only these of {'; '.join(SETS)}"
    )
    parser.add_argument(
        "--use-weights",
        nargs="+",
        type=float,
        metavar="W",
        help="only whether recorded uses help to find memories, at these weights of policy search.use_weight",
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to (default bench/results)")
    parser.add_argument("--server", choices=("system", "embedded"), default="system", help="as for the tests")
    options = parser.parse_args()
    options.parts = [part for part in PARTS if not options.only or any(word in part for word in options.only)]
    if not options.parts:
        parser.error("nothing has such a name; there are: " + "; ".join(PARTS))
    if not options.data.exists():
        parser.error("LoCoMo is not there: pass its locomo10.json as --data")
    options.results.mkdir(parents=True, exist_ok=True)
    return options


def _files(samples: Sequence[Sample], spoken: Sequence[Sample], folder: Path) -> Iterator[tuple[str, Path]]:
    """The sets to import: LoCoMo as it is, the conversations of mixed lengths made of it, and our own."""
    path = folder / "locomo.jsonl"
    write_samples(samples, path)
    yield SETS[0], path
    path = folder / "mixed.jsonl"
    mixed_lengths.write(samples, path)
    yield SETS[1], path
    path = folder / "languages.jsonl"
    write_samples(spoken, path)
    yield LANGUAGES, path
    path = folder / "work.jsonl"
    work.write(path)
    yield WORK, path


if __name__ == "__main__":
    main()
