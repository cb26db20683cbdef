"""The model package of agent_memory: a job's payload in, its result out.

It knows neither tables nor SQL. The external worker imports it, and build/agent_memory.sql carries a copy that
memory.run_jobs() runs inside the server.
"""

from .errors import ModelError, RateLimitedError, reason_to_keep, refusal_to_keep
from .models import Models

__all__ = ["ModelError", "Models", "RateLimitedError", "reason_to_keep", "refusal_to_keep"]
