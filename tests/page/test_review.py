"""Memories that wait for a review, in the browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.http.steps import Serving
from tests.page.steps import accessible, fits_a_phone, is_harmless, visit
from tests.page.stored import EVIL
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F34")


def extracted(stored: Api, content: str) -> None:
    """Store what a model would have drawn from a message."""
    stored.query(
        "insert into memory.memories (user_id, content, source)"
        " values ('review', %(content)s, 'extraction') returning 1",
        content=content,
    )


def test_a_person_accepts_changes_and_rejects_what_waits(stored: Api, edited: Serving, page: Page) -> None:
    stored.set_policy(settings={"extraction": {"review": True}}, user_id="review")
    for content in ("Rae lives in Rome", f"Rae likes {EVIL}", "Rae has a dgo"):
        extracted(stored, content)
    visit(page, edited, "/page/user", user="review")
    page.get_by_role("link", name="Waiting").click()
    expect(page.locator("section")).to_have_count(3)
    is_harmless(page)
    accessible(page)
    fits_a_phone(page)
    page.locator("section").filter(has_text="Rome").get_by_role("button", name="Accept", exact=True).click()
    page.locator("section").filter(has_text="likes").get_by_role("button", name="Reject").click()
    page.get_by_label("Other text").fill("Rae has a dog")
    page.get_by_role("button", name="Accept with this text").click()
    expect(page.get_by_text("None.")).to_be_visible()
    contents = [row.content for row in stored.list_memories(user_id="review", include_quarantined=True)]
    assert sorted(contents) == ["Rae has a dog", "Rae lives in Rome"]


def test_nothing_can_be_accepted_without_edit(stored: Api, shown: Serving, page: Page) -> None:
    stored.set_policy(settings={"extraction": {"review": True}}, user_id="review")
    extracted(stored, "Rae has a cat")
    visit(page, shown, "/page/review", user="review")
    expect(page.get_by_text("Rae has a cat")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("button")).to_have_count(0)
