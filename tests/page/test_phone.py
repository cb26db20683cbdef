"""The page on a phone: nothing is clipped, no word is broken, and each label stands by its field."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.http.steps import Serving
from tests.page.steps import accessible, visit
from tests.page.stored import ANA, THREAD
from tests.support.sqlapi import Api

WIDTH = 390

CLIPPED = """() => [...document.querySelectorAll("main *, nav *")]
  .filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible"
    && !["INPUT", "SELECT", "TEXTAREA"].includes(e.tagName))
  .map(e => e.outerHTML.slice(0, 80))"""
# Words of up to 16 letters that stand on two lines; longer ones, such as ids, may be broken.
BROKEN = r"""() => {
  const broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    for (const word of node.data.matchAll(/[\p{L}\d.,:_]{2,16}(?![\p{L}\d.,:_/@#=+])/gu)) {
      if (/[\p{L}\d.,:_/@#=+]/u.test(node.data[word.index - 1] || " ")) continue;
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map(rect => Math.round(rect.top)));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""
APART = """() => [...document.querySelectorAll("label[for]")].filter(label => {
  const one = label.getBoundingClientRect(), two = document.getElementById(label.htmlFor).getBoundingClientRect();
  const beside = one.bottom > two.top && two.bottom > one.top && two.left >= one.right && two.left - one.right < 30;
  const above = two.top >= one.bottom - 1 && two.top - one.bottom < 20 && Math.abs(two.left - one.left) < 10;
  return !beside && !above;
}).map(label => label.textContent)"""

# Elements in a line that stand directly behind a letter or a digit.
GLUED = r"""() => [...document.querySelectorAll("main a, main .tag, main time, main strong")]
  .filter(e => e.previousSibling?.nodeType === 3 && /[\p{L}\d.,:]$/u.test(e.previousSibling.data))
  .map(e => e.previousSibling.data + e.textContent)"""


@pytest.mark.feature("F19")
@pytest.mark.parametrize(
    "view",
    [
        "thread",
        "memories",
        "context",
        *(
            pytest.param(v, marks=pytest.mark.nightly)
            for v in ("users", "user", "memory", "search", "alike", "work", "rules")
        ),
    ],
)
def test_a_view_can_be_read_on_a_phone(edited: Serving, stored: Api, page: Page, view: str) -> None:
    """Each table is filled, and what can be opened is open."""
    page.set_viewport_size({"width": WIDTH, "height": 844})
    asked = {
        "users": {},
        "work": {},
        "rules": {},
        "thread": {"user": "maria", "thread": "kitchen"},
        "context": {"user": "maria", "thread": "kitchen"},
        "search": {"user": "maria", "query": "kitchen"},
        "memory": {"user": "maria", "id": stored.list_memories(user_id="maria")[0].memory_id},
    }.get(view, {"user": "maria"})
    visit(page, edited, "/" if view == "users" else f"/page/{view}", **asked)
    for details in page.locator("details").all():
        details.evaluate("e => e.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(BROKEN) == []
    assert page.evaluate(APART) == []
    accessible(page)


@pytest.fixture
def nora(stored: Api) -> Iterator[str]:
    """A user with one message and a memory that was drawn from it."""
    stored.add_message(user_id="nora", thread_id="t", role="user", content="I like juggling.")
    stored.add_memory(user_id="nora", content="Likes juggling", thread_id="t", importance=0.7)
    yield "nora"
    stored.forget_user(user_id="nora")


@pytest.mark.feature("F19")
def test_words_are_apart_and_counts_agree(shown: Serving, page: Page, nora: str) -> None:
    visit(page, shown, "/page/memories", user=nora)
    expect(page.get_by_text("importance 0.70, where it was said")).to_be_visible()
    for view in ("memories", "thread", "search"):
        visit(page, shown, f"/page/{view}", user=nora, thread="t", query="juggling")
        assert page.evaluate(GLUED) == []
    visit(page, shown, "/page/search", user=nora, query="juggling", top_k=1)
    expect(page.get_by_role("heading", name="1 result", exact=True)).to_be_visible()
    visit(page, shown, "/page/search", user=nora, query="juggling")
    expect(page.get_by_role("heading", name="2 results", exact=True)).to_be_visible()


@pytest.mark.feature("F19")
def test_only_jobs_that_wait_are_due(shown: Serving, page: Page, stored: Api) -> None:
    stored.add_message(user_id="nora", thread_id="t", role="user", content="I like juggling.")
    stored.extract_memories(user_id="nora", thread_id="t")
    visit(page, shown, "/page/work")
    rows = [
        [cell.strip() for cell in row.locator("th, td").all_inner_texts()] for row in page.locator("tbody tr").all()
    ]
    due = {(row[1], row[4] != "") for row in rows if len(row) == 6 and row[1] in ("completed", "pending")}
    stored.forget_user(user_id="nora")
    assert due == {("completed", False), ("pending", True)}


@pytest.mark.feature("F19")
def test_a_thread_counts_what_was_said_and_what_is_active(shown: Serving, page: Page, stored: Api) -> None:
    [thread] = [each for each in stored.list_threads(user_id=ANA) if each.thread_id == THREAD]
    visit(page, shown, "/page/user", user=ANA)
    said, active = page.locator("tbody tr", has_text=THREAD).locator("td").all_inner_texts()[:2]
    assert int(said) > int(active) == thread.message_count
