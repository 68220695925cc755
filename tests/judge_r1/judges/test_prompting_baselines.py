"""The prompting baselines: chain of thought, few-shot, self-consistency, retrieve-once and an agent like Search-R1."""

import json
from pathlib import Path
from typing import Any

import pytest
from factories import ANY_EVENT, make_case, make_pair
from fake_judge_endpoint import JudgeServer, chat_completion
from split_factories import folder, mini_folder

from judge_r1.api import load_judge
from judge_r1.benchmarks.base import BENCHMARKS, LoadedBenchmark
from judge_r1.cli.eval import eval_
from judge_r1.cli.replay import replay
from judge_r1.core.case_store import CaseStore
from judge_r1.core.errors import JudgeError
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.parsing import parse_strict
from judge_r1.episode.prompts import pairwise_prompt, table11_answer
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.votes import stored_votes
from judge_r1.files.pair_set import load_pairs
from judge_r1.judges.base import BadJudge, JudgeBuild, run_all
from judge_r1.judges.direct import RewritingJudge, retrieve_once
from judge_r1.judges.few_shot import FewShotExamples
from judge_r1.judges.panel import make_judge, make_panel, served_judge
from judge_r1.judges.search_r1 import GlobalSearcher
from judge_r1.judges.table3 import baseline_specs, with_table11

RECIPE = "episode: {retriever: bm25, budget: {passage_words: 12}}\n"
CONFIG = EpisodeConfig.model_validate({"retriever": "bm25", "budget": {"passage_words": 4, "top_k": 2}})
ANSWER = '{"comparison": "A>B", "violated_principles": [2], "explanation": "B invents a sum."}'


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("baselines")
    mini_folder(home / "test", 5, variants=1, seed=1)
    mini_folder(home / "train", 12, variants=1, seed=2)
    (home / "recipe.yaml").write_text(RECIPE)
    return home


def load(path: Path) -> LoadedBenchmark:
    return BENCHMARKS.get("lrbench").load(path, None)


def answering(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """An agent searches once for a word of every case; all others answer at once."""
    if "stop" not in body:
        return chat_completion(f"A is right.\n{ANSWER}")
    if len(body["messages"]) == 2:
        return chat_completion("<think>who?</think><search>ana owed</search>")
    return chat_completion(f"<answer>{ANSWER}")


def test_one_command_runs_every_baseline(home: Path, tmp_path: Path) -> None:
    with JudgeServer(answering) as server:
        eval_(
            path=home / "test", out=tmp_path / "eval", baselines=f"{server.url}#toy", examples=home / "train",
            judge=["longer"], recipe=home / "recipe.yaml", limit=4,
        )  # fmt: skip
        assert len(server.bodies) == 4 * (1 + 1 + 1 + 5 + 1 + 2)
        prompts = [body["messages"] for body in server.bodies]
        temperatures = {body["temperature"] for body in server.bodies}
    assert temperatures == {0, 0.7}
    assert all('"comparison"' in system["content"] for system, *_ in prompts)
    assert all('"violated_principles"' in system["content"] for system, *_ in prompts)
    assert all('"explanation"' in system["content"] for system, *_ in prompts)

    summary = json.loads((tmp_path / "eval" / "summary.json").read_text())
    rows = {row["name"]: row for row in summary["rows"]}
    names = ["direct", "chain-of-thought", "few-shot", "self-consistency", "retrieve-once", "search-r1 global index"]
    assert list(rows) == [*names, "longer", "evidence"]
    assert all(rows[name]["valid_rate"] == 1 for name in names)
    assert {(one["a"], one["b"]) for one in summary["differences"]} == {(name, "direct") for name in [*rows][1:-1]}
    assert rows["few-shot"]["settings"]["shots"] == 3
    assert rows["retrieve-once"]["settings"]["retrieve"] == 9
    assert rows["search-r1 global index"]["settings"]["index"] == "global"
    assert rows["self-consistency"]["settings"]["samples"] == 5
    assert rows["self-consistency"]["settings"]["members"][0]["temperature"] == 0.7

    shown = [
        (stored.item_id, passage.case_id)
        for stored in stored_votes(tmp_path / "eval", "search-r1 global index")
        for turn in stored.trajectory.turns
        for passage in turn.passages
    ]
    own = {pair.pair_id: pair.case_id for pair in load_pairs(home / "test").pairs}
    assert {case_id for _, case_id in shown} <= set(own.values())
    assert any(own[item_id] != case_id for item_id, case_id in shown)

    replay(tmp_path / "eval", path=home / "test", out=tmp_path / "again")
    replayed = json.loads((tmp_path / "again" / "summary.json").read_text())
    assert replayed | {"digest": summary["digest"]} == summary


def test_chain_of_thought_asks_for_reasons_and_reads_the_json_at_the_end(home: Path) -> None:
    benchmark = load(home / "test")
    with JudgeServer(answering) as server:
        spec = f"direct:prompt=chain-of-thought@{server.url}#toy"
        [judge] = make_panel(spec, JudgeBuild("", texts=benchmark.texts)).members
        [output] = run_all(judge, benchmark.requests()[:1])
        system = server.bodies[0]["messages"][0]["content"]
    assert "First reason step by step" in system
    assert judge.settings["parser"] == "tolerant"
    assert output.trajectory.judgment == Judgment.pairwise("A>B", (2,), "B invents a sum.")


def test_the_answer_of_an_example_is_the_gold(home: Path) -> None:
    for pair in load_pairs(home / "train").pairs:
        for placed in (pair.placed("A"), pair.placed("B")):
            found = parse_strict(table11_answer(placed.gold))
            assert isinstance(found, Judgment)
            assert (found.comparison, found.violated_principles) == (placed.gold.comparison, placed.violated)
            assert found.explanation is not None
            assert found.explanation.startswith("B breaks" if placed.preferred == "A" else "A breaks")


def test_a_prompt_shows_its_examples_first_and_without_their_cases(home: Path) -> None:
    benchmark, train = load(home / "test"), load_pairs(home / "train")
    examples = FewShotExamples(home / "train", 4, benchmark.texts, 0)
    request = benchmark.requests()[0]
    task = examples.rewrite(request.task)  # type: ignore[arg-type]
    prompt = pairwise_prompt(task, context="full", searches=0, style="direct")
    user = prompt.chat()[1]["content"]
    assert [pair.preferred for _, pair in task.examples] == ["A", "B", "A", "B"]
    assert len({pair.case_id for _, pair in task.examples}) == 4
    assert len({number for _, pair in task.examples for number in pair.violated}) >= 4
    places = []
    for decision, pair in task.examples:
        places += [user.index(pair.reasoning_a), user.index(table11_answer(pair.gold))]
        assert decision == train.case_of(pair).decision
        assert train.case_of(pair).context not in user
    assert [*places, user.index(task.context)] == sorted([*places, user.index(task.context)])
    assert all(prompt.messages[1].marked.count(pair.reasoning_a) == 0 for _, pair in task.examples)
    assert examples.rewrite(task) == FewShotExamples(home / "train", 4, benchmark.texts, 0).rewrite(task)
    assert examples.rewrite(task) != FewShotExamples(home / "train", 4, benchmark.texts, 7).rewrite(task)


def test_examples_are_never_of_a_case_under_test(tmp_path: Path) -> None:
    """The training folder also holds the tested case, and another case with the tested context."""
    tested = make_case()
    same_context = make_case(reference="2. ben left rome, so this counts.")
    others = [make_case(f"iris paid {n}. mona left oslo.") for n in range(3)]
    cases = [tested, same_context, *others]
    folder(tmp_path / "test", [tested], [make_pair(tested)])
    folder(tmp_path / "train", cases, [make_pair(case, f"{case.reference} no.") for case in cases])
    texts = load(tmp_path / "test").texts
    task = load(tmp_path / "test").requests()[0].task
    shown = FewShotExamples(tmp_path / "train", 3, texts, 0).rewrite(task).examples  # type: ignore[arg-type]
    assert {pair.case_id for _, pair in shown} == {case.case_id for case in others}
    with pytest.raises(BadJudge, match=r"has 3 cases beside those under test, but shots=4 needs"):
        FewShotExamples(tmp_path / "train", 4, texts, 0)
    with pytest.raises(BadJudge, match="is the folder under test"):
        FewShotExamples(tmp_path / "train" / ".." / "test", 1, texts, 0)
    # a judge without a folder under test, such as a served one, still leaves out the case that it is asked about
    served = FewShotExamples(tmp_path / "train", 3, {}, 0).rewrite(task).examples  # type: ignore[arg-type]
    assert not {pair.case_id for _, pair in served} & {tested.case_id, same_context.case_id}


def test_examples_are_of_the_domain_if_there_are_enough(tmp_path: Path) -> None:
    legal = [make_case(f"iris paid {n}.") for n in range(2)]
    medical = [make_case(f"iris paid {n}.", domain="medical") for n in range(9, 12)]
    cases = [*legal, *medical]
    folder(tmp_path, cases, [make_pair(case, "1. no.") for case in cases])
    examples = FewShotExamples(tmp_path, 3, {}, 0)
    for domain, expected in (("medical", {"medical"}), ("legal", {"legal", "medical"})):
        task = load(tmp_path).requests()[0].task.__class__(domain, "grant", "a", "b")
        assert {pair.domain for _, pair in examples.rewrite(task).examples} <= expected  # type: ignore[union-attr]


def test_retrieve_once_replaces_the_case_by_its_passages(home: Path) -> None:
    benchmark = load(home / "test")
    rewrite = retrieve_once(CaseSearcher(benchmark.texts, CONFIG), 2)
    for request in benchmark.requests(orders=2):
        task = rewrite(request.task)  # type: ignore[arg-type]
        assert len(task.passages) == 2
        assert [p.start for p in task.passages] == sorted(p.start for p in task.passages)
        text = benchmark.texts[request.case_id or ""]
        assert all((p.case_id, p.text) == (request.case_id, text[p.start : p.end]) for p in task.passages)
        user = pairwise_prompt(task, context="full", searches=0, style="direct").chat()[1]["content"]
        assert text not in user
        assert all(passage.text in user for passage in task.passages)
        assert "Passages of the case file" in user
        swapped = rewrite(task.__class__(task.domain, task.decision, task.reasoning_b, task.reasoning_a, task.case_id))
        assert swapped.passages == task.passages


def test_the_passages_of_retrieve_once_are_its_evidence(home: Path) -> None:
    with JudgeServer(answering) as server:
        found = load_judge(f"direct:retrieve=1@{server.url}#toy", recipe=home / "recipe.yaml")(
            context="Ana owed 30 crowns to the bank in Oslo since May. The sea is blue and calm today, they all say.",
            reasoning_a="1. Ana owed 30.", reasoning_b="1. Ana owed 40.",
        )  # fmt: skip
    assert len(found.evidence) == 1
    assert "Ana owed 30" in found.evidence[0].text


def test_the_global_index_returns_passages_of_other_cases_under_their_own_ids(home: Path) -> None:
    benchmark = load(home / "test")
    alone, together = CaseSearcher(benchmark.texts, CONFIG), GlobalSearcher(benchmark.texts, CONFIG)
    case_ids = sorted(benchmark.texts)
    for other in case_ids[1:]:
        query = benchmark.texts[other].split(".")[0]
        assert {passage.case_id for passage in alone.of_case(case_ids[0])(f"{query} {ANY_EVENT}")} == {case_ids[0]}
        found = together.of_case(case_ids[0])(query)
        assert other in {passage.case_id for passage in found}
        assert all(benchmark.texts[p.case_id][p.start : p.end] == p.text for p in found)


def test_the_global_index_works_with_vectors(home: Path) -> None:
    from hash_embedder import HashEmbedder

    from judge_r1.judges.search_r1 import Corpus

    texts = load(home / "test").texts
    corpus = Corpus(texts, HashEmbedder(256), 4)
    index = corpus.index(sorted(texts))
    for case_id, passages in corpus.passages.items():
        for passage in passages:
            [[found]] = index.search([passage.text], 1)
            assert found.text == passage.text
            assert texts[found.case_id][found.start : found.end] == found.text
            assert found.case_id == case_id or passage.text in texts[found.case_id]


def test_the_global_index_is_for_evaluations_only() -> None:
    for make in (served_judge, make_panel):
        with pytest.raises(BadJudge, match="searches all cases of a data folder at once"):
            make("search-r1@http://127.0.0.1:9/v1#toy", JudgeBuild("", texts=CaseStore()))  # type: ignore[operator]
    with pytest.raises(BadJudge, match="searches all cases of a data folder at once"):
        load_judge("search-r1@http://127.0.0.1:9/v1#toy")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("direct:shots=2@MODEL", "direct:shots=2 has no examples: add examples=FOLDER"),
        ("direct:examples=TRAIN,shots=none@MODEL", "shots must be a whole number from 1 on"),
        ("direct:examples=TRAIN,prompt=chain-of-thought@MODEL", "works with prompt=direct alone"),
        ("direct:examples=TRAIN,shots=999@MODEL", r"has 12 cases beside those under test, but shots=999"),
        ("direct:examples=TEST@MODEL", "is the folder under test: give a folder of training pairs"),
        ("direct:examples=nowhere@MODEL", "nowhere does not exist: give a folder"),
        ("direct:retrieve=0@MODEL", "retrieve must be a whole number from 1 on"),
        ("search-r1:search=false@MODEL", "search-r1 searches: search is true"),
        ("search-r1:budget.max_searches=0@MODEL", "budget.max_searches is at least 1"),
        ("panel:samples=2,temperature=hot(direct@MODEL)", "temperature: Input should be a valid number.*'hot'"),
    ],
)
def test_a_bad_option_is_one_sentence(spec: str, says: str, home: Path) -> None:
    spec = spec.replace("TRAIN", str(home / "train")).replace("TEST", str(home / "test"))
    with pytest.raises(JudgeError, match=says):
        make_panel(spec.replace("MODEL", "http://127.0.0.1:9/v1#toy"), JudgeBuild("", texts=load(home / "test").texts))


def test_retrieve_once_needs_a_case() -> None:
    [judge] = make_panel("direct:retrieve=1@http://127.0.0.1:9/v1#toy", JudgeBuild("")).members
    item = load_items_without_case()
    with pytest.raises(BadJudge, match="but these items have none"):
        judge.check(item.requests())


def load_items_without_case() -> LoadedBenchmark:
    from judge_r1.core.items import Item

    return LoadedBenchmark([Item(item_id="1", cluster_id="1", instruction="?", candidates=("a", "b"), gold="A")])


def test_the_command_checks_its_inputs_before_the_first_row(home: Path, tmp_path: Path) -> None:
    benchmark, build = load(home / "test"), JudgeBuild("", texts=load(home / "test").texts)
    with pytest.raises(BadJudge, match="--baselines includes few-shot: give --examples"):
        baseline_specs("m", None, benchmark.items, build)
    with pytest.raises(BadJudge, match="is the folder under test"):
        baseline_specs("m", home / "test", benchmark.items, build)
    with pytest.raises(BadJudge, match="rename the folder without"):
        baseline_specs("m", Path("a,b"), benchmark.items, build)
    with pytest.raises(BadJudge, match="needs a case for each item, but item 1 has none"):
        baseline_specs("m", home / "train", load_items_without_case().items, build)
    with pytest.raises(JudgeError, match="--examples is for --baselines"):
        eval_(path=home / "test", out=tmp_path, judge=["longer"], examples=home / "train")


def test_table_11_rows_follow_their_agentic_judges() -> None:
    options = "search=false,prompt=table6,context=none,prompt_tokens=30000,timeout=600"
    given = ["SFT 21K=agentic:search=false@runs/sft/model", "longer", f"agentic:{options}@https://host/v1#model"]
    assert with_table11(given) == [
        "SFT 21K=agentic:search=false@runs/sft/model",
        "SFT 21K Table 11=direct:context=full@runs/sft/model",
        "longer",
        f"agentic:{options}@https://host/v1#model",
        "direct:context=full,prompt_tokens=30000,timeout=600@https://host/v1#model",
    ]
    with pytest.raises(BadJudge, match="none is given"):
        with_table11(["longer"])


def test_a_row_of_the_paper_is_evaluated_with_both_prompts(home: Path, tmp_path: Path) -> None:
    with JudgeServer(lambda path, body: chat_completion(ANSWER)) as server:
        spec = f"SFT=agentic:search=false,prompt=table6@{server.url}#model"
        eval_(path=home / "test", out=tmp_path / "out", judge=[spec], table11=True, limit=2)
    rows = json.loads((tmp_path / "out" / "summary.json").read_text())["rows"]
    assert [row["name"] for row in rows] == ["SFT", "SFT Table 11", "longer"]
    assert [row["settings"]["prompt"] for row in rows[:2]] == ["table6", "direct"]


def test_a_task_is_rewritten_once_for_the_check_and_the_run(home: Path) -> None:
    """Requests of a benchmark are made whenever they are read: the check and the run get equal ones, not the same."""
    benchmark, rewritten = load(home / "test"), list[str]()

    def rewrite(task: PairwiseTask) -> PairwiseTask:
        rewritten.append(task.reasoning_a)
        return task

    requests = benchmark.requests(orders=2)
    run_all(RewritingJudge(make_judge("always-a", JudgeBuild("")), rewrite, {}), requests)
    assert len(rewritten) == len(requests)
