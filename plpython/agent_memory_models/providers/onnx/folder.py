"""A model of a folder: model.onnx, tokenizer.json, and where they are there the files that say how to use the two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import MissingModelError, ModelError

MODEL_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
MAX_TOKENS = 512
"""Tokens of a text that are read where no file says how many the model can read."""
MAX_TOKENS_AT_ONCE = 2048
"""Tokens of the texts that one run of the model takes, padding included: 0.2 s of a processor for MiniLM.

With 64 texts of 256 tokens the process grows by 95 MB; with 8,192 tokens in a run by 440 MB, and is no faster.
"""
MAX_CHARACTERS_PER_TOKEN = 64
"""No more characters of a text are cut into tokens than this many for each token that the model reads."""


class FolderModel:
    """A loaded model; threads may share it.

    Each run takes one thread, so that several runs share the processors, and none holds up a server.

    Raises MissingModelError where a file is missing or cannot be loaded; ImportError where a package is missing.
    """

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        for name in (MODEL_FILE, TOKENIZER_FILE):
            if not (folder / name).is_file():
                raise MissingModelError(f"the model folder {folder} has no file {name}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(
                str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        except Exception as error:  # both packages raise types of their own for each kind of broken file
            raise MissingModelError(f"the model in folder {folder} cannot be loaded: {type(error).__name__}") from None
        padding = self._tokenizer.padding or {}
        self._pad_id = int(padding.get("pad_id", _setting(folder, "config.json", "pad_token_id") or 0))
        self._max_tokens = _max_tokens(folder, self._tokenizer)
        self._tokenizer.enable_truncation(self._max_tokens)
        self._tokenizer.no_padding()
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._outputs = [each.name for each in self._session.get_outputs()]
        self._pooling = _pooling(folder)

    def embed(self, texts: Sequence[str], max_texts: int) -> Iterator[tuple[list[int], Any]]:
        """Run the model; each run yields the places of its texts and an array with a row for each."""
        import numpy

        wanted = next((name for name in self._outputs if name in ("sentence_embedding", "embedding")), self._outputs[0])
        for places, (inputs, mask) in self._runs([self._cut(text) for text in texts], max_texts):
            output = self._session.run([wanted], inputs)[0]
            if output.ndim == 3:
                weights = mask[:, :, None].astype(output.dtype)
                if self._pooling == "cls":
                    output = output[:, 0]
                elif self._pooling == "last":
                    output = output[numpy.arange(len(output)), mask.sum(axis=1) - 1]
                else:
                    output = (output * weights).sum(axis=1) / weights.sum(axis=1)
            if output.ndim != 2:
                raise ModelError(f"the model gives an array of {output.ndim} dimensions, which is no embedding")
            yield places, output

    def score(self, query: str, texts: Sequence[str], max_texts: int) -> Iterator[tuple[list[int], Any]]:
        """Run a cross-encoder; each run yields the places of its texts and an array with a score for each."""
        asked = self._cut(query)
        for places, (inputs, _) in self._runs([(asked, self._cut(text)) for text in texts], max_texts):
            output = self._session.run([self._outputs[0]], inputs)[0]
            if output.ndim != 2 or output.shape[1] != 1:
                raise ModelError("the model is no cross-encoder, which gives one number for each pair of texts")
            yield places, output[:, 0]

    def suspect(self, texts: Sequence[str], max_texts: int) -> Iterator[tuple[list[int], Any]]:
        """Run a classifier whose first label is the harmless one; each run yields places and shares of the others."""
        import numpy

        for places, (inputs, _) in self._runs([self._cut(text) for text in texts], max_texts):
            output = self._session.run([self._outputs[0]], inputs)[0]
            if output.ndim != 2 or output.shape[1] < 2:
                raise ModelError("the model is no classifier, which gives a number for each of two labels or more")
            powers = numpy.exp(output - output.max(axis=1, keepdims=True))
            yield places, 1 - powers[:, 0] / powers.sum(axis=1)

    def _cut(self, text: str) -> str:
        return text[: self._max_tokens * MAX_CHARACTERS_PER_TOKEN]

    def _runs(
        self, texts: Sequence[str | tuple[str, str]], max_texts: int
    ) -> Iterator[tuple[list[int], tuple[dict[str, Any], Any]]]:
        """The inputs of each run, for texts of about the same length: padding costs as much as text."""
        import numpy

        # One by one: encode_batch() starts threads, which must not be in a server.
        encoded = [self._tokenizer.encode(*((each,) if isinstance(each, str) else each)) for each in texts]
        order = sorted(range(len(texts)), key=lambda place: len(encoded[place].ids))
        while order:
            count = 1
            while count < min(len(order), max_texts) and (
                (count + 1) * len(encoded[order[count]].ids) <= MAX_TOKENS_AT_ONCE
            ):
                count += 1
            places, order = order[:count], order[count:]
            longest = max(1, *(len(encoded[place].ids) for place in places))
            ids = numpy.full((count, longest), self._pad_id, numpy.int64)
            mask = numpy.zeros((count, longest), numpy.int64)
            types = numpy.zeros((count, longest), numpy.int64)
            for row, place in enumerate(places):
                each = encoded[place]
                ids[row, : len(each.ids)] = each.ids
                mask[row, : max(1, len(each.ids))] = 1
                types[row, : len(each.ids)] = each.type_ids
            known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
            if unknown := self._inputs - known.keys():
                raise ModelError(f"the model wants the input {min(unknown)}, which no tokenizer gives")
            yield places, ({name: known[name] for name in self._inputs}, mask)


def _setting(folder: Path, file: str, name: str) -> Any:
    """A setting of a file beside the model; None where it is not said."""
    try:
        content = json.loads((folder / file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content.get(name) if isinstance(content, dict) else None


def _max_tokens(folder: Path, tokenizer: Any) -> int:
    """How many tokens of a text the model reads: what its sentence encoder was made for, before what it could read."""
    for limit in (
        _setting(folder, "sentence_bert_config.json", "max_seq_length"),
        _setting(folder, "tokenizer_config.json", "max_length"),
        _setting(folder, "tokenizer_config.json", "model_max_length"),
        (tokenizer.truncation or {}).get("max_length"),
    ):
        # Some files say 10^30 for "unknown".
        if isinstance(limit, int) and 2 < limit <= 2**20:
            return limit
    return MAX_TOKENS


def _pooling(folder: Path) -> str:
    """How the vectors of a text's tokens become one: mean (the default), cls or last."""
    for name, pooling in (("cls_token", "cls"), ("lasttoken", "last")):
        if _setting(folder, "1_Pooling/config.json", f"pooling_mode_{name}"):
            return pooling
    return "mean"
