"""Pairs of facts and what they are to each other, to measure what reconciliation makes of a model's word for it.

Each is an older and a newer fact. `is_seen` says whether the rules of the database let the newer one take the older
one's place when a model says so; where the two are unrelated they must not.
"""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """Two facts of one subject."""

    older: str
    newer: str
    is_seen: bool = True


# The newer says all that the older says.
DUPLICATES = (
    Pair("Likes tea", "Likes green tea in the morning"),
    Pair("Likes tea", "likes tea."),
    Pair("I like tea", "Really likes tea"),
    Pair("Enjoys tea", "Likes tea"),
    Pair("Prefers aisle seats", "Likes aisle seats on long flights"),
    Pair("Enjoys hiking in the mountains", "Loves mountain hiking"),
    Pair("Is a software engineer at Google", "Works as a software engineer at Google"),
    Pair("Allergic to nuts", "Is allergic to nuts and shellfish"),
    Pair("I don't eat meat", "Does not eat meat or fish"),
    Pair("Has two cats", "Has two cats, Mia and Zoe"),
    Pair("Born in 1985", "Was born in Lisbon in 1985", is_seen=False),  # "was" turns other claims
    Pair("Born in 1985", "Born in Lisbon in 1985"),
    Pair("Runs 10 km on Sundays", "Runs 10 km on Sundays with Anna"),
    Pair("Ich trinke gern Tee", "Ich trinke morgens gern grünen Tee"),
    Pair("Wohnt in Köln", "Wohnt in Köln am Rhein"),
    Pair("Habite à Lyon", "Habite à Lyon depuis 2019"),
    Pair("Vive en Madrid", "Vive en Madrid con su hermana"),
    Pair("Живёт в Москве", "Живёт в Москве с сестрой"),
    Pair("喜欢喝茶", "早上喜欢喝茶"),
    Pair("東京に住んでいる", "今は東京に住んでいる"),
    Pair("Drinks tea", "Tea is nice"),
    Pair("Has two daughters", "Has 2 daughters", is_seen=False),
    Pair("Comes from Lisbon", "Was born in Lisbon"),
    Pair("Is a vegan", "Eats nothing made of animals", is_seen=False),
)

# Both cannot be true.
CONTRADICTIONS = (
    Pair("Lives in Berlin", "Lives in Munich"),
    Pair("Lives in Berlin", "Moved out of Berlin"),
    Pair("Works at Acme", "Works at Globex"),
    Pair("Is 30 years old", "Is 31 years old"),
    Pair("Is 30", "Is 31"),
    Pair("Likes tea", "Hates tea"),
    Pair("Likes tea", "Does not like tea"),
    Pair("Allergic to nuts", "Not allergic to nuts"),
    Pair("Allergic to penicillin", "Is no longer allergic to penicillin"),
    Pair("Favourite colour is red", "Favourite colour is blue"),
    Pair("Prefers window seats", "Prefers aisle seats"),
    Pair("Prefers dark mode", "Prefers light mode"),
    Pair("The meeting is on Monday", "The meeting is on Tuesday"),
    Pair("Owns a red car", "Sold the car in June"),
    Pair("Phone number is 555-1234", "Phone number is 555-9876"),
    Pair("Married to Anna", "Divorced from Anna"),
    Pair("Weighs 70 kg", "Weighs 82 kg"),
    Pair("Budget is €5,000", "Budget is €7,000"),
    Pair("Drinks coffee every morning", "Gave up coffee"),
    Pair("Has a dog named Rex", "Has no dog"),
    Pair("Wohnt in Berlin", "Wohnt in München"),
    Pair("Isst kein Fleisch", "Isst gern Fleisch"),
    Pair("Habite à Paris", "Habite à Lyon"),
    Pair("Vive en Madrid", "Vive en Sevilla"),
    Pair("Работает в банке", "Больше не работает в банке"),
    Pair("我住在柏林", "我住在慕尼黑"),
    Pair("喜欢喝茶", "不喜欢喝茶"),
    Pair("東京に住んでいる", "大阪に住んでいる"),
    Pair("서울에 산다", "서울에 살지 않는다"),
    Pair("ฉันอาศัยอยู่ในเบอร์ลิน", "ฉันอาศัยอยู่ในมิวนิก", is_seen=False),  # where a word ends is unknown
    Pair("Lives in Berlin", "Moved to Munich in May"),
    Pair("Works at Acme", "Started a new job at Globex"),
    Pair("Is a vegetarian", "Loves steak"),
    Pair("Is single", "Is married"),
    Pair("Prefers email", "Prefers phone calls", is_seen=False),
    Pair("Wohnt in Berlin", "Ist nach München gezogen"),
    Pair("Wants to visit Rome", "Visited Rome"),
)

# Whatever a model says, neither takes the other's place.
UNRELATED = (
    Pair("Allergic to penicillin", "Works at a hospital", is_seen=False),
    Pair("Allergic to penicillin", "Allergic to cats", is_seen=False),
    Pair("Allergic to penicillin", "Likes long walks", is_seen=False),
    Pair("Lives in Berlin", "Has two cats", is_seen=False),
    Pair("Likes tea", "Likes boats", is_seen=False),
    Pair("Is 30 years old", "Has 30 employees", is_seen=False),
    Pair("The user likes tea", "The user owns a boat", is_seen=False),
    Pair("Uses Linux", "Uses a standing desk", is_seen=False),
    Pair("Wants a new laptop", "Wants to learn Spanish", is_seen=False),
    Pair("Born in 1985", "Graduated in 2008", is_seen=False),
    Pair("Password manager is Bitwarden", "Sister is called Zoe", is_seen=False),
    Pair("Takes insulin", "Speaks French", is_seen=False),
    Pair("Ich lebe in Berlin", "Ich bin gegen Penicillin allergisch", is_seen=False),
    Pair("Je suis allergique à la pénicilline", "Je travaille dans un hôpital", is_seen=False),
    Pair("Soy alérgico a la penicilina", "Me gusta el té", is_seen=False),
    Pair("È allergico alla penicillina", "Vive con la sorella", is_seen=False),
    Pair("У меня аллергия на пенициллин", "У меня есть собака", is_seen=False),
    Pair("用户对青霉素过敏", "用户喜欢喝茶", is_seen=False),
    Pair("私はペニシリンにアレルギーがあります", "私は病院で働いています", is_seen=False),
    Pair("페니실린 알레르기가 있다", "병원에서 일한다", is_seen=False),
    Pair("ฉันแพ้เพนิซิลลิน", "ฉันทำงานที่โรงพยาบาล", is_seen=False),
)

# Nearly the same words, and neither says what the other says. They are no duplicates in either order.
LOOK_ALIKES = (
    Pair("Born in 1985", "Born in 1986"),
    Pair("Allergic to nuts", "Not allergic to nuts"),
    Pair("Isn't married", "Is married"),
    Pair("Has 2 cats and 3 dogs", "Has 3 cats and 2 dogs"),
    Pair("Has two black cats", "Has three black cats"),
    Pair("Weighs 70 kg", "Weighs 70 lb"),
    Pair("Owes $70", "Owes €70"),
    Pair("Is 1.5 m tall", "Is 15 m tall"),
    Pair("It was -5 degrees", "It was 5 degrees"),
    Pair("Meets Anna on Monday", "Meets Anna on Tuesday"),
    Pair("Lived in Oslo", "Lives in Oslo"),
    Pair("Used to live in Oslo", "Lives in Oslo"),
    Pair("Likes tea", "Hates tea"),
    Pair("Likes tea", "Likes tea but not coffee"),
    Pair("Knows C", "Knows C++"),
    Pair("Likes green tea very much", "Avoids green tea very much"),
    Pair("Anna likes tea", "Zoe likes tea"),
    Pair("Flies to Rome on May 3", "Flies to Rome on May 4"),
    Pair("Ist gegen Nüsse allergisch", "Ist nicht gegen Nüsse allergisch"),
    Pair("Aime le thé", "N'aime pas le thé"),
    Pair("Come carne", "No come carne"),
    Pair("Mangia carne", "Non mangia carne"),
    Pair("Eet vlees", "Eet geen vlees"),
    Pair("Ест мясо", "Не ест мясо"),
    Pair("Je mięso", "Nie je mięso"),
    Pair("喜欢喝茶", "不喜欢喝茶"),
    Pair("ナッツにアレルギーがある", "ナッツにアレルギーがない"),
    Pair("고기를 먹는다", "고기를 안 먹는다"),
    Pair("ฉันกินเนื้อ", "ฉันไม่กินเนื้อ"),
)
