"""Views of summaries for administrators."""

from __future__ import annotations

import pytest

from tests.support.protocol import ANA, age, claim, complete
from tests.support.sqlapi import Api
from tests.support.summaries import asked, each_round, only, summaries


@pytest.mark.feature("D8")
def test_views_show_chains_windows_times_and_what_is_stuck(api: Api) -> None:
    only(api)
    each_round(api)
    for rounds, milliseconds in ((8, 10), (2, 31)):
        api.talk(**ANA, rounds=rounds)
        api.summarize_thread(**ANA)
        complete(api, claim(api), summary="They talked.", generation_time_ms=milliseconds)
    api.summarize_user(user_id="ana")
    complete(api, claim(api), summary="A profile.")
    asked(api, "compress_thread")
    age(api, days=1, table="summaries")
    assert summaries(api, "thread_id, kind, base_end_seq, start_seq, end_seq, window_size, status") == [
        ("", "user", None, 0, 19, 20, "completed"),
        ("t1", "rolling", None, 2, 15, 14, "completed"),
        ("t1", "rolling", 15, 6, 19, 14, "completed"),
        ("t1", "thread", None, 0, 9, 10, "processing"),
    ]
    windows = "select thread_id, start_seq, end_seq, window_size, generation_time_ms from memory.summary_windows"
    assert sorted(api.query(windows)) == [("t1", 2, 15, 14, 10), ("t1", 6, 19, 14, 31)]
    assert api.query("select * from memory.summary_times") == [("rolling", 2, 21, 31)]
    [stuck] = api.query("select kind, thread_id, extract(days from age) as days from memory.stuck_summaries")
    assert stuck == ("thread", "t1", 1)
