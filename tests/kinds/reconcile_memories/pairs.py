"""Pairs of facts and what they are to each other: what reconciliation makes of a model's word for it.

Each is an older and a newer fact of one subject.
"""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """Two facts; `is_seen` says whether the database merges them when a model calls them duplicates."""

    older: str
    newer: str
    is_seen: bool = True


DUPLICATES = (
    Pair("Likes tea", "Likes green tea in the morning"),
    Pair("I like tea", "Really likes tea"),
    Pair("I'm a nurse", "I am a NURSE!"),
    Pair("Prefers aisle seats", "Likes aisle seats on long flights"),
    Pair("Allergic to nuts", "Is allergic to nuts and shellfish"),
    Pair("I don't eat meat", "Does not eat meat or fish"),
    Pair("Born in 1985", "Born in Lisbon in 1985"),
    Pair("Ich trinke gern Tee", "Ich trinke morgens gern grünen Tee"),
    Pair("Vive en Madrid", "Vive en Madrid con su hermana"),
    Pair("Живёт в Москве", "Живёт в Москве с сестрой"),
    Pair("喜欢喝茶", "早上喜欢喝茶"),
    Pair("東京に住んでいる", "今は東京に住んでいる"),
    # Half of the words or less are the same, or one of several words is another one.
    Pair("Born in 1985", "Was born in Lisbon in 1985", is_seen=False),  # "was" turns other claims
    Pair("Enjoys tea", "Likes tea", is_seen=False),
    Pair("Has two daughters", "Has 2 daughters", is_seen=False),
    Pair("Is a vegan", "Eats nothing made of animals", is_seen=False),
)

CONTRADICTIONS = (
    Pair("Lives in Berlin", "Moved out of Berlin"),
    Pair("Allergic to nuts", "Not allergic to nuts"),
    Pair("Is a vegetarian", "Loves steak"),
    Pair("我住在柏林", "我住在慕尼黑"),
    Pair("ฉันอาศัยอยู่ในเบอร์ลิน", "ฉันอาศัยอยู่ในมิวนิก"),
)

# Words in common, and neither says what the other says.
LOOK_ALIKES = (
    Pair("Born in 1985", "Born in 1986"),
    Pair("Allergic to nuts", "Not allergic to nuts"),
    Pair("Has 2 cats and 3 dogs", "Has 3 cats and 2 dogs"),
    Pair("Is 1.5 m tall", "Is 15 m tall"),
    Pair("Lived in Oslo", "Lives in Oslo"),
    Pair("Used to live in Oslo", "Lives in Oslo"),
    Pair("Isn't married", "Is married"),
    Pair("Likes tea", "Hates tea"),
    Pair("Likes tea", "Likes tea but not coffee"),
    Pair("Knows C", "Knows C++"),
    Pair("Ist gegen Nüsse allergisch", "Ist nicht gegen Nüsse allergisch"),
    Pair("Aime le thé", "N'aime pas le thé"),
    Pair("Come carne", "No come carne"),
    Pair("Mangia carne", "Non mangia carne"),
    Pair("Eet vlees", "Eet geen vlees"),
    Pair("Je mięso", "Nie je mięso"),
    Pair("Ест мясо", "Не ест мясо"),
    Pair("喜欢喝茶", "不喜欢喝茶"),
    Pair("ナッツにアレルギーがある", "ナッツにアレルギーがない"),
    Pair("고기를 먹는다", "고기를 안 먹는다"),
    Pair("ฉันกินเนื้อ", "ฉันไม่กินเนื้อ"),
    Pair("Allergic to penicillin", "Allergic to cats"),
    Pair("用户对青霉素过敏", "用户喜欢喝茶"),
)
