"""Jobs, costs, policy and prompts in the browser."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.http.steps import Serving
from tests.page.steps import accessible, fits_a_phone, is_harmless, visit
from tests.page.stored import ANA, EVIL
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F19")


def test_jobs_failures_and_costs_are_shown_and_a_dead_job_gets_another_chance(
    stored: Api, edited: Serving, page: Page
) -> None:
    calls = [
        {"model": "large", "tokens_in": 1000, "tokens_out": 10, "duration_ms": 30, "error": f"no answer {EVIL}"},
    ]
    stored.register_model(name="large", kind="chat", provider="openai", model="large")
    stored.activate_model(name="large")
    stored.add_message(user_id=ANA, thread_id="work", role="user", content="This is news.")
    job_id = stored.summarize_user(user_id=ANA)
    state = "pending"
    while state != "dead":
        [job] = stored.claim_jobs(worker="test", kinds=["summarize_user"], user_id=ANA)
        state = stored.fail_job(
            user_id=ANA,
            job_id=job_id,
            lease_token=job.lease_token,
            error=f"no answer {EVIL}",
            calls=calls,
            retry_after=timedelta(0),
        )
    visit(page, edited)
    page.get_by_role("link", name="Jobs and costs").click()
    dead = page.get_by_role("region", name="Failed for good")
    expect(dead).to_contain_text(f"no answer {EVIL}")
    expect(page.get_by_role("region", name="Queue")).to_contain_text("summarize_user")
    expect(page.get_by_role("region", name="Calls of models")).to_contain_text("large")
    expect(page.get_by_role("img", name="Tokens read by day and model")).to_be_visible()
    expect(page.get_by_text("failed calls of large")).to_be_visible()
    is_harmless(page)
    fits_a_phone(page)
    dead.get_by_role("button", name="Try again").click()
    expect(dead).to_have_count(0)
    assert stored.get_job(user_id=ANA, job_id=job_id).status == "pending"


def test_the_policy_and_the_prompts_show_what_differs_from_the_built_in_ones(
    stored: Api, shown: Serving, page: Page
) -> None:
    stored.set_policy(settings={"models": {"translates": None}})
    visit(page, shown)
    page.get_by_role("link", name="Policy and prompts").click()
    expect(page.locator(".changed")).to_have_count(0)
    expect(page.locator(".difference")).to_have_count(0)
    fits_a_phone(page)
    [[template]] = stored.query("select template from memory.prompts where name = 'summarize_user'")
    stored.set_prompt(name="summarize_user", template=f"{template}\nAnd {EVIL} is text.")
    stored.set_policy(settings={"context": {"max_tokens": 1234}}, user_id="someone")
    page.get_by_role("textbox", name="User").fill("someone")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".changed")).to_have_count(1)
    expect(page.locator(".changed")).to_contain_text("max_tokens")
    expect(page.locator(".changed")).to_contain_text("1234")
    expect(page.locator(".difference ins")).to_contain_text(["+", f"+ And {EVIL} is text."])
    is_harmless(page)
    accessible(page)
