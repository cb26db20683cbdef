"""What the model would see, in the browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.http.steps import Serving
from tests.page.steps import fits_a_phone, is_harmless, visit
from tests.page.stored import ANA, EVIL, THREAD

pytestmark = pytest.mark.feature("F19")


def test_a_context_shows_its_parts_and_what_was_left_out(shown: Serving, page: Page) -> None:
    visit(page, shown, "/page/thread", user=ANA, thread=THREAD)
    page.get_by_role("link", name="What would the model see?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What the model would see")
    expect(page.locator(".part.memories pre")).to_contain_text("Ana's word is")
    expect(page.locator(".part.thread_summary").first).to_contain_text("messages 0 to")
    expect(page.locator(".part.message").last).to_contain_text("the newest message is always in")
    expect(page.locator(".part.recalled").last).to_contain_text("artifact build-log: in part")
    expect(page.locator(".part.instructions")).to_contain_text("a placeholder stands in the context")
    expect(page.locator(".left")).to_contain_text("compressed: a summary took its place")
    expect(page.locator("svg.bar rect.message")).to_have_count(1)
    expect(page.locator(".legend")).to_contain_text("Messages of the thread:")
    is_harmless(page)
    fits_a_phone(page)
    page.get_by_label("Recall").select_option("no")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_label("Recall")).to_have_value("no")
    expect(page.locator(".left")).to_contain_text("the call switches recall off")
    page.locator(".part.memories").get_by_role("link", name=f"Ana's word is {EVIL}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"A memory of {ANA}")


def test_a_small_budget_says_what_does_not_fit(shown: Serving, page: Page) -> None:
    visit(page, shown, "/page/context", user=ANA)
    page.get_by_label("Thread").select_option(THREAD)
    page.get_by_label("Tokens at most").fill("20")
    page.get_by_label("Query").fill("What was the answer last time?")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="of 20 tokens")).to_be_visible()
    expect(page.locator(".notice").first).to_contain_text("does not fit into max_tokens")
    expect(page.locator(".left")).to_contain_text("does not fit")
    expect(page.locator(".left")).to_contain_text("Memories (")
    page.locator(".left").get_by_role("link", name="the newest of them").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Thread {THREAD}")
    page.go_back()
    page.get_by_label("Tokens at most").fill("none")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("alert")).to_have_text("max_tokens: is no whole number")
