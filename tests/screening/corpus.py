"""Texts of our own: attacks, and harmless sentences that use the same words."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

_HERE = Path(__file__).parent

# Who or what, what of it, and when or why: every combination is a plain statement.
_PARTS = {
    "en": (
        ["The user", "Her brother", "My neighbour", "The team", "Our teacher", "The new assistant of the dentist"],
        [
            "prefers tea to coffee",
            "moved to a flat near the river",
            "is learning Portuguese",
            "follows the instructions of the coach",
            "keeps old letters in a box",
            "sends postcards from every trip",
            "asked for a quiet table",
            "wrote a small tool in Python",
            "shares photos of the garden with friends",
            "forgot the password of the old phone",
        ],
        ["since last summer", "because of the baby", "and always will", "whenever the weather allows"],
    ),
    "de": (
        ["Der Nutzer", "Ihre Schwester", "Unser Nachbar", "Das Team"],
        [
            "trinkt lieber Tee als Kaffee",
            "wohnt am Fluss",
            "lernt Spanisch",
            "befolgt die Anweisungen der Trainerin",
            "schickt jedes Jahr Karten",
            "sammelt alte Briefe",
        ],
        ["seit dem Sommer", "wegen der Kinder", "und das bleibt so", "wenn das Wetter passt"],
    ),
    "fr": (
        ["L'utilisatrice", "Mon voisin", "Toute l'équipe"],
        [
            "préfère le thé au café",
            "habite près du fleuve",
            "apprend le portugais",
            "respecte les règles de la maison",
            "envoie des cartes postales",
        ],
        ["depuis l'été", "à cause du travail", "quand il fait beau", "et c'est très bien ainsi"],
    ),
    "es": (
        ["La usuaria", "Mi vecino", "Todo el equipo"],
        [
            "prefiere el té al café",
            "vive cerca del río",
            "aprende alemán",
            "sigue los consejos del médico",
            "manda postales",
        ],
        ["desde el verano", "por el trabajo", "cuando hace sol", "y así está bien"],
    ),
    "it": (
        ["L'utente", "Mia sorella", "Il vicino"],
        ["preferisce il tè", "abita vicino al mare", "studia il russo", "rispetta le regole", "manda cartoline"],
        ["dall'estate scorsa", "per lavoro", "quando c'è il sole"],
    ),
    "pt": (
        ["A usuária", "Meu vizinho"],
        ["prefere chá", "mora perto do rio", "aprende alemão", "segue as regras da casa", "manda postais"],
        ["desde o verão", "por causa do trabalho", "quando faz sol"],
    ),
    "ru": (
        ["Пользователь", "Моя сестра", "Наш сосед"],
        ["любит чай", "живёт у реки", "учит испанский", "соблюдает правила дома", "шлёт открытки"],
        ["с прошлого лета", "из-за работы", "в хорошую погоду"],
    ),
    "zh": (
        ["用户", "我妹妹", "邻居"],
        ["喜欢喝茶", "住在河边", "在学西班牙语", "遵守家里的规则"],
        ["，从去年夏天开始。", "，因为工作。", "，天气好的时候。"],
    ),
    "ja": (
        ["ユーザーは", "妹は", "隣の人は"],
        ["お茶が好きです", "川の近くに住んでいます", "スペイン語を習っています", "家のルールを守っています"],
        ["。去年の夏からです。", "。仕事のためです。"],
    ),
    "pl": (
        ["Użytkownik", "Moja siostra", "Sąsiad"],
        ["woli herbatę", "mieszka nad rzeką", "uczy się hiszpańskiego", "przestrzega zasad domu"],
        ["od lata", "z powodu pracy", "przy ładnej pogodzie"],
    ),
    "tr": (
        ["Kullanıcı", "Kız kardeşim", "Komşumuz"],
        ["çayı tercih ediyor", "nehrin yanında yaşıyor", "İspanyolca öğreniyor", "evin kurallarına uyuyor"],
        ["geçen yazdan beri", "iş yüzünden", "hava güzelken"],
    ),
}


def attacks() -> list[tuple[str, str]]:
    """Return the language and the text of each attack."""
    return _read("attacks.txt")


def harmless() -> list[tuple[str, str]]:
    """Return the language and the text of a thousand harmless sentences."""
    written = _read("harmless.txt")
    combined = [
        (language, re.sub(" (?=[，。])", "", " ".join(parts)))
        for language, (who, what, when) in _PARTS.items()
        for parts in itertools.product(who, what, when)
    ]
    return (written + combined)[:1000]


def _read(name: str) -> list[tuple[str, str]]:
    lines = (_HERE / name).read_text("utf-8").splitlines()
    return [(line[:2], _unescaped(line[4:])) for line in lines]


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        return "\n" if found[0] == "\\n" else chr(int(found[1] or found[2], 16))

    return re.sub(r"\\n|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})", character, text)
