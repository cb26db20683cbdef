"""The pictures of docs/page.md. With UPDATE_SCREENSHOTS=1 the test writes them anew into docs/images."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.http.steps import Serving
from tests.page.steps import visit

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


@pytest.mark.feature("F19")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["thread", "context"])
def test_pictures_of_the_page_are_small(shown: Serving, page: Page, tmp_path: Path, view: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 1000, "height": 760})
    asked = {"max_tokens": 230} if view == "context" else {}  # not enough for all messages
    visit(page, shown, f"/page/{view}", user="maria", thread="kitchen", **asked)
    expect(page.get_by_text("Maria redoes her kitchen").first).to_be_visible()
    folder = IMAGES if os.environ.get("UPDATE_SCREENSHOTS") else tmp_path
    file = folder / f"page-{view}-{scheme}.png"
    page.screenshot(path=file)
    assert 10_000 < file.stat().st_size < 200_000
