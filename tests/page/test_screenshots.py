"""The pictures of docs/page.md. With UPDATE_SCREENSHOTS=1 the test writes them anew into docs/images."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.http.steps import Serving
from tests.page.steps import visit
from tests.support.sqlapi import Api

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
KITCHEN = (
    ("user", "We are redoing the kitchen. I would like oak fronts and no handles."),
    ("assistant", "Oak without handles works well with push-to-open drawers."),
    ("user", "The room is 3.20 m by 4.10 m, with one window to the north."),
    ("assistant", "Then a light worktop would help. Shall I ask two carpenters for an offer?"),
    ("user", "Yes, please. The budget is 14,000 euros, all in."),
    ("assistant", "Noted. I will ask for offers within 14,000 euros."),
    ("tool", "[MemoryRef: offer-mueller - offer of the carpenter Mueller, 3 pages - 2140 tokens]"),
    ("assistant", "Mueller offers oak fronts for 13,200 euros, in six weeks."),
)
TODAY = (
    ("user", "Could the dishwasher go to the left of the sink?"),
    ("assistant", "Yes, the water pipe allows it; Mueller would need to know by Friday."),
    ("user", "Then tell him, and ask whether the budget still holds."),
)


@pytest.fixture(scope="module")
def maria(stored: Api) -> str:
    """A user who redoes her kitchen."""
    stored.store_artifact(user_id="maria", content="Offer\n" * 300, key="offer-mueller", description="offer")
    for messages in (KITCHEN, TODAY):
        stored.add_messages(
            user_id="maria",
            thread_id="kitchen",
            messages=[{"role": role, "content": content} | _called(role) for role, content in messages],
        )
        if messages is KITCHEN:
            stored.summarize_thread(user_id="maria", thread_id="kitchen", kind="rolling")
            stored.finish_jobs(
                "Maria redoes her kitchen (3.20 m by 4.10 m) with oak fronts without handles, for 14,000 euros. "
                "The carpenter Mueller offers 13,200 euros."
            )
    for content, kind in (
        ("Maria prefers oak fronts without handles", "preference"),
        ("Maria's budget for the kitchen is 14,000 euros", "fact"),
        ("Maria's kitchen has one window, to the north", "fact"),
    ):
        stored.add_memory(user_id="maria", content=content, memory_type=kind)
    return "maria"


def _called(role: str) -> dict[str, str]:
    return {"tool_call_id": "call_1"} if role == "tool" else {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["thread", "context"])
def test_pictures_of_the_page_are_small(
    shown: Serving, page: Page, maria: str, tmp_path: Path, view: str, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 1000, "height": 760})
    visit(page, shown, f"/page/{view}", user=maria, thread="kitchen")
    folder = IMAGES if os.environ.get("UPDATE_SCREENSHOTS") else tmp_path
    file = folder / f"page-{view}-{scheme}.png"
    page.screenshot(path=file)
    assert 10_000 < file.stat().st_size < 200_000
