"""Who may look at the page, who may change something there, and how one comes to it."""

from __future__ import annotations

import stat
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.http.steps import KEY, Serving, token, with_keys
from tests.page.steps import accessible, fits_a_phone, visit
from tests.page.stored import ANA
from tests.support.runners import wait_until
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F19")


def test_with_a_key_one_logs_in_and_out(stored: Api, page: Page) -> None:
    with with_keys(stored.connection.info.dsn) as serving:
        visit(page, serving, "/page/user", user=ANA)
        expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
        accessible(page)
        fits_a_phone(page)
        page.get_by_label("Key of the administrator").fill("guessed")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_contain_text("not the administrator's key")
        page.get_by_label("Key of the administrator").fill(KEY)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Users")
        [cookie] = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert KEY not in cookie["value"]
        page.get_by_role("button", name="Log out").click()
        visit(page, serving, "/page/user", user=ANA)
        expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
        page.context.add_cookies([cookie])  # type: ignore[list-item]
        visit(page, serving)
        expect(page.get_by_role("heading", level=1)).to_have_text("Log in")

        with serving.client() as administrator, serving.client(token("ana")) as ana, serving.client(None) as nobody:
            assert administrator.get("/").status_code == 200
            assert ana.get("/page/user?user=ana").status_code == 403
            assert nobody.get("/page/user?user=ana").status_code == 303
            assert nobody.post("/page/memory", data={"do": "delete"}).status_code == 303
        # The cookie opens the page only.
        with httpx.Client(base_url=serving.url, cookies={cookie["name"]: cookie["value"]}) as client:
            assert client.post("/v1/version").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "null"},
    ],
)
def test_a_form_from_elsewhere_changes_nothing(stored: Api, edited: Serving, headers: dict[str, str]) -> None:
    memory_id = stored.add_memory(user_id="target", content="stays").memory_id
    form = {"user": "target", "id": str(memory_id), "do": "delete"}
    with edited.client(edited.token) as client:
        assert client.post("/page/memory", data=form, headers=headers).status_code == 403
    assert stored.get_memory(user_id="target", memory_id=memory_id).content == "stays"


def test_without_a_key_a_browser_needs_the_address_that_was_printed(edited: Serving, page: Page) -> None:
    page.goto(f"{edited.url}/page/user?user={ANA}")
    expect(page.get_by_text("Open the address with a token that the command has printed")).to_be_visible()
    accessible(page)
    with edited.client(None) as client:
        for path in ("/", "/?token=", "/?token=guessed", f"/page/user?user={ANA}", f"/page/user?token={edited.token}"):
            answer = client.get(path)
            assert answer.status_code == 401
            assert ANA not in answer.text
        ours = {"Sec-Fetch-Site": "same-origin"}
        form = {"user": ANA, "id": "1", "do": "delete"}
        assert client.post("/page/memory", data=form, headers=ours).status_code == 401
        for answer in (client.get("/page/login"), client.post("/page/login", data={"key": "guessed"}, headers=ours)):
            assert "open the address that the command printed" in answer.text
            assert "AGENT_MEMORY_API_KEY" not in answer.text
    visit(page, edited, "/page/user", user=ANA)
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Welcome")
    assert edited.token not in page.content()
    assert edited.token not in page.url
    [cookie] = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert edited.token not in cookie["value"]
    # The cookie opens the page only.
    with httpx.Client(base_url=edited.url, cookies={cookie["name"]: cookie["value"]}) as client:
        assert client.get("/").status_code == 200
        assert client.post("/v1/version").status_code == 401


def test_without_edit_there_are_no_buttons_and_no_form_changes_anything(
    stored: Api, shown: Serving, page: Page
) -> None:
    memory_id = stored.add_memory(user_id="target", content="remains").memory_id
    visit(page, shown, "/page/memory", user="target", id=memory_id)
    expect(page.get_by_text("remains").first).to_be_visible()
    expect(page.get_by_role("main").get_by_role("button")).to_have_count(0)
    with shown.client(shown.token) as client:
        for path in ("/page/memory", "/page/alike", "/page/work"):
            form = {"user": "target", "id": str(memory_id), "do": "delete"}
            answer = client.post(path, data=form, headers={"Sec-Fetch-Site": "same-origin"})
            assert answer.status_code == 403
            assert "Start it with --edit" in answer.text
    assert stored.get_memory(user_id="target", memory_id=memory_id).content == "remains"


def test_the_command_ui_opens_a_browser_with_the_page(stored: Api, tmp_path: Path, page: Page) -> None:
    opened = tmp_path / "opened"
    opener = tmp_path / "browser"
    opener.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    opener.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    with Serving(stored.connection.info.dsn, command="ui", BROWSER=f"{opener} %s", HOME=str(home)) as serving:
        wait_until(opened.exists)
        # Everybody on this machine can read the arguments of a browser, so they name a file which only this user can.
        file = Path(urlsplit(opened.read_text().strip()).path)
        assert serving.token not in opened.read_text()
        assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)
        # A browser in a snap has a /tmp of its own, and reads no hidden files.
        assert (file.parent.parent, file.parent.name[0]) == (home, "a")
        page.goto(file.as_uri())
        expect(page.get_by_role("heading", level=1)).to_have_text("Users")
        assert page.url == f"{serving.url}/"
        assert serving.stop() == 0
        assert not file.parent.exists()


def test_the_command_ui_starts_the_embedded_store(tmp_path: Path) -> None:
    with (
        Serving(None, "--no-browser", command="ui", XDG_DATA_HOME=str(tmp_path)) as serving,
        serving.client(serving.token) as client,
    ):
        assert "No users." in client.get("/").text
