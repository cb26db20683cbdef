"""Writes LoCoMo's conversations for the importer: each becomes a user, each of its sessions a thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from bench.quality.evidence import Sample, sessions


def write(samples: Sequence[Sample], path: Path) -> None:
    """Write a file of chat JSONL; ``metadata.dia_id`` is the turn that a message is."""
    path.write_text(
        "".join(json.dumps(thread, ensure_ascii=False) + "\n" for each in samples for thread in threads(each))
    )


def threads(sample: Sample) -> Iterator[dict[str, Any]]:
    """Yield the sessions of a conversation."""
    for name, turns in sessions(sample):
        began = started(sample, name)
        messages = [
            {
                "role": "user" if turn.speaker == sample["conversation"].get("speaker_a") else "assistant",
                "name": turn.speaker,
                "content": turn.text,
                "created_at": (began + timedelta(seconds=number)).isoformat(),
                "metadata": {"dia_id": turn.dia_id},
                "idempotency_key": turn.dia_id,
            }
            for number, turn in enumerate(turns)
        ]
        yield {"user_id": sample["sample_id"], "thread_id": name, "messages": messages}


def started(sample: Sample, session: str) -> datetime:
    """Return when a session began, e.g. "1:56 pm on 8 May, 2023"; the data names no zone, so UTC is assumed."""
    text = sample["conversation"][f"{session}_date_time"]
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc)
