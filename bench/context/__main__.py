"""Measures what contexts cost: replays conversations, and counts tokens, those a provider has cached, and their price.

Besides it says what the contexts hold of the evidence of LoCoMo's questions, and what is recalled for questions about
things that were never said. ``python -m bench.context --help`` lists the options.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from pathlib import Path
from statistics import fmean
from typing import Any

from agent_memory import Memory

from bench.context import replay
from bench.quality import context, evidence, stored
from bench.quality.context import Reader
from bench.quality.embedding_server import Embeddings, add_options, embeddings_of
from bench.quality.stored import Database, EmbeddingModel
from bench.support.environment import LOCOMO, describe, environment, say, write
from bench.support.markdown import table
from bench.support.tokens import encoding
from tests.support.servers import running_server

BASELINES = {"LoCoMo": 2877, "sessions at work": 2987, "one long thread": 2719}
"""The prices before contexts had a beginning that stays (November 2026)."""


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    options = _options()
    samples = json.loads(options.data.read_text())[: options.conversations]
    sets = dict(zip(BASELINES, (replay.locomo(samples), replay.at_work(), replay.one_thread(samples[-1])), strict=True))
    figures: dict[str, Any] = {}
    held: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        embeddings = stack.enter_context(embeddings_of(options))
        server = stack.enter_context(running_server("system", {"shared_buffers": "256MB"}))
        model = EmbeddingModel(embeddings.url, embeddings.model, embeddings.dimensions)
        for name, threads in sets.items():
            with stored.database(server, "replay") as database:
                model.register(Memory(database.connection))
                figures[name] = replay.replay(database, threads, embeddings, encoding().encode_ordinary)
                say(f"{name}: {figures[name]}")
                if name == "LoCoMo":
                    held = _held(database, samples, embeddings)
                about = environment(database.connection)
    results = {**about, "embedding": embeddings.model, "replayed": figures, "held": held}
    write("context", results, _page(results))


def _held(database: Database, samples: list[Any], embeddings: Embeddings) -> dict[str, Any]:
    """What contexts hold of the evidence, and of what was never said, in a new thread."""
    found = stored.stored(database.connection, stored.said(samples))
    reader = Reader(found, lambda text: len(encoding().encode_ordinary(text)))
    held = {}
    for kind, questions in (
        ("answered", evidence.questions(samples)),
        ("adversarial", evidence.adversarial(samples)),
        ("never said", evidence.never_said(samples)),
    ):
        held[kind] = {
            budget: {
                "questions": len(each),
                "whole": round(fmean(one.is_whole for one in each), 4),
                "recalled_tokens": round(fmean(one.recalled for one in each)),
                "silent": round(fmean(one.recalled == 0 for one in each), 4),
            }
            for budget, each in context.measure(database, reader, embeddings.asked(questions), kind).items()
        }
        say(f"{kind}: {held[kind]}")
    return held


def _page(results: dict[str, Any]) -> str:
    rows = [
        [
            f"{kind}: {each['questions']}",
            f"{budget:,}",
            f"{each['whole']:.1%}",
            f"{each['recalled_tokens']:,}",
            f"{each['silent']:.1%}",
        ]
        for kind, budgets in results["held"].items()
        for budget, each in budgets.items()
    ]
    return f"""# What contexts cost

{describe(results)}, {results["embedding"]}, default policy. `make bench-context` replays conversations: a message of
the user is stored, the context is made, the answer is stored; after each thread the worker extracts and embeds. A token
that the request before began with as well costs a tenth, as providers bill the cache of prompts. Until November 2026
the prices were {", ".join(f"{price:,} ({name})" for name, price in BASELINES.items())}.

{replay.replayed_table(results["replayed"])}

Questions in a new thread, after all conversations:

{table(["questions", "tokens", "evidence whole", "recalled tokens", "recall silent"], rows)}
"""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.context", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--data", type=Path, default=LOCOMO, help="LoCoMo's locomo10.json")
    parser.add_argument("--conversations", type=int, default=2, metavar="N", help="the first N (default %(default)s)")
    add_options(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
