"""MT-Bench's human judgments (Zheng et al., 2023): people's votes on pairs of conversations with six models.

UNVERIFIED: the files are not at hand here; the fields are those of the data set's card: `question_id`, `model_a`,
`model_b`, `winner` (model_a, model_b or tie), `judge`, `conversation_a` and `_b` (lists of {role, content}) and `turn`.
The split `human` is read; `gpt4_pair` holds votes of GPT-4. Several people vote on the same pair, so an item is a pair
(question, two models, turn) and its gold the choice with the most votes, a tie where none has. A pair judged at turn 2
shows both turns. Both orders are played, and the majority of the two games counts.

Beside accuracy stands the agreement with single votes, as the paper counts it: `agree S1` over all votes, `agree S2`
over those that are no tie, on pairs where the judge gives no tie either.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, both_orders
from judge_r1.benchmarks.pairwise import group_of, non_ties, select_subset, unique_items
from judge_r1.core.items import Item, ItemResult
from judge_r1.core.records import PairwiseVerdict
from judge_r1.core.tabular import HUB, Row, rows

VOTES = {"model_a": "A", "model_b": "B", "tie": "tie", "tie (inconsistent)": "tie"}
TURNED = {"A": "B", "B": "A", "tie": "tie"}
ROLES = ("user", "assistant")


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is turn-1 or turn-2."""
    items: dict[str, tuple[str, str, tuple[str, str]]] = {}
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows(path, ("human",)):
        turn = row.one_of("turn", {"1": "1", "2": "2"})
        first, second = sorted((row.name("model_a"), row.name("model_b")))
        turned = row.name("model_a") != first
        asked, one = _conversation(row, "conversation_a", int(turn))
        also, other = _conversation(row, "conversation_b", int(turn))
        if asked != also:
            raise row.error("conversation_b", "answers other questions than conversation_a")
        item_id = f"{row.name('question_id')}/{first}/{second}/{turn}"
        shown = (row.name("question_id"), asked, (other, one) if turned else (one, other))
        if items.setdefault(item_id, shown) != shown:
            raise row.error("conversation_a", f"is not the one that an earlier vote on item {item_id} shows")
        vote = row.one_of("winner", VOTES)
        votes[item_id][TURNED[vote] if turned else vote] += 1
    found = [
        Item(
            item_id=item_id,
            cluster_id=question_id,
            group=f"turn-{item_id[-1]}",
            instruction=asked,
            candidates=candidates,
            gold=_most(votes[item_id]),
        )
        for item_id, (question_id, asked, candidates) in items.items()
    ]
    kept = list(select_subset(unique_items(found, path), subset, group_of))
    return LoadedBenchmark(
        kept,
        presentation_orders=both_orders,
        metrics=lambda outcomes: {**non_ties(outcomes), **agreement(outcomes, votes)},
    )


def agreement(outcomes: Sequence[ItemResult], votes: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """S1 = Σ votes for the judge's verdict / Σ votes, over all items; S2 likewise without ties of either side. An
    invalid answer agrees with nobody; None where there is no vote to count."""
    said = [(o.verdict.winner if isinstance(o.verdict, PairwiseVerdict) else "", votes[o.item_id]) for o in outcomes]
    s1 = [(cast.get(winner, 0), sum(cast.values())) for winner, cast in said]
    s2 = [(cast.get(winner, 0), cast.get("A", 0) + cast.get("B", 0)) for winner, cast in said if winner != "tie"]
    return {"agree S1": _share(s1), "agree S2": _share(s2)}


def _share(counts: Sequence[tuple[int, int]]) -> float | None:
    total = sum(of for _, of in counts)
    return sum(count for count, _ in counts) / total if total else None


def _most(votes: Counter[str]) -> str:
    first, *others = votes.most_common(2)
    return "tie" if others and others[0][1] == first[1] else first[0]


def _conversation(row: Row, column: str, turn: int) -> tuple[str, str]:
    """What the user asked up to a turn, and what was answered."""
    messages = row.value(column)
    if not isinstance(messages, list) or len(messages) < 2 * turn:
        raise row.error(column, f"must be a list of at least {2 * turn} messages")
    for message, role in zip(messages, ROLES * turn, strict=False):
        if not isinstance(message, dict) or message.get("role") != role or not isinstance(message.get("content"), str):
            raise row.error(column, "must alternate messages of the user and the assistant, each with its content")
    texts = [message["content"] for message in messages[: 2 * turn]]
    return _numbered(texts[::2], "Message"), _numbered(texts[1::2], "Answer")


def _numbered(texts: Sequence[str], what: str) -> str:
    return texts[0] if len(texts) == 1 else "\n\n".join(f"{what} {n}:\n{text}" for n, text in enumerate(texts, 1))


BENCHMARKS.register("mtbench")(
    Benchmark(
        "people's votes on answers of six models to 80 questions of two turns; both orders",
        f"the split human, as a file or a folder, or {HUB}lmsys/mt_bench_human_judgments",
        load,
        verified=False,
        subsets="turn-1, turn-2",
    )
)
