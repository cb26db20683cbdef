"""The words that arguments of the client accept."""

from __future__ import annotations

from typing import Literal

Role = Literal["user", "assistant", "agent", "tool", "system", "developer"]
"""The role of a message's speaker; agent is another name of assistant."""
Mode = Literal["hybrid", "vector", "keyword"]
"""The mode of a search: by words and meaning, by meaning alone, by words alone."""
Source = Literal["memory", "message", "document", "summary", "artifact"]
"""The sources of a search."""
Layout = Literal["cached", "before"]
"""The order of a context."""

OnConflict = Literal["ignore", "replace", "error"]
"""The answer to a memory whose content is stored already."""
Outcome = Literal["used", "helpful", "wrong"]
"""What became of a memory that a prompt showed."""
MemoryState = Literal["current", "ended", "replaced", "corrected", "duplicate", "deleted", "quarantined"]
"""The state of a memory; what was corrected was never true."""
Fate = Literal["keep", "forget"]
"""Whether the stated memories of a deleted thread, or what a user wrote in spaces, stay or are forgotten."""
SpaceAccess = Literal["read", "write"]
"""What a user may do in a space."""
QuarantineSource = Literal["message", "thread", "document", "artifact", "summary", "memory"]
"""The kinds of sources that can be taken back with everything that derives from them."""
SummaryKind = Literal["rolling", "thread"]
"""A summary of the newest messages, or of the whole thread."""
ModelKind = Literal["chat", "embedding", "rerank", "screen"]
"""The purpose of a model."""
ImportFormat = Literal["chat", "chatgpt", "claude", "langgraph", "mem0"]
"""The formats of imports; ``agent-memory export`` writes memories in the form mem0, too."""
Provider = Literal["local", "openai", "azure"]
"""The server of a model: this machine, or a server with the protocol of that provider."""
