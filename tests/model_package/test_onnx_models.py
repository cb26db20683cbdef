"""Models of provider local: embeddings and rerankers in ONNX, of a folder or by the name that fastembed knows."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from agent_memory_models import ModelError, RateLimitedError
from agent_memory_models.errors import MissingModelError
from agent_memory_models.providers.onnx import loading
from agent_memory_models.providers.onnx.folder import FolderModel

from tests.support.local_models import tiny_embedder, tiny_reranker
from tests.support.model_payloads import Json, embedding_job, reranking, run, run_all

WORDS = ("tea", "green", "black", "coffee")
FIRST = 4
"""The place of the first word in a vector of the tiny model: [PAD], [UNK], [CLS] and [SEP] come before."""


@pytest.fixture(autouse=True)
def _nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_loaded", {})
    monkeypatch.setattr(loading, "_missing", {})
    monkeypatch.delenv(loading.FOLDER_VARIABLE, raising=False)


def local(folder: Path | None = None, name: str = "tiny", **settings: Any) -> Json:
    settings |= {} if folder is None else {"model_dir": str(folder)}
    return {"name": "own", "provider": "local", "model": name, "settings": settings}


def embed(*texts: str, model: Json, calls: list[Json] | None = None, **payload: Any) -> list[list[float]]:
    vectors: list[list[float]] = run("embed", {**embedding_job(*texts, model=model), **payload}, calls)["embeddings"]
    return vectors


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


class TestEmbeddings:
    @pytest.mark.feature("F18")
    def test_texts_of_one_meaning_are_near(self, minilm: Path) -> None:
        query, hit, *others = embed(
            "How does she like to travel?",
            "I prefer trains over planes.",
            "The soup needs more salt",
            "The printer is out of toner",
            model=local(minilm),
        )
        assert len(query) == 384
        assert cosine(query, query) == pytest.approx(1, abs=1e-4)
        assert cosine(query, hit) > 0.3 > max(cosine(query, other) for other in others) + 0.1

    def test_a_text_has_the_same_embedding_alone_and_among_others(self, minilm: Path) -> None:
        texts = ["tea " * length for length in (300, 1, 40, 2, 90, 7)] + ["", "日本語のお茶", "🍵", "\x01"]
        together = embed(*texts, model=local(minilm, batch_size=4))
        for text, vector in zip(texts, together, strict=True):
            [alone] = embed(text, model=local(minilm))
            assert cosine(alone, vector) == pytest.approx(1, abs=1e-3)

    def test_a_text_is_cut_at_the_models_limit(self, tmp_path: Path) -> None:
        folder = tiny_embedder(tmp_path / "model", WORDS)
        (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 5}')
        [cut] = embed("tea green black " + "coffee " * 100_000, model=local(folder))
        assert [cut[FIRST + place] > 0 for place in range(4)] == [True, True, True, False]
        (folder / "sentence_bert_config.json").unlink()
        (folder / "tokenizer_config.json").write_text('{"model_max_length": 1000000000000000019884624838656}')
        loading._loaded.clear()
        [whole] = embed("tea " * 400 + "coffee", model=local(folder))
        assert whole[FIRST + 3] > 0

    @pytest.mark.parametrize(
        ("pooling", "first_token", "last_token"), [("mean_tokens", 0.5, 0.5), ("cls_token", 1, 0), ("lasttoken", 0, 1)]
    )
    def test_the_vectors_of_the_tokens_become_one_as_the_model_says(
        self, tmp_path: Path, pooling: str, first_token: float, last_token: float
    ) -> None:
        folder = tiny_embedder(tmp_path / "model", WORDS)
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{pooling}": True}))
        vector, _ = embed("tea green", "tea green black coffee", model=local(folder))  # the first is padded
        assert (vector[2], vector[3]) == (first_token, last_token)

    def test_only_queries_get_the_prefix(self, tmp_path: Path) -> None:
        model = local(tiny_embedder(tmp_path / "model", WORDS), query_prefix="black ")
        [text] = embed("tea", model=model)
        [query] = embed("tea", model=model, is_query=True)
        assert (text[FIRST + 2], query[FIRST + 2]) == (0, query[FIRST])

    def test_no_texts_say_whether_the_model_is_there(self, tmp_path: Path) -> None:
        assert embed(model=local(tiny_embedder(tmp_path / "model", WORDS))) == []
        with pytest.raises(MissingModelError):
            embed(model=local(tmp_path / "nothing"))


class TestLoading:
    def test_a_model_is_loaded_once_however_many_ask_at_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder, loads = tiny_embedder(tmp_path / "model", WORDS), []

        class Counted(FolderModel):
            def __init__(self, folder: Path) -> None:
                loads.append(folder)
                super().__init__(folder)

        monkeypatch.setattr(loading, "FolderModel", Counted)
        jobs = [embedding_job("tea", model=local(folder)) for _ in range(4)]
        threads = [threading.Thread(target=run_all, args=("embed", *jobs)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert loads == [folder]

    def test_the_environment_names_the_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(loading.FOLDER_VARIABLE, str(tmp_path / "model"))
        tiny_embedder(tmp_path / "model", WORDS)
        assert len(embed("tea", model=local(name="someone/tiny"))[0]) == FIRST + 4
        # A folder for each model, in which a reranker has a place, too.
        tiny_embedder(tmp_path / "model" / "small", WORDS[:2])
        tiny_reranker(tmp_path / "model" / "judge", WORDS, "green")
        assert len(embed("tea", model=local(name="someone/small"))[0]) == FIRST + 2
        assert len(run("rerank", reranking("tea", "tea", model=local(name="judge")))["scores"]) == 1
        with pytest.raises(MissingModelError, match="unknown"):
            run("rerank", reranking("tea", "tea", model=local(name="unknown")))
        # The model's own setting wins.
        assert len(embed("tea", model=local(tmp_path / "model", name="someone/small"))[0]) == FIRST + 4

    def test_missing_packages_are_named_with_the_command(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder, calls = tiny_embedder(tmp_path / "model", WORDS), list[Json]()
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(RateLimitedError, match=r"onnxruntime.*pip install 'pg-agent-memory\[local\]'"):
            embed("tea", model=local(folder), calls=calls)
        assert calls == []

    def test_missing_weights_are_named_and_looked_for_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder, calls = tmp_path / "model", list[Json]()
        with pytest.raises(
            MissingModelError, match=r"has no file model\.onnx; name a folder .* AGENT_MEMORY_MODEL_DIR"
        ):
            embed("tea", model=local(folder), calls=calls)
        assert calls == []
        tiny_embedder(folder, WORDS)
        now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: now + 31)
        assert len(embed("tea", model=local(folder))) == 1

    def test_a_broken_file_is_no_crash(self, tmp_path: Path) -> None:
        folder = tiny_embedder(tmp_path / "model", WORDS)
        (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:50])
        with pytest.raises(MissingModelError, match="cannot be loaded"):
            embed("tea", model=local(folder))

    def test_a_name_is_one_of_fastembed(
        self, minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        named = local(name="sentence-transformers/all-MiniLM-L6-v2")
        with pytest.raises(ModelError, match="fastembed has no embedding model of this name"):
            embed("tea", model=local(name="tiny"))
        with pytest.raises(MissingModelError, match=r"the weights of model .* could not be downloaded to"):
            embed("tea", model=named)
        assert caplog.messages == [f"downloading the weights of model {named['model']} to {tmp_path}, once"]
        # As a download leaves it.
        kept = tmp_path / "models--Qdrant--all-MiniLM-L6-v2-onnx"
        (kept / "refs").mkdir(parents=True)
        (kept / "refs" / "main").write_text("1")
        shutil.copytree(minilm, kept / "snapshots" / "1")
        (kept / "snapshots" / "1" / "config.json").write_text('{"pad_token_id": 0}')
        (kept / "snapshots" / "1" / "special_tokens_map.json").write_text("{}")
        loading._missing.clear()
        texts = ["I prefer trains over planes.", "tea", "The soup needs more salt"]
        for by_name, of_folder in zip(embed(*texts, model=named), embed(*texts, model=local(minilm)), strict=True):
            assert cosine(by_name, of_folder) == pytest.approx(1, abs=1e-3)
        assert len(caplog.messages) == 1  # weights in the cache are not downloaded


class TestReranking:
    def test_texts_are_scored_by_a_cross_encoder(self, tmp_path: Path) -> None:
        texts = ("coffee", "green tea", "tea " * 50, "green green tea")
        model = local(tiny_reranker(tmp_path / "judge", WORDS, "green"), batch_size=2)
        scores = run("rerank", reranking("green tea", *texts, model=model))["scores"]
        assert [score["number"] for score in scores] == [1, 2, 3, 4]
        shares = [score["score"] for score in scores]
        assert shares[3] > shares[1] == 0.5 > shares[0] == shares[2] > 0

    @pytest.mark.feature("F18")
    def test_the_fifty_results_of_a_search_are_one_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        sizes: list[int] = []
        whole = FolderModel.score

        def score(model: FolderModel, *arguments: Any) -> Any:
            for places, scores in whole(model, *arguments):
                sizes.append(len(places))
                yield places, scores

        monkeypatch.setattr(FolderModel, "score", score)
        model = local(tiny_reranker(tmp_path / "judge", WORDS, "green"))
        texts = ["coffee"] * 25 + ["green tea"] * 25
        scores = run("rerank", reranking("tea", *texts, model=model))["scores"]
        assert sizes == [50]
        assert min(score["score"] for score in scores[25:]) > max(score["score"] for score in scores[:25])

    def test_a_model_of_another_kind_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="no cross-encoder"):
            run("rerank", reranking("tea", "tea", model=local(tiny_embedder(tmp_path / "model", WORDS))))
