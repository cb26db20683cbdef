"""The page on a phone: nothing is clipped, no word is broken, and each label stands by its field."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.http.steps import Serving
from tests.page.steps import visit
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


@pytest.mark.feature("F19")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "view",
    ["users", "user", "thread", "memories", "memory", "context", "search", "alike", "work", "rules"],
)
def test_a_view_can_be_read_on_a_phone(
    edited: Serving, stored: Api, page: Page, view: str, scheme: str, tmp_path: object
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
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
    import os
    if os.environ.get("SHOTS"):
        page.screenshot(path=f"{os.environ['SHOTS']}/{view}-{scheme}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(BROKEN) == []
    assert page.evaluate(APART) == []
