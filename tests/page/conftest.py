"""A server with the page, a Chromium that looks at it, and what is stored in the database."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.conftest import Database
from tests.http.steps import Serving
from tests.page.stored import store
from tests.support.runners import PATIENCE
from tests.support.sqlapi import Api

# Chromium without windows takes two thirds of the CPU of the whole one.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, for all tests of this folder: while it runs, no other test can run a loop of asyncio."""
    expect.set_options(timeout=PATIENCE * 1000)
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; as root: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        # As root it has no sandbox; small containers have little shared memory.
        options = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options, timeout=PATIENCE * 1000)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def stored(_database: Database, _template: str) -> Iterator[Api]:
    """A database for this folder, with the people of stored.py."""
    with _database("page", _template) as conninfo, psycopg.connect(conninfo, autocommit=True) as connection:
        api = Api(connection)
        store(api)
        yield api


@pytest.fixture(scope="package")
def shown(stored: Api) -> Iterator[Serving]:
    """The page over that database, for programs of this machine, read-only."""
    with Serving(stored.connection.info.dsn) as serving:
        yield serving


@pytest.fixture(scope="package")
def edited(stored: Api) -> Iterator[Serving]:
    """The page over that database, started with --edit."""
    with Serving(stored.connection.info.dsn, "--edit") as serving:
        yield serving


def _is_wrong(message: ConsoleMessage) -> bool:
    """An error, other than that of an answer that refuses a request."""
    return message.type in ("error", "warning") and "responded with a status of 4" not in message.text


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab in which no stored script runs, no answer breaks the content policy, and the server does not fail."""
    context = browser.new_context(viewport={"width": 1100, "height": 800})
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE * 1000)
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text) if _is_wrong(message) else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
    yield tab
    context.close()
    assert said == []
