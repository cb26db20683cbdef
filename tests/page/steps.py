"""Steps of a person who looks at the page."""

from __future__ import annotations

from urllib.parse import urlencode

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.http.steps import Serving


def visit(page: Page, serving: Serving, path: str = "/", **values: object) -> None:
    """Open an address, in a browser that a server without a key has let in."""
    if serving.token and not page.context.cookies(serving.url):
        page.goto(f"{serving.url}/?token={serving.token}")
        page.wait_for_url(f"{serving.url}/")
    page.goto(f"{serving.url}{path}" + (f"?{urlencode(values)}" if values else ""))


def accessible(page: Page) -> None:
    """The checker axe finds no serious problem, in light and in dark, where only colours differ."""
    rules = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
    for scheme, options in rules.items():
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
        serious = [
            (each["id"], [node["html"] for node in each["nodes"]])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == []
    page.emulate_media(color_scheme="light")


def fits_a_phone(page: Page) -> None:
    """On a phone nothing is wider than the screen."""
    size = page.viewport_size
    page.set_viewport_size({"width": 360, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert size is not None
    page.set_viewport_size(size)


def is_harmless(page: Page) -> None:
    """No stored text has become an element."""
    assert page.locator("main script, main img, nav script, nav b").count() == 0
