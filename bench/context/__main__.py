"""Measures what contexts cost: replays conversations, and counts tokens, those a provider has cached, and their price.

Besides it says what the contexts hold of the evidence of LoCoMo's questions, and what is recalled for questions about
things that were never said. ``python -m bench.context --help`` lists the options.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.context import replay
from bench.quality import context, evidence, stored
from bench.quality.context import Asked, Reader
from bench.quality.embedding_server import Embeddings, literal, running_embedding_servers
from bench.quality.stored import Database, EmbeddingModel
from bench.support.environment import LOCOMO, RESULTS, announce, describe, machine, pgvector, postgresql, say
from bench.support.tokens import FILES
from tests.support.servers import running_server

BASELINES = {"LoCoMo": 2877, "sessions at work": 2987, "one long thread": 2719}
"""The prices before contexts had a beginning that stays (November 2026)."""


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    options = _options()
    samples = json.loads(options.data.read_text())[: options.conversations]
    threads = replay.locomo(samples)
    sets = {
        "LoCoMo": threads,
        "sessions at work": replay.at_work(),
        "one long thread": replay.one_thread(replay.locomo(samples[-1:])),
    }
    settings = json.loads(options.settings)
    figures: dict[str, Any] = {}
    held: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        urls = [options.embeddings_url] * 2 if options.embeddings_url else None
        embeddings = Embeddings(
            urls or stack.enter_context(running_embedding_servers(options.embedding_python)), options.embedding_model
        )
        url = options.embeddings_url or stack.enter_context(running_embedding_servers(options.embedding_python))[0]
        server = stack.enter_context(running_server(options.server, {"shared_buffers": "256MB"}))
        model = EmbeddingModel(url, options.embedding_model, len(embeddings.of(["dimensions"])[0]))
        for name in options.sets:
            for prompt in ("", replay.PROMPT) if options.prompts else ("",):
                label = f"{name}, after a prompt of the application" if prompt else name
                with stored.database(server, "replay") as database:
                    environment = {
                        "postgresql": postgresql(database.connection), "pgvector": pgvector(database.connection)
                    }  # fmt: skip
                    figures[label] = _replayed(database, model, embeddings, sets[name], settings, prompt)
                    say(f"{label}: {figures[label]}")
                    if name == "LoCoMo" and not prompt and options.questions:
                        held = _held(database, samples, embeddings)
    results = {
        "date": datetime.date.today().isoformat(), "machine": machine(), **environment,
        "embedding": options.embedding_model, "settings": settings, "replayed": figures, "held": held,
    }  # fmt: skip
    announce(_write(results, options.results))


def _encoding() -> Callable[[str], list[int]]:
    import os

    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(FILES))
    import tiktoken

    return tiktoken.get_encoding("o200k_base").encode_ordinary


def _replayed(
    database: Database,
    model: EmbeddingModel,
    embeddings: Embeddings,
    threads: list[replay.Thread],
    settings: dict[str, Any],
    prompt: str,
) -> dict[str, Any]:
    from agent_memory import Memory

    replay.set_policy(database, settings)
    model.register(Memory(database.connection))
    return replay.summarize(replay.replay(database, threads, embeddings, _encoding(), prompt))


def _held(database: Database, samples: list[Any], embeddings: Embeddings) -> dict[str, Any]:
    """What contexts hold of the evidence, and of what was never said, in a new thread."""

    def asked(questions: list[evidence.Question]) -> list[Asked]:
        vectors = embeddings.of([question.text for question in questions])
        return [(question, literal(vector)) for question, vector in zip(questions, vectors, strict=True)]

    encode = _encoding()
    reader = Reader(
        stored.stored(database.connection, stored.said(samples)), lambda text: len(encode(text))
    )  # fmt: skip
    found = {}
    for kind, questions in (
        ("answered", evidence.questions(samples)),
        ("adversarial", evidence.adversarial(samples)),
        ("never said", evidence.never_said(samples)),
    ):
        found[kind] = {
            budget: {
                "questions": len(each),
                "whole": round(fmean(one.is_whole for one in each), 4),
                "recalled_tokens": round(fmean(one.tokens.get("recalled", 0) for one in each)),
                "silent": round(fmean("recalled" not in one.tokens for one in each), 4),
            }
            for budget, each in context.measure(database, reader, asked(questions), kind).items()
        }
        say(f"{kind}: {found[kind]}")
    return found


def _write(results: dict[str, Any], folder: Path) -> list[Path]:
    figures = folder / f"{results['date']}-context.json"
    figures.write_text(json.dumps(results, indent=1) + "\n")
    page = folder / "context.md"
    page.write_text("\n".join([
        "# What contexts cost", "",
        f"{describe(results)}, {results['embedding']}, default policy. `make bench-context` replays conversations: a "
        "message of the user is stored, the context is made, the answer is stored; after each thread the worker "
        "extracts and embeds. A token that the request before began with as well costs a tenth, as providers bill the "
        "cache of prompts. Until November 2026 the prices were "
        f"{', '.join(f'{price:,} ({name})' for name, price in BASELINES.items())}.", "",
        *replay.lines(results["replayed"]), "",
        *_held_lines(results["held"]),
    ]) + "\n")  # fmt: skip
    return [figures, page]


def _held_lines(held: dict[str, Any]) -> list[str]:
    if not held:
        return []
    return [
        "Questions in a new thread, after all conversations:", "",
        "| questions | tokens | evidence whole | recalled tokens | recall silent |", "|---|---|---|---|---|",
        *(
            f"| {kind}: {each['questions']} | {int(budget):,} | {each['whole']:.1%} | {each['recalled_tokens']:,} "
            f"| {each['silent']:.1%} |"
            for kind, budgets in held.items()
            for budget, each in budgets.items()
        ),
    ]  # fmt: skip


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.context", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--data", type=Path, default=LOCOMO, help="LoCoMo's locomo10.json")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--embeddings-url", help="an OpenAI-compatible server of embeddings, up to /v1")
    source.add_argument("--embedding-python", type=Path, help="a Python with the packages of the server to start")
    parser.add_argument("--embedding-model", default="all-MiniLM-L6-v2", help="name of the model (default %(default)s)")
    parser.add_argument("--conversations", type=int, default=2, metavar="N", help="the first N (default %(default)s)")
    parser.add_argument("--sets", nargs="+", choices=BASELINES, default=list(BASELINES), help="only these")
    parser.add_argument("--prompts", action="store_true", help="also with a prompt of the application before it")
    parser.add_argument("--questions", action="store_true", help="also what contexts hold of the evidence")
    parser.add_argument("--settings", default="{}", help="policy to measure with, as JSON")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to (default bench/results)")
    parser.add_argument("--server", choices=("system", "embedded"), default="system", help="as for the tests")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    return options


if __name__ == "__main__":
    main()
