"""What arguments of the client may be that are one of a few words."""

from __future__ import annotations

from typing import Literal

Role = Literal["user", "assistant", "agent", "tool", "system", "developer"]
"""Who a message is from; agent is another name of assistant."""
Mode = Literal["hybrid", "vector", "keyword"]
"""How a search compares: by words and meaning, by meaning alone, by words alone."""
Source = Literal["memory", "message", "document", "summary", "artifact"]
"""Where a search looks."""
OnConflict = Literal["ignore", "replace", "error"]
"""What becomes of a memory whose content is stored already."""
Fate = Literal["keep", "forget"]
"""What becomes of the memories that were stated in a thread which is deleted."""
QuarantineSource = Literal["message", "thread", "document", "artifact", "summary", "memory"]
"""What can be taken back with everything that derives from it."""
SummaryKind = Literal["rolling", "thread"]
"""A summary of the newest messages, or of the whole thread."""
ModelKind = Literal["chat", "embedding", "rerank"]
"""What a model is used for."""
ImportFormat = Literal["chat", "chatgpt", "claude", "langgraph", "mem0"]
"""What can be imported; mem0 is also the form of memories that ``agent-memory export`` writes."""
Provider = Literal["local", "openai", "azure"]
"""Who serves a model: this machine, or a server with the protocol of that provider."""
