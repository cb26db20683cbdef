"""Users, threads and messages in the browser."""

from __future__ import annotations

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.http.steps import Serving
from tests.page.steps import accessible, fits_a_phone, is_harmless, visit
from tests.page.stored import ANA, EVIL, THREAD
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F19")


def test_users_are_searched_and_paged(shown: Serving, page: Page) -> None:
    visit(page, shown)
    expect(page.get_by_role("heading", level=1)).to_have_text("Users")
    page.get_by_label("Part of the id").fill("User ")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_text("1 to 50 of 60 users")).to_be_visible()
    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_text("51 to 60 of 60 users")).to_be_visible()
    expect(page.get_by_role("rowheader").first).to_be_visible()
    fits_a_phone(page)
    page.get_by_label("Part of the id").fill("ANA <")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_text("1 user", exact=True)).to_be_visible()
    is_harmless(page)
    page.get_by_role("rowheader").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Threads of {ANA}")
    expect(page.get_by_text(f"What Ana said. {EVIL}")).to_be_visible()
    is_harmless(page)
    fits_a_phone(page)
    page.get_by_role("link", name=THREAD).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Thread {THREAD}")


def test_a_thread_has_its_summaries_beside_what_they_cover(shown: Serving, page: Page) -> None:
    visit(page, shown, "/page/thread", user=ANA, thread=THREAD)
    band = page.locator(".band.thread").first
    expect(band).to_contain_text("covers messages 0 to")
    expect(band).to_contain_text(f"They asked and answered. {EVIL}")
    expect(page.locator(".band.rolling").first).to_contain_text("What Ana said.")
    is_harmless(page)
    fits_a_phone(page)
    page.get_by_role("link", name="Older messages").first.click()
    first = page.locator("#m0")
    expect(first).to_contain_text("question 0")
    expect(first).to_contain_text("put away by compression")
    page.get_by_label("Show").select_option("what a model can see")
    page.get_by_label("Messages before number").fill("")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("put away by compression", exact=True)).to_have_count(0)
    page.get_by_text("How the summaries came about").click()
    expect(page.get_by_role("region", name="Summaries")).to_contain_text("completed")


def test_a_placeholder_opens_where_it_stands(shown: Serving, page: Page) -> None:
    visit(page, shown, "/page/thread", user=ANA, thread=THREAD)
    page.get_by_role("link", name="[MemoryRef: build-log").click()
    opened = page.get_by_label("Content of the artifact")
    expect(opened).to_contain_text(f"line 7: {EVIL}")
    expect(page.get_by_text("and that was it.")).to_be_visible()
    is_harmless(page)
    page.get_by_role("link", name="Go on reading").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Artifact build-log")
    expect(page.locator("pre")).not_to_contain_text("line 7:")
    page.get_by_role("link", name="Go on").click()
    page.get_by_role("link", name="Beginning").click()
    expect(page.locator("pre")).to_contain_text("line 7:")
    accessible(page)


def test_what_is_not_there_is_said_with_a_way_out(shown: Serving) -> None:
    with shown.client(shown.token) as client:
        for path, status in (
            ("/page/thread?user=nobody&thread=t", 404),
            ("/page/thread?user=ana", 422),
            (f"/page/thread?user=ana&thread=t&before={1 << 70}", 422),
            ("/page/user?user=a%00b", 422),
            ("/page/artifact?user=ana&key=none", 404),
            ("/?offset=99999", 200),
        ):
            answer = client.get(path)
            assert answer.status_code == status, (path, answer.text)
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert client.head(path).status_code == status
            assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self';")


def test_a_thread_of_a_hundred_thousand_messages_is_there_at_once(stored: Api, shown: Serving) -> None:
    stored.query(
        "select from generate_series(1, 10) as n, lateral memory.add_messages("
        "'large', 'long', (select jsonb_agg(jsonb_build_object('role', 'user', 'content', 'message ' || n || ' ' || m))"
        " from generate_series(1, 10000) as m))"
    )
    with shown.client(shown.token) as client:
        for path in (
            "/",
            "/page/user?user=large",
            "/page/thread?user=large&thread=long&before=50000",
            "/page/memories?user=large",
            "/page/alike?user=large",
            "/page/work",
        ):
            client.get(path)
            before = cpu_seconds(stored, shown)
            answer = client.get(path)
            assert answer.status_code == 200
            assert cpu_seconds(stored, shown) - before < 1, path


def cpu_seconds(stored: Api, shown: Serving) -> float:
    """The time for which the page's process and those of its connections have worked so far."""
    backends = stored.query(
        "select pid from pg_stat_activity where application_name = 'agent-memory serve'"
        " and datname = current_database()"
    )
    pids = [shown.process.pid, *(backend.pid for backend in backends)]
    used = [psutil.Process(pid).cpu_times() for pid in pids]
    return float(sum(times.user + times.system for times in used))
