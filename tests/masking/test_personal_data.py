"""Personal data is masked when it is stored, for the classes that the policy names (masking.classes)."""

from __future__ import annotations

import json

import pytest
from psycopg.types.json import Jsonb

from tests.support.sqlapi import Api, refused

lists = pytest.importorskip("sql.lists", reason="the lists need Python 3.11")

pytestmark = pytest.mark.feature("F26")

THREAD = {"user_id": "ana", "thread_id": "t"}
CLASSES = ["email", "phone", "card", "iban", "ip"]
SAID = "Write to ana.b+x@example.co.uk or call +49 30 1234567 before 2026-11-27 10:15"
SHOWN = "Write to (masked: email) or call (masked: phone) before 2026-11-27 10:15"

DATA = {
    "email": [
        "ana@example.org",
        "Ana.B+x@mail.example.co.uk",
        "josé@correo.es",
        "иван@пример.рф",
        "ana(at)firma.de",
        "ana＠example.jp",
    ],
    "phone": [
        "+49 30 1234567",
        "+1 (555) 123-4567",
        "0049 171 2345678",
        "030/1234567",
        "01712345678",
        "0171-2345678",
        "555-123-4567",
        "(11) 91234-5678",
        "8 (912) 345-67-89",
        "13800138000",
        "＋81 90 1234 5678",
        "０８０－３３１２－９０４７",
        "0 (212) 345 19 87",
        "333/7120945",
    ],
    "card": [
        "4111 1111 1111 1111",
        "4111111111111111",
        "5500-0055-5555-5559",
        "378282246310005",
        "3782 822463 10005",
        "4111.1111.1111.1111",
        "６２２２０２０００００００００７",
    ],
    "iban": ["DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "fr14 2004 1010 0505 0001 3m02 606"],
    "ip": ["192.168.17.4", "8.8.8.8", "2001:db8:85a3::8a2e:370:7334", "fe80::1ff:fe23:4567:890a"],
}
AFTER_A_WORD = [
    ("My phone number is 345 6789 012.", "My phone number is (masked: phone)."),
    ("Tel.: 1234567", "Tel.: (masked: phone)"),
    ("Mi teléfono es el 612 345 678, gracias", "Mi teléfono es el (masked: phone), gracias"),
    ("我的手机号码是 010 6552 9988。", "我的手机号码是 (masked: phone)。"),
    ("मेरा मोबाइल ९८७६१ ४३२०५", "मेरा मोबाइल (masked: phone)"),
    ("هاتفي tel ٠١٢٣٤٥٦٧٨٩", "هاتفي tel (masked: phone)"),
]
HARMLESS = [
    "Meet on 2026-11-27 at 10:15:30, 27.11.2026 or 11/27/2026",
    "It costs 1,234,567.89 or 1.234.567,89 EUR, 12 000 000 in all",
    "Order 4111111111111112 and ticket #123456789, PR 20261127",
    "pytest 9.2.0 took 1.23.4 with UUID 01a21e68-24a4-766a-b2ce-b66de9f301b8",
    "std::vector<int>, a[1::2], 12:30:45, 0xdeadbeef, sha256 9f86d081884c7d65",
    "Room 0815, page 030, 1999-2004, 3-4 p.m., ISBN 978-3-16-148410-0",
    "python@3.11 and @ana wrote at 12:00",
    "1700000000000 ms since 1970, 127 rows, width 1920x1080",
    "Tell me when 1234567 rows are there, on the mobile site or in cell B12",
    "Version 2.4.1.9, Chrome/120.0.0.0, Art.-Nr. 0171-3920-055, order 02-445512-B, 010-8812-7734-A, 05-06-2024",
    "logo@2x.png, getty@tty1.service, this@Main.stop(), git@example.org:team/base.git, +1 500 000 readers",
    "DE12 ABCD is no account, and GB29 neither",
]


def masked(api: Api, text: str, *classes: str) -> str:
    shown: str = api.value("select memory._masked(%(text)s, %(classes)s)", text=text, classes=list(classes or CLASSES))
    return shown


@pytest.mark.parametrize("kind", CLASSES)
def test_each_class_is_found_in_its_forms_and_languages(api: Api, kind: str) -> None:
    for data in DATA[kind]:
        for before, after in (("", ""), ("Ana said ", ", as before."), ("x: ", "\nnext"), ('"', '"'), ("是", "。")):
            assert masked(api, before + data + after, kind) == f"{before}(masked: {kind}){after}"
            assert masked(api, before + data + after) == f"{before}(masked: {kind}){after}"
        assert masked(api, data, *(other for other in CLASSES if other not in (kind, "phone"))) == data


def test_a_number_after_a_word_for_a_telephone_is_one(api: Api) -> None:
    for said, shown in AFTER_A_WORD:
        assert masked(api, said) == shown


def test_other_numbers_stay(api: Api) -> None:
    assert [masked(api, text) for text in HARMLESS] == HARMLESS


def test_the_rest_of_a_line_with_a_number_stays(api: Api) -> None:
    assert masked(api, "4111 1111 1111 1111 12/27 123") == "(masked: card) 12/27 123"
    assert masked(api, "4111 1111 1111 1111 123") == "(masked: card) 123"
    assert masked(api, "DE89 3704 0044 0532 0130 00 and ours") == "(masked: iban) and ours"


def test_without_the_policy_everything_stays(api: Api) -> None:
    assert api.get_policy()["masking"] == {"classes": []}
    api.add_message(**THREAD, role="user", content=SAID)
    api.add_memory(user_id="ana", content=SAID)
    assert [message.content for message in api.get_messages(**THREAD)] == [SAID]
    assert [memory.content for memory in api.list_memories(user_id="ana")] == [SAID]


def stored(api: Api) -> str:
    """All rows of all tables, as text."""
    tables = api.query("select c.oid::regclass::text as name from pg_class as c"
                       " where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'")  # fmt: skip
    return "\n".join(
        api.value(f"select coalesce(string_agg(t::text, e'\\n'), '') from {table.name} as t") for table in tables
    )


def test_no_way_in_leaves_personal_data(api: Api) -> None:
    api.set_policy(settings={"masking": {"classes": CLASSES}}, user_id="ana")
    assert api.add_message(**THREAD, role="user", content=SAID).content == SHOWN
    call = {"id": "call_1", "type": "function", "function": {"name": "mail", "arguments": json.dumps({"to": SAID})}}
    api.add_messages(**THREAD, messages=[
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": f"{SAID}\n" * 500, "tool_call_id": "call_1"},
        {"role": "user", "content": SAID, "metadata": {"from": SAID, "nested": [{"deep": SAID}]}},
    ])  # fmt: skip
    api.query("insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't', 'user', %(c)s)"
              " returning 1", c=SAID)  # fmt: skip
    api.query("update memory.messages set content = content || %(c)s where seq = 0 returning 1", c=SAID)
    memory = api.add_memory(user_id="ana", content=SAID, embedding_text=SAID, metadata={"note": SAID}).memory_id
    api.update_memory(user_id="ana", memory_id=memory, content=f"Now: {SAID}", metadata={"note": [SAID]})
    api.add_memories(user_id="ana", memories=Jsonb([{"content": f"{n}: {SAID}"} for n in range(3)]))
    api.query("insert into memory.memories (user_id, content) values ('ana', %(c)s) returning 1", c=f"By hand: {SAID}")
    api.add_document(user_id="ana", content=SAID, title=SAID, metadata={"author": SAID})
    api.store_artifact(user_id="ana", content=f"x {SAID}", description=SAID, key="k", metadata={"of": SAID})
    upload = api.add_artifact_piece(user_id="ana", content="Write to ana.b+x@exam")
    api.add_artifact_piece(user_id="ana", content="ple.co.uk or call +49 30", upload_id=upload)
    api.add_artifact_piece(user_id="ana", content=" 1234567 before", upload_id=upload)
    api.store_artifact(user_id="ana", content=None, upload_id=upload, key="u")
    api.set_thread(user_id="ana", thread_id="t", title=SAID, metadata={"of": SAID})
    assert api.retrieve_artifact(user_id="ana", key="u") == "Write to (masked: email) or call (masked: phone) before"
    dump = stored(api)
    assert ("example.co.uk" in dump, "1234567" in dump) == (False, False)
    [row] = api.query("select active_tokens, (select sum(token_count)::bigint from memory.messages) as counted"
                      " from memory.threads")  # fmt: skip
    assert row.active_tokens == row.counted
    api.add_message(user_id="bob", thread_id="t", role="user", content=SAID)
    assert [message.content for message in api.get_messages(user_id="bob", thread_id="t")] == [SAID]


def test_what_a_model_says_is_masked(api: Api) -> None:
    api.register_model(name="c", kind="chat", provider="openai", model="c")
    api.activate_model(name="c")
    api.add_message(**THREAD, role="user", content=SAID)  # stored before the policy
    api.set_policy(settings={"masking": {"classes": ["email", "phone"]}})
    api.extract_memories(**THREAD)
    [job] = api.claim_jobs(worker="w", kinds=["extract_memories"])
    memory = {"content": f"Ana's address: {SAID}", "memory_type": "fact", "seqs": [0]}
    api.complete_job(
        user_id="ana", job_id=job.job_id, lease_token=job.lease_token, result=Jsonb({"memories": [memory]})
    )
    assert [memory.content for memory in api.list_memories(user_id="ana")] == [f"Ana's address: {SHOWN}"]


def test_a_memory_that_was_masked_is_still_known(api: Api) -> None:
    api.set_policy(settings={"masking": {"classes": ["email", "phone"]}})
    first = api.add_memory(user_id="ana", content=SAID)
    again = api.add_memory(user_id="ana", content=SAID.replace("ana.b+x", "bo"))
    assert (again.memory_id, first.inserted, again.inserted) == (first.memory_id, True, False)
    [one, two] = api.query("select * from memory.add_memories('ana', %(m)s)",
                           m=Jsonb([{"content": SAID}, {"content": "Likes tea"}]))  # fmt: skip
    assert (one.memory_id, one.inserted, two.inserted) == (first.memory_id, False, True)


def test_a_long_text_is_masked_in_pieces_and_costs_what_it_has(api: Api) -> None:
    """Each match reads its piece from the beginning: 2,000 lines in one piece took 20 s."""
    line = '192.168.0.1 - ana@example.org [27/Nov/2026:10:15:00 +0000] "GET /index.html HTTP/1.1" 200 512'
    lines = f"{line}\n" * 2000
    shown = lines.replace("192.168.0.1", "(masked: ip)").replace("ana@example.org", "(masked: email)")
    assert masked(api, lines) == shown
    words = "Call +49 30 1234567 and then " * 1000
    assert masked(api, words) == words.replace("+49 30 1234567", "(masked: phone)")
    for text in ("1234 " * 5000, "x" * 50_000, "a@b.de," * 3000, "Ä 1\n" * 9000):
        pieces = api.value("select memory._pieces_to_mask(%(text)s)", text=text)
        assert "".join(pieces) == text
        assert max(map(len, pieces)) <= 17_000


def test_a_long_text_is_masked_in_microseconds_a_byte(api: Api) -> None:
    text = "".join(f"{n}@example.org called +49 30 {n} from 10.0.0.1\n" for n in range(1_000_000, 1_008_000))
    with api.at_most(cpu_seconds=4):
        masked(api, text)


def test_a_text_that_a_pattern_matches_also_matches_its_part(api: Api) -> None:
    forms = [[lists.pattern("personal_data", form[key]) for form in lists.toml("personal_data")["form"]]
             for key in ("part", "pattern")]  # fmt: skip
    found = api.query(
        "select f.part, f.pattern from unnest(%(parts)s::text[], %(patterns)s::text[]) as f (part, pattern)"
        " where not exists (select from unnest(%(texts)s::text[]) as t where t ~* f.pattern)"
        " or exists (select from unnest(%(texts)s::text[]) as t where t ~* f.pattern and t !~* f.part)",
        texts=[*(text for texts in DATA.values() for text in texts), "tel: 123456"],
        parts=forms[0],
        patterns=forms[1],
    )
    assert found == []


def test_a_text_that_marks_make_too_long_is_refused_with_its_limit(api: Api) -> None:
    api.set_policy(settings={"masking": {"classes": ["email"]}})
    many = "a@b.de " * 285  # 1,995 bytes
    with refused("title", "54000"):
        api.add_document(user_id="ana", content="c", title=many)
    with refused("title", "54000"):
        api.set_thread(user_id="ana", thread_id="t", title=many)
    with refused("content", "54000"):
        api.add_memory(user_id="ana", content="a@b.de " * 37_000)
