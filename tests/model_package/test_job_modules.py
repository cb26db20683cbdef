"""Each kind of job is a module of agent_memory_models.jobs, found by the name of the kind."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest
from agent_memory_models import ModelError
from agent_memory_models.jobs import job_module

from tests.support.model_payloads import LOCAL, PLPYTHON, ROOT, Json, run

KINDS = sorted(path.name for path in (ROOT / "sql" / "core" / "50_work").iterdir() if path.is_dir())


def test_each_kind_of_the_database_has_a_module() -> None:
    modules = {path.stem for path in (PLPYTHON / "agent_memory_models" / "jobs").glob("[a-z]*.py")}
    assert set(KINDS) <= modules
    assert all(inspect.iscoroutinefunction(job_module(kind).run) for kind in modules)


@pytest.mark.parametrize("kind", ["dream", "__init__", "..task"])
def test_an_unknown_kind_is_refused(kind: str) -> None:
    with pytest.raises(ModelError, match="unknown kind of job"):
        job_module(kind)


def test_a_kind_needs_nothing_but_a_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "count_words.py").write_text(
        "async def run(task):\n"
        "    return await task.ask(local=lambda payload: {'words': len(payload['text'].split())})\n"
    )
    package = sys.modules[job_module.__module__]
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    calls: list[Json] = []
    assert run("count_words", {"model": LOCAL, "text": "one two three"}, calls)["words"] == 3
    assert [(call["kind"], call["tokens_in"]) for call in calls] == [("count_words", 0)]
    sys.modules.pop(f"{package.__name__}.count_words")


def test_a_module_that_lacks_a_package_is_not_taken_for_an_unknown_kind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "needy.py").write_text("import no_such_package\n")
    package = sys.modules[job_module.__module__]
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        job_module("needy")


def test_a_provider_that_does_not_do_a_kind_says_so() -> None:
    model = {**LOCAL, "provider": "openai"}
    with pytest.raises(ModelError, match="provider openai does no jobs of kind chunk_documents"):
        run("chunk_documents", {"model": model})
