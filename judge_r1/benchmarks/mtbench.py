"""MT-Bench human judgments (Zheng et al., 2023): human votes on pairs of conversations with six models.

UNVERIFIED: the reader was not tested on the real files. The fields follow the data set card: `question_id`, `model_a`,
`model_b`, `winner` (model_a, model_b or tie), `judge`, `conversation_a` and `_b` (lists of {role, content}) and `turn`.
The split `human` is read; `gpt4_pair` holds GPT-4's votes. Several people vote on the same pair, so an item is a pair
(question, two models, turn), and its gold is the choice with the most votes, or a tie. Items of turn 2 show both turns.
Each pair is judged in both orders, and the majority of the two votes counts.

Besides accuracy, the metrics include the paper's agreement with single votes: `agree S1` over all votes, and `agree S2`
over the votes that are not ties, on pairs for which the judge does not give a tie.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import majority
from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, both_orders
from judge_r1.benchmarks.pairwise import non_ties, pair_item, select_items
from judge_r1.core.items import ItemResult
from judge_r1.core.tabular import HUB, Row, rows
from judge_r1.core.text_check import short_name
from judge_r1.core.verdicts import PairwiseVerdict

VOTES = {"model_a": "A", "model_b": "B", "tie": "tie", "tie (inconsistent)": "tie"}
SWAPPED = {"A": "B", "B": "A", "tie": "tie"}
ROLES = ("user", "assistant")


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is turn-1 or turn-2."""
    items: dict[str, tuple[str, str, tuple[str, str]]] = {}
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows(path, ("human",)):
        turn = row.one_of("turn", {"1": "1", "2": "2"})
        first, second = sorted((row.name("model_a"), row.name("model_b")))
        swapped = row.name("model_a") != first
        question, one = _conversation(row, "conversation_a", int(turn))
        other_question, other = _conversation(row, "conversation_b", int(turn))
        if question != other_question:
            raise row.error("conversation_b", "must have the same user messages as conversation_a")
        item_id = f"{row.name('question_id')}/{first}/{second}/{turn}"
        shown = (row.name("question_id"), question, (other, one) if swapped else (one, other))
        if items.setdefault(item_id, shown) != shown:
            raise row.error("conversation_a", f"differs from an earlier vote on item {short_name(item_id)}")
        vote = row.one_of("winner", VOTES)
        votes[item_id][SWAPPED[vote] if swapped else vote] += 1
    found = [
        pair_item(item_id, question, candidates, majority(votes[item_id]) or "tie", f"turn-{item_id[-1]}", question_id)
        for item_id, (question_id, question, candidates) in items.items()
    ]
    return LoadedBenchmark(
        select_items(found, path, subset),
        presentation_orders=both_orders,
        metrics=lambda results: {**non_ties(results), **agreement(results, votes)},
    )


def agreement(results: Sequence[ItemResult], votes: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """S1 = Σ votes for the judge's verdict / Σ votes, over all items. S2 is the same without ties by the judge or by
    people. An invalid answer agrees with no vote. None if there are no votes to count."""
    answers = [
        (result.verdict.winner if isinstance(result.verdict, PairwiseVerdict) else "", votes[result.item_id])
        for result in results
    ]
    s1 = [(cast.get(winner, 0), sum(cast.values())) for winner, cast in answers]
    s2 = [(cast.get(winner, 0), cast.get("A", 0) + cast.get("B", 0)) for winner, cast in answers if winner != "tie"]
    return {"agree S1": _share(s1), "agree S2": _share(s2)}


def _share(counts: Sequence[tuple[int, int]]) -> float | None:
    total = sum(of for _, of in counts)
    return sum(count for count, _ in counts) / total if total else None


def _conversation(row: Row, column: str, turn: int) -> tuple[str, str]:
    """(user messages, answers) up to a turn, each as one text."""
    messages = row.value(column)
    if not isinstance(messages, list) or len(messages) < 2 * turn:
        raise row.error(column, f"must be a list of at least {2 * turn} messages")
    for message, role in zip(messages, ROLES * turn, strict=False):
        if not isinstance(message, dict) or message.get("role") != role or not isinstance(message.get("content"), str):
            raise row.error(column, "must alternate messages of the user and the assistant, each with its content")
    texts = [message["content"] for message in messages[: 2 * turn]]
    return _numbered(texts[::2], "Message"), _numbered(texts[1::2], "Answer")


def _numbered(texts: Sequence[str], label: str) -> str:
    return texts[0] if len(texts) == 1 else "\n\n".join(f"{label} {n}:\n{text}" for n, text in enumerate(texts, 1))


BENCHMARKS.register("mtbench")(
    Benchmark(
        "human votes on answers of six models to 80 two-turn questions; both orders",
        f"the split human, as a file or a folder, or {HUB}lmsys/mt_bench_human_judgments",
        load,
        verified=False,
        subsets="turn-1, turn-2",
    )
)
