"""Duplicates and contradictions side by side, in the browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.http.steps import Serving
from tests.page.steps import accessible, fits_a_phone, is_harmless, visit
from tests.page.stored import ANA, EVIL
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F19")


def test_pairs_are_kept_merged_and_superseded(stored: Api, edited: Serving, page: Page) -> None:
    for content in (
        "Kim's dog is called Rex",
        "Kim's dog is called Rex Junior",
        "The office of Kim stands in Lisbon harbour",
        "The office of Kim stands in Porto harbour",
        "Every Tuesday evening Kim plays chess",
        "Every Tuesday evening Kim plays violin",
        f"Something else {EVIL}",
    ):
        stored.add_memory(user_id="kim", content=content)
    visit(page, edited, "/page/user", user="kim")
    page.get_by_role("link", name="Duplicates and contradictions").click()
    pairs = page.get_by_role("region", name="Pair")
    expect(pairs).to_have_count(3)
    is_harmless(page)
    accessible(page)
    fits_a_phone(page)

    office = pairs.filter(has_text="Lisbon")
    expect(office.get_by_text("Porto").first).to_be_visible()
    office.get_by_role("button", name="Keep only the newer one").click()
    expect(pairs).to_have_count(2)
    decision = page.get_by_role("region", name="Decision")
    expect(decision).to_contain_text("decided by a person")
    expect(decision.get_by_text("Lisbon")).to_be_visible()

    pairs.filter(has_text="chess").get_by_role("button", name="Keep both").click()
    expect(pairs).to_have_count(1)

    pairs.get_by_label("Merged text").fill("Kim's dog is Rex, and Rex Junior is his son")
    pairs.get_by_role("button", name="Merge").click()
    expect(pairs).to_have_count(0)
    left = {row.content for row in stored.list_memories(user_id="kim")}
    assert left == {
        "Kim's dog is Rex, and Rex Junior is his son",
        "The office of Kim stands in Porto harbour",
        "Every Tuesday evening Kim plays chess",
        "Every Tuesday evening Kim plays violin",
        f"Something else {EVIL}",
    }

    decision.filter(has_text="Lisbon").get_by_role("button", name="Undo").click()
    expect(pairs.filter(has_text="Lisbon")).to_have_count(1)


def test_what_was_decided_is_shown_as_text_and_without_buttons_unless_edited(shown: Serving, page: Page) -> None:
    visit(page, shown, "/page/alike", user=ANA)
    expect(page.get_by_role("region", name="Decision")).to_contain_text(f"contradict {EVIL}")
    expect(page.get_by_role("main").get_by_role("button")).to_have_count(0)
    is_harmless(page)


def test_a_decision_about_a_memory_that_changed_meanwhile_is_refused(stored: Api, edited: Serving, page: Page) -> None:
    stored.add_memory(user_id="lee", content="Lee's favourite colour is dark red")
    colour = stored.add_memory(user_id="lee", content="Lee's favourite colour is dark blue").memory_id
    visit(page, edited, "/page/alike", user="lee")
    stored.update_memory(user_id="lee", memory_id=colour, content="Lee's favourite colour is dark green")
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_role("alert")).to_contain_text("version")
    assert len(stored.list_memories(user_id="lee")) == 2
