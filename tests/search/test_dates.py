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
    "Who came over this summer?": {"months": [6, 7, 8]},
    "What was the plan for the fall festival in the fall of 2025?": {"year": 2025, "months": [9, 10, 11]},
    "Welche Medikamente nahm Oma im Herbst 2024?": {"year": 2024, "months": [9, 10, 11]},
    "Was kostete die Reparatur im Februar?": {"months": [2]},
    "Wie war das Wetter am 1. September?": {"months": [9], "day": 1},
    "Was stand am 14.2.2025 im Kalender?": {"year": 2025, "months": [2], "day": 14},
    "¿Cuánto pagué de luz en septiembre de 2024?": {"year": 2024, "months": [9]},
    "¿Dónde pasamos la primavera de 2023?": {"year": 2023, "months": [3, 4, 5]},
    "¿Qué dijo el médico el 12 de enero de 2025?": {"year": 2025, "months": [1], "day": 12},
    "Combien ai-je payé en décembre 2023 ?": {"year": 2023, "months": [12]},
    "Au printemps 2025, où travaillais-je ?": {"year": 2025, "months": [3, 4, 5]},
    "Qui ai-je rencontré en mars ?": {"months": [3]},
    "O que comprei no dia 3 de março de 2025?": {"year": 2025, "months": [3], "day": 3},
    "O que fizemos em fevereiro?": {"months": [2]},
    "Quanto ho speso a dicembre 2024?": {"year": 2024, "months": [12]},
    "Dove siamo andati in primavera?": {"months": [3, 4, 5]},
    "Wat zei de tandarts op 9 mei 2025?": {"year": 2025, "months": [5], "day": 9},
    "Waar waren we in augustus?": {"months": [8]},
    "2023年5月7日我做了什么？": {"year": 2023, "months": [5], "day": 7},
    "小明的生日是6月15号吗？": {"months": [6], "day": 15},
    "十二月发生了什么事？": {"months": [12]},
    "2025年1月3日の予定は何でしたか": {"year": 2025, "months": [1], "day": 3},
    "３月に何がありましたか？": {"months": [3]},
    "2024年の秋に買った車は？": {"year": 2024, "months": [9, 10, 11]},
    "Где мы отдыхали летом 2023 года?": {"year": 2023, "months": [6, 7, 8]},
    "Что я купил 5 мая 2024 года?": {"year": 2024, "months": [5], "day": 5},
    "Сколько я заплатил в декабре?": {"months": [12]},
    # Words that are months, days or years in other sentences, or in other languages.
    "You may tell me about the march on Washington": None,
    "I want to book a table for two": None,
    "Hier ist es schön, aber warum?": None,
    "An dem Tag war es kalt": None,
    "¿Qué regalo le di a Julio?": None,
    "La mayonesa con mayo está rica": None,
    "Je rêve d'aller sur mars un jour": None,
    "A segunda reunião foi boa?": None,
    "Non l'ho mai visto": None,
    "Hier staat de fiets": None,
    "我学了3个月的什么？": None,
    "この前の会議で何を話した？": None,
    "Марта придёт на ужин?": None,
    "Is this an apple?": None,
    "How long did the concert last?": None,
}

DAYS = {"yesterday": -1, "the day before": -2}
RELATIVE = {
    "What was said the day before yesterday?": "the day before",
    "What did we decide last week?": "last week",
    "Was habe ich gestern Abend gesagt?": "yesterday",
    "Welche Termine hatte ich vorige Woche?": "last week",
    "Diesen Monat: welche Rechnungen?": "this month",
    "¿Qué me recomendó anteayer la farmacéutica?": "the day before",
    "¿Qué pasó el mes pasado con la lavadora?": "last month",
    "Qu'est-ce que j'ai acheté hier au marché ?": "yesterday",
    "Avant-hier, qu'avons-nous mangé ?": "the day before",
    "Qu'a dit le plombier la semaine dernière ?": "last week",
    "Quem me ligou ontem?": "yesterday",
    "Neste mês, quais contas paguei?": "this month",
    "Chi ho incontrato la settimana scorsa?": "last week",
    "L'altro ieri cosa ho mangiato?": "the day before",
    "Wat kochten we vorige maand?": "last month",
    "Wie belde mij gisteren?": "yesterday",
    "上周我和谁吃的饭？": "last week",
    "上个月的电费是多少？": "last month",
    "前天晚上我跟谁打电话？": "the day before",
    "先週の会議で何を決めた？": "last week",
    "今月の家賃はいくら？": "this month",
    "昨日は何を食べましたか？": "yesterday",
    "Кого я встретил вчера?": "yesterday",
    "Что решили на прошлой неделе?": "last week",
    "В этом месяце какие счета?": "this month",
}
OF_LAST_YEAR = {
    "Which books did I finish last year?": None,
    "Was haben wir letztes Jahr im Mai gebaut?": [5],
    "Quanto gastei em abril do ano passado?": [4],
    "Qu'est-ce qui s'est passé l'an dernier ?": None,
    "我去年夏天去了哪里？": [6, 7, 8],
    "去年の冬は何をした？": [1, 2, 12],
    "Какую книгу я читал в прошлом году?": None,
}
LAST_OCTOBER = [
    "last October, what did Jo buy?",
    "Was haben wir letzten Oktober in Hamburg gemacht?",
    "¿Qué hicimos el octubre pasado?",
    "Où étions-nous en octobre dernier ?",
    "Dove eravamo lo scorso ottobre?",
]
LAST_SUMMER = [
    "Who visited us last summer?",
    "Wohin sind wir vergangenen Sommer gereist?",
    "¿Adónde viajamos el verano pasado?",
    "Où étions-nous l'été dernier ?",
    "Onde estivemos no verão passado?",
    "Dove eravamo l'estate scorsa?",
    "Wat deden we afgelopen zomer in Zeeland?",
    "Что мы делали прошлым летом?",
]
LAST_FRIDAY = [
    "Who came last Friday?",
    "Wer war letzten Freitag beim Abendessen dabei?",
    "¿Con quién cené el viernes pasado?",
    "Qui est venu dîner vendredi dernier ?",
    "Quem veio jantar na sexta-feira passada?",
    "Chi è venuto a cena venerdì scorso?",
    "Wie kwam er vorige vrijdag eten?",
    "星期五我买了什么？",
    "金曜日に何を買った？",
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


@pytest.mark.parametrize("query", NAMED)
def test_days_by_their_date(api: Api, query: str) -> None:
    assert meant(api, query) == NAMED[query]


@pytest.mark.parametrize("query", RELATIVE)
def test_days_by_their_distance(api: Api, query: str) -> None:
    which, _, unit = RELATIVE[query].rpartition(" ")
    if (days := DAYS.get(RELATIVE[query])) is not None:
        since, before = (begin(api, f"date_trunc('day', now) + interval '{n} days'") for n in (days, days + 1))
    else:
        this = begin(api, f"date_trunc('{unit}', now)")
        last = begin(api, f"date_trunc('{unit}', now) - interval '1 {unit}'")
        since, before = (last, this) if which == "last" else (this, "infinity")
    assert meant(api, query) == {"since": since, "before": before}


@pytest.mark.parametrize("query", OF_LAST_YEAR)
def test_days_of_last_year(api: Api, query: str) -> None:
    year = api.value("select date_part('year', statement_timestamp() at time zone 'UTC')::int - 1")
    months = OF_LAST_YEAR[query]
    assert meant(api, query) == ({"year": year} if months is None else {"year": year, "months": months})


@pytest.mark.parametrize("query", LAST_OCTOBER + LAST_SUMMER)
def test_the_last_month_or_summer_is_the_one_that_has_ended_last(api: Api, query: str) -> None:
    month, months = (10, 1) if query in LAST_OCTOBER else (6, 3)
    ends = f"make_date(date_part('year', now)::int, {month}, 1) + interval '{months} months'"
    ended = begin(api, f"case when {ends} <= now then {ends} else {ends} - interval '1 year' end")
    days = meant(api, query)
    assert days is not None
    assert (days["before"], int(days["since"][5:7])) == (ended, month)


@pytest.mark.parametrize("query", LAST_FRIDAY)
def test_a_weekday_is_the_last_one_before_today(api: Api, query: str) -> None:
    day = "date_trunc('week', now - interval '5 days') + interval '4 days'"
    assert meant(api, query) == {"since": begin(api, day), "before": begin(api, f"{day} + interval '1 day'")}


@pytest.mark.feature("E4")
@pytest.mark.parametrize(
    "query",
    [
        *("may", "7 May 2023", "What happened in May 2023?", "7th of may"),
        *("im Mai", "en mai", "em maio", "en mayo", "a maggio", "in mei", "в мае", "5月", "五月", "2023年5月7日"),
    ],
)
def test_a_message_is_found_by_its_date_in_any_language(api: Api, query: str) -> None:
    messages = [
        {"role": "user", "content": f"hello in {month}", "created_at": f"2023-{month}-07T12:00:00Z"}
        for month in ("04", "05", "06")
    ]
    api.add_messages(**ANA, messages=messages)
    assert found(api, query, sources=["message"])[0] == "hello in 05"
