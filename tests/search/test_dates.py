"""Days that a query names in any language of lists/times/. The sentences were written apart from the lists."""

from __future__ import annotations

from typing import Any

import pytest

from tests.search.keyword.steps import ANA, found
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("E4")

NAMED: dict[str, dict[str, Any] | None] = {
    "How was the trip Dana took in late August?": {"months": [8]},
    "Remind me what the vet said on the 3rd of June": {"months": [6], "day": 3},
    "Any news from 2024-02-11?": {"year": 2024, "months": [2], "day": 11},
    "What was the plan for the fall festival in the fall of 2025?": {"year": 2025, "months": [9, 10, 11]},
    "Welche Medikamente nahm Oma im Herbst 2024?": {"year": 2024, "months": [9, 10, 11]},
    "Wie war das Wetter am 1. September?": {"months": [9], "day": 1},
    "Was stand am 14.2.2025 im Kalender?": {"year": 2025, "months": [2], "day": 14},
    "¿Dónde pasamos la primavera de 2023?": {"year": 2023, "months": [3, 4, 5]},
    "¿Qué dijo el médico el 12 de enero de 2025?": {"year": 2025, "months": [1], "day": 12},
    "Au printemps 2025, où travaillais-je ?": {"year": 2025, "months": [3, 4, 5]},
    "Qui ai-je rencontré en mars ?": {"months": [3]},
    "O que comprei no dia 3 de março de 2025?": {"year": 2025, "months": [3], "day": 3},
    "O que fizemos em fevereiro?": {"months": [2]},
    "Dove siamo andati in primavera?": {"months": [3, 4, 5]},
    "Wat zei de tandarts op 9 mei 2025?": {"year": 2025, "months": [5], "day": 9},
    "2023年5月7日我做了什么？": {"year": 2023, "months": [5], "day": 7},
    "十二月发生了什么事？": {"months": [12]},
    "2025年1月3日の予定は何でしたか": {"year": 2025, "months": [1], "day": 3},
    "2024年の秋に買った車は？": {"year": 2024, "months": [9, 10, 11]},
    "Что я купил 5 мая 2024 года?": {"year": 2024, "months": [5], "day": 5},
    "You may tell me about the march on Washington": None,
    "I want to book a table for two": None,
    "Hier ist es schön, aber warum?": None,
    "¿Qué regalo le di a Julio?": None,
    "Je rêve d'aller sur mars un jour": None,
    "A segunda reunião foi boa?": None,
    "我学了3个月的什么？": None,
    "この前の会議で何を話した？": None,
    "Марта придёт на ужин?": None,
    "How long did the concert last?": None,
}

DAYS = {"yesterday": -1, "the day before": -2}
RELATIVE = {
    "What was said the day before yesterday?": "the day before",
    "What did we decide last week?": "last week",
    "Welche Termine hatte ich vorige Woche?": "last week",
    "Diesen Monat: welche Rechnungen?": "this month",
    "¿Qué me recomendó anteayer la farmacéutica?": "the day before",
    "¿Qué pasó el mes pasado con la lavadora?": "last month",
    "Avant-hier, qu'avons-nous mangé ?": "the day before",
    "Qu'a dit le plombier la semaine dernière ?": "last week",
    "Neste mês, quais contas paguei?": "this month",
    "L'altro ieri cosa ho mangiato?": "the day before",
    "Wie belde mij gisteren?": "yesterday",
    "上个月的电费是多少？": "last month",
    "前天晚上我跟谁打电话？": "the day before",
    "先週の会議で何を決めた？": "last week",
    "今月の家賃はいくら？": "this month",
    "Кого я встретил вчера?": "yesterday",
    "Что решили на прошлой неделе?": "last week",
    "В этом месяце какие счета?": "this month",
}
OF_LAST_YEAR = {
    "Which books did I finish last year?": None,
    "Was haben wir letztes Jahr im Mai gebaut?": [5],
    "Qu'est-ce qui s'est passé l'an dernier ?": None,
    "我去年夏天去了哪里？": [6, 7, 8],
    "Какую книгу я читал в прошлом году?": None,
}
LAST_OCTOBER = [
    "last October, what did Jo buy?",
    "Was haben wir letzten Oktober in Hamburg gemacht?",
    "Dove eravamo lo scorso ottobre?",
]
LAST_SUMMER = [
    "Who visited us last summer?",
    "¿Adónde viajamos el verano pasado?",
    "Onde estivemos no verão passado?",
    "Что мы делали прошлым летом?",
]
LAST_FRIDAY = [
    "Who came last Friday?",
    "Wer war letzten Freitag beim Abendessen dabei?",
    "Quem veio jantar na sexta-feira passada?",
    "星期五我买了什么？",
    "С кем я ужинал в прошлую пятницу?",
]


def meant(api: Api, query: str) -> dict[str, Any] | None:
    days: dict[str, Any] | None = api.value("select memory._days_meant(%(query)s, 'ana')", query=query)
    return days


def begin(api: Api, moment: str) -> str:
    """A moment of the server's clock, as the days that are meant have it."""
    moment = moment.replace("now", "(statement_timestamp() at time zone 'UTC')")
    begun: str = api.value(f"select to_jsonb({moment})")
    return begun


def test_days_by_their_date(api: Api) -> None:
    assert {query: meant(api, query) for query in NAMED} == NAMED


def test_days_by_their_distance(api: Api) -> None:
    for query, distance in RELATIVE.items():
        which, _, unit = distance.rpartition(" ")
        if (days := DAYS.get(distance)) is not None:
            since, before = (begin(api, f"date_trunc('day', now) + interval '{n} days'") for n in (days, days + 1))
        else:
            this = begin(api, f"date_trunc('{unit}', now)")
            last = begin(api, f"date_trunc('{unit}', now) - interval '1 {unit}'")
            since, before = (last, this) if which == "last" else (this, "infinity")
        assert meant(api, query) == {"since": since, "before": before}, query


def test_days_of_last_year(api: Api) -> None:
    year = api.value("select date_part('year', statement_timestamp() at time zone 'UTC')::int - 1")
    for query, months in OF_LAST_YEAR.items():
        expected = {"year": year} if months is None else {"year": year, "months": months}
        assert meant(api, query) == expected, query


def test_the_last_month_or_summer_is_the_one_that_has_ended_last(api: Api) -> None:
    for query in LAST_OCTOBER + LAST_SUMMER:
        month, months = (10, 1) if query in LAST_OCTOBER else (6, 3)
        ends = f"make_date(date_part('year', now)::int, {month}, 1) + interval '{months} months'"
        ended = begin(api, f"case when {ends} <= now then {ends} else {ends} - interval '1 year' end")
        days = meant(api, query)
        assert days is not None, query
        assert (days["before"], int(days["since"][5:7])) == (ended, month), query


def test_a_weekday_is_the_last_one_before_today(api: Api) -> None:
    day = "date_trunc('week', now - interval '5 days') + interval '4 days'"
    expected = {"since": begin(api, day), "before": begin(api, f"{day} + interval '1 day'")}
    for query in LAST_FRIDAY:
        assert meant(api, query) == expected, query


@pytest.mark.feature("E4")
def test_a_message_is_found_by_its_date_in_any_language(api: Api) -> None:
    messages = [
        {"role": "user", "content": f"hello in {month}", "created_at": f"2023-{month}-07T12:00:00Z"}
        for month in ("04", "05", "06")
    ]
    api.add_messages(**ANA, messages=messages)
    for query in ("may", "What happened in May 2023?", "im Mai", "en mayo", "a maggio", "в мае", "5月", "2023年5月7日"):
        assert found(api, query, sources=["message"])[0] == "hello in 05", query
