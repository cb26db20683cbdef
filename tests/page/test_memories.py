"""Memories and search in the browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.http.steps import Serving
from tests.page.steps import accessible, fits_a_phone, is_harmless, visit
from tests.page.stored import ANA, EVIL
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F19")


def test_memories_are_a_timeline_with_what_superseded_them(shown: Serving, page: Page) -> None:
    visit(page, shown, "/page/user", user=ANA)
    page.get_by_role("link", name="Memories", exact=True).click()
    tea = page.get_by_role("listitem").filter(has_text="Ana drinks tea")
    expect(tea).to_contain_text("valid from 2020-01-01")
    expect(tea).to_contain_text(f"contradict {EVIL}")
    expect(page.locator("svg rect.superseded")).to_have_count(1)
    is_harmless(page)
    fits_a_phone(page)
    tea.get_by_role("link", name="another memory").click()
    expect(page.locator(".large")).to_have_text("Ana drinks coffee")
    page.go_back()
    page.get_by_label("Show").select_option("current ones")
    page.get_by_label("Text").fill("drinks")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_text("1 memory", exact=True)).to_be_visible()
    page.get_by_label("Show").select_option("superseded ones, too")
    page.get_by_label("Held on").fill("2020-06-01")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".memory")).to_have_count(1)
    expect(page.locator(".memory")).to_contain_text("Ana drinks tea")
    page.get_by_label("Type").select_option("preference")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_text("No memories.")).to_be_visible()


def test_memories_that_became_an_article_are_shown(stored: Api, shown: Serving, page: Page) -> None:
    for number in range(2):
        stored.add_memory(user_id="past", content=f"Pat ran {number} miles", memory_type="episodic")
    stored.query(
        "update memory.memories set superseded_by = gen_random_uuid(), supersede_reason = 'consolidated',"
        " superseded_at = now() where user_id = 'past' returning 1"
    )
    visit(page, shown, "/page/memories", user="past")
    expect(page.get_by_text("an article of the knowledge base")).to_have_count(2)
    page.get_by_role("link", name="Pat ran 1 miles").click()
    expect(page.get_by_text("an article of the knowledge base")).to_be_visible()
    page.get_by_role("link", name="Duplicates and contradictions").click()
    expect(page.get_by_text("an article of the knowledge base")).to_have_count(2)


def test_a_supersede_a_change_and_a_deletion_are_undone(stored: Api, edited: Serving, page: Page) -> None:
    old = stored.add_memory(user_id="undo", content="Bo lives in Rome").memory_id
    new = stored.add_memory(user_id="undo", content="Bo lives in Oslo").memory_id
    stored.supersede_memory(user_id="undo", old_memory_id=old, new_memory_id=new, reason="moved")
    stored.update_memory(user_id="undo", memory_id=new, content="Bo lives in Bergen")
    visit(page, edited, "/page/memories", user="undo")
    page.get_by_role("link", name="Bo lives in Rome").click()
    page.get_by_role("button", name="Undo the supersede").click()
    expect(page.get_by_text("Superseded")).to_have_count(0)
    assert stored.get_memory(user_id="undo", memory_id=old).superseded_by is None
    page.get_by_role("link", name="Memories", exact=True).click()
    page.get_by_role("link", name="Bo lives in Bergen").click()
    page.get_by_role("button", name="Take back to version 1").click()
    expect(page.locator(".large")).to_have_text("Bo lives in Oslo")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("This memory was deleted.")).to_be_visible()
    accessible(page)
    page.get_by_role("button", name="Undo the deletion").click()
    expect(page.locator(".large")).to_have_text("Bo lives in Oslo")


def signed(part: float) -> str:
    return f"{part:+.2f}".replace("-", "−")


def test_a_search_explains_each_arm(stored: Api, shown: Serving, page: Page) -> None:
    visit(page, shown, "/page/user", user=ANA)
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Query").fill("coffee or word")
    page.get_by_role("button", name="Search").click()
    result = page.locator(".results > li").filter(has_text="Ana drinks coffee")
    expect(result).to_contain_text("By words")
    expect(result.locator("mark")).to_have_text(["coffe"])
    sources = ["memory", "message", "document", "summary"]
    found = stored.search(user_id=ANA, query="coffee or word", sources=sources, explain=True)
    [features] = [each.details["features"] for each in found if each.content == "Ana drinks coffee"]
    parts = result.locator(".parts-of-score > li")
    expect(parts).to_have_count(len(features))
    expect(parts.filter(has_text="where every text begins")).to_contain_text(signed(features["intercept"]["part"]))
    words = parts.filter(has_text=f"has words of the query: {features['words']['value']:.2f}")
    expect(words).to_contain_text(signed(features["words"]["part"]))
    expect(parts.filter(has_text="its meaning was not compared")).to_have_count(1)
    expect(result).to_contain_text(f"{signed(sum(each['part'] for each in features.values()))} of these parts")
    expect(page.locator(".results")).to_contain_text(EVIL)
    is_harmless(page)
    fits_a_phone(page)
    page.get_by_label("Mode").select_option("vector")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".notice, .problem").first).to_be_visible()
