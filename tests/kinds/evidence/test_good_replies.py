"""What good models and the built-in one reply is stored."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.kinds.evidence.steps import (
    CONVERSATIONS,
    KEEPS_NOTHING,
    active,
    compression,
    extracted,
    extraction,
    hear,
    memory,
    refusal,
)
from tests.support.model_payloads import run
from tests.support.protocol import claim, complete
from tests.support.sqlapi import Api

pytestmark = pytest.mark.compares_words


@pytest.mark.feature("F2", "F6")
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.nightly)])
def test_at_most_one_good_reply_of_two_hundred_is_refused(api: Api, step: int) -> None:
    api.set_policy(settings=KEEPS_NOTHING)
    refused: list[Any] = []
    for conversation in CONVERSATIONS[::step]:
        job = extraction(api, conversation["said"])
        outcome = extracted(api, job, *(memory(content, seqs) for content, seqs in conversation["memories"]))
        if outcome["refused"]:
            refused.append((conversation["memories"], outcome["refusals"]))
        assert outcome["inserted"] + outcome["refused"] == len(conversation["memories"])
        job = compression(api, conversation["said"])
        if problem := refusal(api, job, conversation["summary"]):
            refused.append((conversation["summary"], problem))
        else:
            assert active(api, job.user_id) == 1
    assert len(CONVERSATIONS) == 100
    assert len(refused) <= (1 if step == 1 else 0), refused


@pytest.mark.feature("F2", "F6")
def test_what_the_built_in_model_makes_is_stored(api: Api) -> None:
    """It quotes; a memory is one of its sentences or what a table of words says of it."""
    api.set_policy(settings=KEEPS_NOTHING)
    counts: Counter[str] = Counter()
    for conversation in CONVERSATIONS[::7]:
        user_id = hear(api, conversation["said"])
        api.extract_memories(user_id=user_id, thread_id="t")
        api.summarize_thread(user_id=user_id, thread_id="t")
        api.summarize_user(user_id=user_id)
        for kind in ("extract_memories", "summarize_thread", "summarize_user", "compress_thread"):
            if kind == "compress_thread":
                api.compress_thread(user_id=user_id, thread_id="t")
            job = claim(api, kind, user_id=user_id)
            made = run(kind, job.payload)
            outcome = complete(api, job, **made)
            assert "refusals" not in outcome, (kind, made)
            counts[kind] += outcome.get("inserted", 1)
    assert counts["extract_memories"] > 5
    assert counts["compress_thread"] == 15


OTHER_LANGUAGES = {
    "Eu moro em Coimbra e trabalho numa padaria.": "O usuário mora em Coimbra e trabalha em uma padaria",
    "Я живу в Казани и преподаю физику в школе.": "Пользователь живёт в Казани и преподаёт физику",
    "저는 부산에 살고 은행에서 일해요.": "사용자는 부산에 살며 은행에서 일한다",
    "ฉันอยู่เชียงใหม่และทำงานร้านกาแฟ": "ผู้ใช้อยู่เชียงใหม่และทำงานที่ร้านกาแฟ",
    "Szegeden lakom, és matematikát tanítok.": "A felhasználó Szegeden lakik és matematikát tanít",
    "أعيش في الدار البيضاء وأعمل مهندسا": "المستخدم يعيش في الدار البيضاء ويعمل مهندسا",
}


@pytest.mark.feature("F2")
def test_other_languages_are_compared_as_well(api: Api) -> None:
    for said, content in OTHER_LANGUAGES.items():
        assert extracted(api, extraction(api, [said]), memory(content, [0]))["inserted"] == 1, said
