"""Results on toy benchmarks without a judge, for report tests."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evaluation_factories import ScriptedJudge, toy_case, toy_pairs

from judge_r1.benchmarks.base import LoadedBenchmark, both_orders
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.items import Item
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span, Trajectory, Turn
from judge_r1.core.verdicts import Evidence, Judgment, PairwiseVerdict, Verdict
from judge_r1.episode.reward import with_reward
from judge_r1.evaluation.report.page import report_page
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.summary import summarize
from judge_r1.evaluation.votes import StoredVote
from judge_r1.files.pair_set import PairSet

NO_TEXT = Trajectory.without_ids("answer")


def toy_suite(cases: int = 3) -> LoadedBenchmark:
    return pair_benchmark(PairSet({(case := toy_case(n)).case_id: case for n in range(cases)}, toy_pairs(cases)))


def pair_results(row: str, suite: LoadedBenchmark, answer: Callable[[ReasoningPair], Trajectory]) -> PanelResults:
    """One vote on each labelled pair."""
    votes = {}
    for item, request in zip(suite.items, suite.requests(), strict=True):
        trajectory = answer(suite.labels[item.item_id])
        stored = StoredVote(
            row=row, item_id=item.item_id, order=(0, 1), sample=0, member=0, verdict=request.read(trajectory),
            trajectory=trajectory,
        )  # fmt: skip
        votes[item.item_id] = [stored]
    return PanelResults.of(row, suite, votes)


def toy_results() -> list[PanelResults]:
    suite = toy_suite(3)
    return [pair_results(n, suite, ScriptedJudge(n, skill).one) for n, skill in (("base", 2), ("tuned", 8))]


def item_results(
    row: str, suite: LoadedBenchmark, verdict_of: Callable[[Item, tuple[int, ...]], Verdict]
) -> PanelResults:
    """Votes on a benchmark without principles, by a judge that writes no text."""
    votes = {
        item.item_id: [
            StoredVote(row=row, item_id=item.item_id, order=order, sample=0, member=0, verdict=verdict_of(item, order),
                  trajectory=NO_TEXT)
            for order in suite.presentation_orders(item)
        ]
        for item in suite.items
    }  # fmt: skip
    return PanelResults.of(row, suite, votes)


def plain_suite(texts: Sequence[tuple[str, str]]) -> LoadedBenchmark:
    items = [
        Item(item_id=f"item-{n}", cluster_id=f"item-{n}", group=("code", "math")[n % 2],
             instruction=f"Which is better? ({n})", candidates=pair, gold="AB"[n % 2])
        for n, pair in enumerate(texts)
    ]  # fmt: skip
    return LoadedBenchmark(items, presentation_orders=both_orders)


def first_shown(item: Item, order: tuple[int, ...]) -> Verdict:
    return PairwiseVerdict(winner="A")


def gold_verdict(item: Item, order: tuple[int, ...]) -> Verdict:
    return PairwiseVerdict(winner="AB"[order.index("AB".index(item.gold))])


def summary_of(results: Sequence[PanelResults]) -> dict[str, Any]:
    names = [found.panel for found in results]
    differences, settings = list(zip(names[1:], names, strict=False)), {n: {"t": 0} for n in names}
    panels = {found.panel: found.items for found in results}
    name = "lrbench" if results[0].benchmark.labels else "toybench"
    return {"benchmark": name, **summarize(panels, differences, {"all": 3.0}, settings)}


def write(path: Path, results: Sequence[PanelResults], **more: Any) -> str:
    page = "".join(report_page(path.parent, summary_of(results), more.pop("metrics", {}), results, **more))
    path.write_text(page, encoding="utf-8")
    return page


def many_results(cases: int, pairs: int, rows: int, words: int = 400) -> list[PanelResults]:
    """`cases` × `pairs` × `rows` episodes with two searches each, over cases of `words` random words, which compress no
    better than real text."""
    generator = random.Random(0)
    lexicon = ["".join(generator.choices("abcdefghijklmnoprstuvw", k=generator.randint(2, 10))) for _ in range(4_000)]

    def text(count: int) -> str:
        return " ".join(generator.choices(lexicon, k=count)).capitalize() + "."

    case_of, labelled = {}, []
    for _ in range(cases):
        context = " ".join(text(20) for _ in range(words // 20))
        steps = [text(15) for _ in range(8)]
        case = Case.of(domain=generator.choice(("legal", "medical", "academic")), context=context, decision=text(12),
                       reference="\n".join(steps), source="toy", license="CC0-1.0")  # fmt: skip
        case_of[case.case_id] = case
        for variant in range(pairs):
            wrong = text(15)
            flawed = "\n".join([*steps[:variant], wrong, *steps[variant + 1 :]])
            start = flawed.index(wrong)
            flaw = Flaw(principle=1 + variant % 6, operator="toy", span=Span(start=start, end=start + len(wrong)),
                        context_spans=(Span(start=0, end=40),))  # fmt: skip
            origin = Origin(teacher="toy", seed=0, flaws=(flaw,))
            labelled.append(ReasoningPair.of(case, flawed, variant=variant + 1, origin=origin, seed=0))
    suite = pair_benchmark(PairSet(case_of, labelled))

    def answer(pair: ReasoningPair) -> Trajectory:
        context, turns = case_of[pair.case_id].context, []
        for _ in range(2):
            at = generator.randrange(len(context) - 300)
            shown = tuple(
                Evidence(
                    case_id=pair.case_id, start=s, end=s + 250, text=context[s : s + 250], score=generator.random()
                )
                for s in (at, max(0, at - 250))
            )
            turns.append(Turn(text=f"<think>{text(40)}</think><search>{text(5)}</search>", query="q", passages=shown))
        turns.append(Turn(text=f"<think>{text(40)}</think><answer>{text(30)}</answer>"))
        right = generator.random() < 0.7
        judgment = Judgment(comparison=pair.gold.comparison if right else "A<B" if pair.preferred == "A" else "A>B",
                            violated_principles=(generator.randint(1, 6),))  # fmt: skip
        ids = tuple(range(400))
        return with_reward(
            Trajectory(prompt_ids=ids, token_ids=ids, loss_mask=(1,) * 400, logprobs=(-0.5,) * 400, turns=tuple(turns),
                       judgment=judgment, ended="answer"),
            pair,
        )  # fmt: skip

    return [pair_results(f"judge {n}", suite, answer) for n in range(rows)]


def open_page(browser: Any, path: Path, width: int = 1280, height: int = 860, **options: Any) -> tuple[Any, list[str]]:
    """Opens the page with its items; returns it with its script and content policy errors."""
    page = browser.new_page(viewport={"width": width, "height": height}, **options)
    page.set_default_timeout(20_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(path.as_uri())
    page.locator("#browser").wait_for()
    return page, errors
