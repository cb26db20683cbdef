"""The model package of agent_memory: a job's payload in, its result out.

The package knows neither tables nor SQL. The external worker imports it, and build/agent_memory.sql carries a copy
that the package agent_memory_server runs inside PostgreSQL.

- jobs/: one module for each kind of job, named as the kind.
- chat/: what a chat model is told, and how its reply is checked.
- providers/: the built-in rules (local), models that run in this process (onnx), and servers that speak OpenAI's
  protocol (openai, azure).
- text/: tokens, sentences, words, chunks and dates in texts.
"""

from .errors import ModelError, RateLimitedError, reason_to_keep, refusal_to_keep
from .models import Models
from .payload import as_json

LEASE_SECONDS = 300.0
"""How long a runner has a job without a sign of life: longer than one call of a model, as the default of claim_jobs."""

__all__ = ["LEASE_SECONDS", "ModelError", "Models", "RateLimitedError", "as_json", "reason_to_keep", "refusal_to_keep"]
