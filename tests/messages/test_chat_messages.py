"""Messages in the format of chat completions."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import errors

from tests.messages.steps import ANA, TOOL_CALLS
from tests.support.sqlapi import Api


class TestChatMessages:
    @pytest.mark.parametrize("content", [{"content": None}, {}], ids=["null", "absent"])
    def test_tool_calls_may_have_no_content(self, api: Api, content: dict[str, None]) -> None:
        [stored] = api.add_messages(**ANA, messages=[{"role": "assistant", "tool_calls": TOOL_CALLS, **content}])
        [message] = api.get_messages(**ANA)
        assert (message.content, message.metadata) == ("", {"tool_calls": TOOL_CALLS})
        assert stored.token_count == message.token_count > 20

    def test_content_parts_become_their_text_and_stay_in_metadata(self, api: Api) -> None:
        parts = [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
            {"type": "text", "text": "A cat?"},
        ]
        api.add_messages(**ANA, messages=[{"role": "user", "content": parts}])
        [message] = api.get_messages(**ANA)
        assert (message.content, message.metadata) == ("What is this?\nA cat?", {"content": parts})

    @pytest.mark.parametrize(
        "said",
        [
            {"content": [{"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}]},
            {"content": None, "refusal": "I cannot help with that."},
            {"content": None, "function_call": {"name": "weather", "arguments": "{}"}},
        ],
        ids=["image", "refusal", "function call"],
    )
    def test_a_message_with_an_image_audio_refusal_or_call_may_have_no_text(
        self, api: Api, said: dict[str, Any]
    ) -> None:
        api.add_messages(**ANA, messages=[{"role": "assistant", **said}])
        [message] = api.get_messages(**ANA)
        assert (message.content, message.metadata) == ("", {key: value for key, value in said.items() if value})

    def test_the_null_members_of_a_dumped_reply_are_ignored(self, api: Api) -> None:
        dumped: dict[str, Any] = {
            "content": "Hi!", "refusal": None, "role": "assistant", "annotations": [], "audio": None,
            "function_call": None, "tool_calls": None, "something_new": None,
        }  # fmt: skip
        api.add_messages(**ANA, messages=[dumped])
        [message] = api.get_messages(**ANA)
        assert (message.content, message.metadata) == ("Hi!", {})

    def test_a_member_that_nobody_has_heard_of_is_kept(self, api: Api) -> None:
        api.add_messages(**ANA, messages=[{"role": "user", "content": "Hi", "contnet": "Ho"}])
        [message] = api.get_messages(**ANA)
        assert (message.content, message.metadata) == ("Hi", {"contnet": "Ho"})

    @pytest.mark.parametrize("others", [0, 1], ids=["alone", "among others"])
    def test_a_message_with_text_in_place_of_content_is_told_so(self, api: Api, others: int) -> None:
        messages = [{"role": "user", "content": "Hi"}] * others + [{"role": "user", "text": "hi"}]
        with pytest.raises(errors.InvalidParameterValue, match=rf"^content of messages\[{others}\]: ") as raised:
            api.add_messages(**ANA, messages=messages)
        assert 'has "text" instead' in (raised.value.diag.message_hint or "")
