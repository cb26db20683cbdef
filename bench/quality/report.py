"""The results as a Markdown page."""

from __future__ import annotations

from typing import Any

from bench.quality.context import BUDGETS
from bench.quality.evidence import DEPTHS
from bench.quality.search import BEST
from bench.quality.work import KINDS
from bench.support.environment import describe
from bench.support.markdown import table

Results = dict[str, Any]
Sets = dict[str, Any]

TITLES = {
    "all": "All conversations",
    "reported": "Conversations 6 to 10, users 5 to 8",
    "tuning": "Conversations 1 to 5, users 1 to 4",
    **KINDS,
}
"""What groups of questions are called."""

WHAT_IS_ASKED = """
Each question is asked in a new, empty thread: memory.get_context(query => the question, query_embedding => its vector,
max_tokens => the budget), with the default policy except that nothing expires, because the conversations are years
old. Requests that say little are asked in the thread that they go on with. A context holds a question's evidence when
the text of every turn that the answer needs, or of the passage of a long reply, stands in its parts.
""".strip()

HOW_TO_READ_CONTEXTS = """
get_context: the messages were imported and embedded, and nothing else has run.

Last messages: the newest messages of all threads, until the next one does not fit. Vector top-k: the messages nearest
to the question by the cosine of the embeddings, without those that do not fit any more. Both with the date and the
speaker before each message and a fence around all, as recalled messages have them.
""".strip()

HOW_TO_READ_SEARCH = """
Recall@k is the share of a question's evidence among the first k results, averaged over the questions. A turn that is
evidence counts as found when the message that holds it is. One search covers all messages of one conversation. The
last column is how many points the default finds more than this method at 10, with the 95 % interval of a paired
bootstrap over the questions: an interval that contains 0 is no difference.
""".strip()

ABOUT_LANGUAGES = """
The same conversations, with the same questions, written in each language (bench/quality/languages.py), and mixed: each
turn in one of the six, asked about in its own. The differences are points to the same questions in English, with the
95 % interval of a paired bootstrap. The embedding model reads English only.
""".strip()

ABOUT_SETS = """
LoCoMo: each turn is a message, of 23 words on average. Mixed lengths: the same conversations as people have them with
an assistant (bench/quality/mixed_lengths.py): messages of two turns, about 50 words, and replies of about 577 words
made of turns that answer nothing; 23 % of the evidence is inside of a reply. all-MiniLM-L6-v2 reads the first 256
tokens of a text, so vector search knows only the beginning of a long reply. Languages: conversations of our own, the
same in English, German, Spanish, Portuguese, French, Chinese and all mixed. Work: eight people who work with an
assistant over months (bench/quality/work.py), each request resting on what was agreed earlier; written by somebody who
did not know how search ranks.
""".strip()


def markdown(results: Results) -> str:
    """The results as a Markdown page."""
    embedding, sets = results["embedding"], results["sets"]
    parts = [
        "# Quality of contexts and of search",
        f"{describe(results)}; embeddings by {embedding['model']}, {embedding['dimensions']} dimensions, exact. Tokens "
        f"by {results['token_counter']}. {results['conversations']} conversations of LoCoMo with the questions that "
        "have evidence, adversarial ones left out unless they are named. Conversations 1 to 5 are the ones to tune on; "
        "what counts are conversations 6 to 10; of the work set users 1 to 4 and 5 to 8.",
        "## The context",
        WHAT_IS_ASKED,
        *_by_group(sets, held_table),
        HOW_TO_READ_CONTEXTS,
        "## Search",
        f"memory.search(sources => '{{message}}', top_k => {results['top_k']}).",
        *_by_group(sets, recall_table),
        HOW_TO_READ_SEARCH,
        *_language_sections(sets),
        "## The sets",
        ABOUT_SETS,
        table(
            ["Set", "Messages", "Tokens of a whole conversation"],
            [[name, f"{each['messages']:,}", f"{each['tokens_per_conversation']:,}"] for name, each in sets.items()],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def overview(results: Results) -> str:
    """The main tables of what was measured."""
    sets = results["sets"]
    return "\n\n".join([*_by_group(sets, held_table), *_by_group(sets, recall_table), *_language_sections(sets)])


def _by_group(sets: Sets, made: Any) -> list[str]:
    """A table for each group of questions of which anything was measured."""
    tables = {title: made(sets, group) for group, title in TITLES.items()}
    return [part for title, each in tables.items() if each for part in (f"### {title}", each)]


def held_table(sets: Sets, group: str) -> str:
    """The share of questions whose whole evidence is held; empty if nothing was measured."""
    rows = []
    for name, each in sets.items():
        for way, groups in each.get("context", {}).items():
            if group in groups:
                figures = [groups[group][str(budget)] for budget in BUDGETS]
                held = [_percent(one["whole"]) for one in figures]
                rows.append([f"{name}: {way}", str(figures[0]["questions"]), *held])
    heads = [f"{budget:,} tokens" for budget in BUDGETS]
    return table(["Whole evidence held, %", "Questions", *heads], rows) if rows else ""


def recall_table(sets: Sets, group: str) -> str:
    """Recall at each depth; empty if nothing was measured."""
    rows = []
    for name, each in sets.items():
        for method, figures in each["methods"].items():
            if group in figures["groups"]:
                found = figures["groups"][group]
                recall = [_percent(found["recall"][str(depth)]) for depth in DEPTHS]
                gain = _interval((figures["gain_of_best_at_10"] or {}).get(group))
                rows.append([f"{name}: {method}", str(found["questions"]), *recall, gain])
    heads = [*(f"@{depth}" for depth in DEPTHS), f"{BEST} finds more, points"]
    return table(["Recall, %", "Questions", *heads], rows) if rows else ""


def _language_sections(sets: Sets) -> list[str]:
    """Recall in each language beside English, where the set of languages was measured."""
    return [
        part
        for each in sets.values()
        if each.get("languages")
        for part in (
            "### By language",
            ABOUT_LANGUAGES,
            _language_table(each["languages"], each.get("held_by_language", {})),
        )
    ]


def _language_table(methods: dict[str, Any], held: dict[str, float]) -> str:
    """Recall of each method by language with the difference to English, and what contexts hold."""
    rows = []
    for method, languages in methods.items():
        for language, figures in languages.items():
            recall = [_percent(each) for each in figures["recall"].values()]
            differences = [_interval(each) for each in figures["difference"].values()]
            of_contexts = _percent(held[language]) if method == BEST and held else ""
            rows.append([f"{method}: {language}", str(figures["questions"]), *recall, *differences, of_contexts])
    depths = next(iter(next(iter(methods.values())).values()))["recall"]
    heads = [*(f"@{depth}" for depth in depths), *(f"To English @{depth}" for depth in depths)]
    return table(["Recall, %", "Questions", *heads, "Held in 2,000 tokens, %"], rows)


def _percent(share: float) -> str:
    return f"{share * 100:.1f}"


def _interval(difference: dict[str, float] | None) -> str:
    if difference is None:
        return ""
    mean, low, high = (difference[key] * 100 for key in ("mean", "low", "high"))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"
