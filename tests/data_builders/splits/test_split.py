import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from process_faults import Finished, command, forked
from split_factories import copied, folder, long_case, mini_folder, pairs_of

from data_builders.prompt_lengths import LengthAudit
from data_builders.splits.index import SETS
from data_builders.splits.policy import by_share, by_sizes, training_name
from data_builders.splits.split import refuse_other_split, split, split_by_case
from judge_r1.core.errors import ExitStatus, JudgeError
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.files.pair_set import PairSet, load_pairs


def label(pair: ReasoningPair) -> str:
    return "multi" if pair.kind == "multi" else f"P{pair.violated[0]}"


def files(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*.json*") if p.name != "timing.json"}


def folder_of(at: Path, cases: list[Case]) -> Path:
    return folder(at, cases, [pair for case in cases for pair in pairs_of(case)])


def test_sizes_are_exact_nested_and_disjoint_from_a_balanced_test_set(tmp_path: Path) -> None:
    whole = load_pairs(mini_folder(tmp_path / "in", 120))
    report = split([tmp_path / "in"], tmp_path / "out", by_sizes([4, 10], 15, seed=0))
    small, large, test = (load_pairs(tmp_path / "out" / name) for name in ("train_84", "train_210", "test"))
    for part, size in ((small, 4), (large, 10)):
        counts = Counter((pair.domain, label(pair)) for pair in part.pairs)
        assert counts == {(domain, name): size for domain in ("academic", "legal", "medical") for name in SETS}
    assert {p.pair_id for p in small.pairs} < {p.pair_id for p in large.pairs}
    assert {p.pair_id for p in large.pairs} < {p.pair_id for p in whole.pairs}
    assert len(test.cases) == len(test.pairs) == 45
    assert not set(test.cases) & set(large.cases)
    for domain in ("academic", "legal", "medical"):
        own = [pair for pair in test.pairs if pair.domain == domain]
        counts = Counter(map(label, own))
        assert len(own) == 15
        assert set(counts) == set(SETS)
        assert max(counts.values()) - min(counts.values()) == 1
        assert abs(2 * sum(pair.preferred == "A" for pair in own) - 15) == 1
    every = Counter(map(label, test.pairs))
    assert max(every.values()) - min(every.values()) == 1
    assert report["parts"]["test"]["by_principle"] == Counter(f"P{n}" for pair in test.pairs for n in pair.violated)
    assert report["parts"]["train_210"]["short"] == {}


@pytest.mark.parametrize(
    ("plain", "with_dev"),
    [(by_sizes([4, 10], 15, 0), by_sizes([4, 10], 15, 0, dev=14)), (by_share(0.2, 0), by_share(0.2, 0, 0.1))],
)
def test_a_dev_set_shares_no_case_with_test_and_training_sets(tmp_path: Path, plain: Any, with_dev: Any) -> None:
    mini_folder(tmp_path / "in", 120)
    split([tmp_path / "in"], tmp_path / "plain", plain)
    report = split([tmp_path / "in"], tmp_path / "out", with_dev)
    parts = {name: load_pairs(tmp_path / "out" / name) for name in report["parts"]}
    dev = parts.pop("dev")
    assert dev.pairs
    assert all(set(dev.cases).isdisjoint(part.cases) for part in parts.values())
    test = set(parts["test"].cases)
    assert all(test.isdisjoint(part.cases) for name, part in parts.items() if name != "test")
    assert files(tmp_path / "out")["test/pairs.jsonl"] == files(tmp_path / "plain")["test/pairs.jsonl"]
    assert "dev" not in json.loads(files(tmp_path / "plain")["split.json"])["parts"]
    if "sizes" in with_dev.settings:  # chosen like the test set: one pair a case, balanced over the seven sets
        counts = Counter((pair.domain, label(pair)) for pair in dev.pairs)
        assert counts == {(domain, name): 2 for domain in ("academic", "legal", "medical") for name in SETS}
        assert len(dev.cases) == len(dev.pairs) == 42
    else:
        assert len(dev.cases) == 12


def test_splits_are_reproducible(tmp_path: Path) -> None:
    mini_folder(tmp_path / "in", 60)
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        split([tmp_path / "in"], tmp_path / name, by_sizes([2, 3], 5, seed))
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert files(tmp_path / "a")["test/pairs.jsonl"] != files(tmp_path / "c")["test/pairs.jsonl"]


def test_a_set_far_below_its_nominal_size_is_named_after_its_pairs(tmp_path: Path) -> None:
    cases = [long_case(n) for n in range(8)]
    pairs = [pair for case in cases for pair in pairs_of(case) if pair.violated != (4,)]
    folder(tmp_path / "in", cases, pairs)
    report = split([tmp_path / "in"], tmp_path / "out", by_sizes([5, 9, 50], 2, 0))
    assert list(report["parts"]) == ["train_30", "train_36", "test"], "9 and 50 pairs a set give the same set"
    assert report["parts"]["train_30"]["short"] == {"legal": {"P4": 5}}
    assert report["parts"]["train_30"]["nominal"] == 35
    assert report["parts"]["train_36"]["short"] == {"legal": {name: 50 - 6 * (name != "P4") for name in SETS}}
    assert report["parts"]["train_36"]["nominal"] == 350
    assert len(load_pairs(tmp_path / "out" / "train_36").pairs) == 36
    assert json.loads((tmp_path / "out" / "split.json").read_text()) == report


def test_folders_of_several_domains_are_merged(tmp_path: Path) -> None:
    mini, other = mini_folder(tmp_path / "mini", 60), folder_of(tmp_path / "toy", [long_case(n) for n in range(20)])
    report = split([mini, other], tmp_path / "out", by_sizes([3], 4, 0))
    assert report["cases"] == 80
    test = load_pairs(tmp_path / "out" / "test")
    assert Counter(pair.domain for pair in test.pairs) == {"academic": 4, "legal": 4, "medical": 4}
    assert {case.source for case in test.cases.values()} == {"mini", "toy"}


def test_training_sets_are_named_after_their_nominal_size() -> None:
    assert [training_name(21 * n) for n in (1000, 3000, 5000)] == ["train_21k", "train_63k", "train_105k"]
    assert [training_name(7000), training_name(84)] == ["train_7k", "train_84"]


@pytest.mark.parametrize("plan", [by_share(0.3, 0, 0.2), by_sizes([2], 3, 0), by_sizes([2], 3, 0, dev=3)])
def test_cases_of_a_group_stay_together(tmp_path: Path, plan: Any) -> None:
    cases = [long_case(n, group=f"g{n // 3}") for n in range(60)]
    folder_of(tmp_path / "in", cases)
    split([tmp_path / "in"], tmp_path / "out", plan)
    parts = {path.parent: load_pairs(path.parent) for path in (tmp_path / "out").glob("*/pairs.jsonl")}
    groups = {path.name: {c.meta["group"] for c in part.cases.values()} for path, part in parts.items()}
    for held_out in ("test", *({"dev"} & groups.keys())):
        chosen = groups.pop(held_out)
        assert chosen
        assert all(not chosen & others for others in groups.values())


def near(tmp_path: Path) -> list[Case]:
    """24 cases with six near duplicates in context or reasoning. One of them duplicates another duplicate."""
    cases = [long_case(n) for n in range(18)]
    cases += [
        copied(cases[0], context=40),
        copied(cases[1], reasoning=40, seed=1),
        copied(cases[2], context=45, seed=2),
    ]
    cases += [
        copied(cases[20], reasoning=40, seed=3),
        copied(cases[3], context=10, seed=4),
        copied(cases[4], reasoning=9, seed=5),
    ]
    folder_of(tmp_path / "in", cases)
    return cases


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sizes", [None, [2]])
def test_near_duplicates_stay_on_one_side(tmp_path: Path, seed: int, sizes: list[int] | None) -> None:
    cases = near(tmp_path)
    plan = by_sizes(sizes, 8, seed) if sizes else by_share(0.4, seed)
    split([tmp_path / "in"], tmp_path / "three", by_sizes(sizes, 6, seed, dev=4) if sizes else by_share(0.3, seed, 0.3))
    parts = [set(load_pairs(file.parent).cases) for file in (tmp_path / "three").glob("*/pairs.jsonl")]
    assert len(parts) == 3
    for numbers in ({0, 18}, {1, 19}, {2, 20, 21}):
        assert sum(bool(part & {cases[n].case_id for n in numbers}) for part in parts) <= 1
    report = split([tmp_path / "in"], tmp_path / "out", plan)
    test = set(load_pairs(tmp_path / "out" / "test").cases)
    train = set(load_pairs(tmp_path / "out" / ("train_14" if sizes else "train")).cases)
    duplicates = [{0, 18}, {1, 19}, {2, 20, 21}]
    for numbers in duplicates:
        ids = {cases[n].case_id for n in numbers}
        assert not (ids & test and ids & train)
    rows = [json.loads(line) for line in (tmp_path / "out" / "near_duplicates.jsonl").open()]
    found = [{next(n for n, case in enumerate(cases) if case.case_id == i) for i in row["cases"]} for row in rows]
    assert found == [{0, 18}, {1, 19}, {2, 20}, {20, 21}]
    assert [[name for name in ("context", "reasoning") if row[name]] for row in rows] == [
        ["context"],
        ["reasoning"],
        ["context"],
        ["reasoning"],
    ]
    for row in rows:
        sides = ["test" if i in test else "train" if i in train else None for i in row["cases"]]
        assert row["sides"] == sides
    assert report["near_duplicates"] == {"threshold": 0.4, "pairs": 4, "across": 0}


def test_near_duplicates_across_sides_can_be_an_error(tmp_path: Path) -> None:
    near(tmp_path)
    with pytest.raises(
        JudgeError, match=r"nearly alike cases are on both sides of the split .* --near-duplicates group"
    ):
        split([tmp_path / "in"], tmp_path / "out", by_share(0.5, 0), near="fail")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["near_duplicates.jsonl"]
    rows = [json.loads(line) for line in (tmp_path / "out" / "near_duplicates.jsonl").open()]
    assert any(set(row["sides"]) == {"train", "test"} for row in rows)
    folder_of(tmp_path / "far", [long_case(n) for n in range(12)])
    assert (
        split([tmp_path / "far"], tmp_path / "far-out", by_share(0.5, 0), near="fail")["near_duplicates"]["pairs"] == 0
    )


class WordLengths:
    """Prompt lengths for tests: the number of words of the reference."""

    def __call__(self, pair: ReasoningPair, case: Case) -> int:
        return len(case.reference.split())


@pytest.mark.parametrize("leave_out", [False, True])
def test_long_prompts_are_listed_and_optionally_dropped(tmp_path: Path, leave_out: bool) -> None:
    cases = [long_case(n, words=100 + 10 * n) for n in range(10)]
    folder_of(tmp_path / "in", cases)
    audit = LengthAudit(WordLengths(), limit=160)  # type: ignore[arg-type]
    report = split([tmp_path / "in"], tmp_path / "out", by_sizes([5], 2, 0), audit=audit, leave_out=leave_out)
    listed = [json.loads(line) for line in (tmp_path / "out" / "too_long.jsonl").open()]
    assert {row["case_id"] for row in listed} == {case.case_id for case in cases[7:]}
    assert len(listed) == 21
    lengths = report["prompt_tokens"]
    assert (lengths["limit"], lengths["over"], lengths["left_out"]) == (160, 21, 21 if leave_out else 0)
    assert lengths["by_domain"]["legal"] == {
        "pairs": 70, "min": 100, "median": 140, "p90": 180, "p99": 190, "max": 190, "over": 21,
    }  # fmt: skip
    used = {pair.case_id for name in ("train_35", "test") for pair in load_pairs(tmp_path / "out" / name).pairs}
    assert bool(used & {case.case_id for case in cases[7:]}) != leave_out
    assert report["pairs"] == (49 if leave_out else 70)


def test_split_by_share_equals_the_in_memory_split(tmp_path: Path) -> None:
    data = load_pairs(mini_folder(tmp_path / "in", 30))
    split([tmp_path / "in"], tmp_path / "out", by_share(0.2, 3))
    for name, part in zip(("train", "test"), split_by_case(data, 0.2, 3), strict=True):
        written = load_pairs(tmp_path / "out" / name)
        assert (dict(written.cases), list(written.pairs)) == (dict(part.cases), list(part.pairs))


def test_test_sets_are_nested_by_share(tmp_path: Path) -> None:
    data = load_pairs(mini_folder(tmp_path, 30))
    tests = [set(split_by_case(data, share, 0)[1].cases) for share in (0.1, 0.3, 0.6)]
    assert tests[0] < tests[1] < tests[2]
    train, test = split_by_case(data, 0.3, 0)
    assert isinstance(train, PairSet)
    assert {p.case_id for p in train.pairs}.isdisjoint(p.case_id for p in test.pairs)


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (lambda: by_sizes([2], 12, 0), r"domain legal has 12 groups of cases: a test set of 12 would leave none"),
        (lambda: by_sizes([2], 8, 0, dev=4), "a test set of 8 and a dev set of 4 would leave none to train on"),
        (lambda: by_share(0.2, 0, 1.5), "the dev share must lie between 0 and 1"),
        (lambda: by_sizes([0], 2, 0), "--sizes takes numbers of pairs"),
        (lambda: by_sizes([], 2, 0), "--sizes takes numbers of pairs"),
        (lambda: by_share(1.5, 0), "between 0 and 1"),
    ],
)
def test_impossible_splits_are_errors(tmp_path: Path, plan: Any, sentence: str) -> None:
    folder_of(tmp_path / "in", [long_case(n) for n in range(12)])
    with pytest.raises(JudgeError, match=sentence):
        split([tmp_path / "in"], tmp_path / "out", plan())
    assert not (tmp_path / "out").exists()


def test_another_split_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    data, out = mini_folder(tmp_path / "in", 12), tmp_path / "out"

    def run(*options: str) -> Finished:
        return forked(command("split", data, *options, "--out", out))

    limited = ("--model", "bundled:tiny", "--max-prompt-tokens", "9000")
    assert run(*limited).returncode == 0
    before = files(out)
    for options, differ in (
        (("--seed", "3", *limited), "--seed 0, and this one has --seed 3"),
        (
            ("--near-duplicates", "fail"),
            "--max-prompt-tokens 9000 and --model bundled:tiny and no --near-duplicates, and this one has "
            "no --max-prompt-tokens and no --model and --near-duplicates fail",
        ),
    ):
        done = run(*options)
        assert done.returncode == ExitStatus.USAGE
        assert done.stderr == (
            f"error: {out} holds a split with {differ}: choose another --out, or add --overwrite to replace it\n"
        )
        assert files(out) == before
    assert run(*limited).returncode == 0
    assert files(out) == before
    assert run("--seed", "3", "--overwrite").returncode == 0
    assert files(out)["test/pairs.jsonl"] != before["test/pairs.jsonl"]


@pytest.mark.parametrize(
    ("folders", "plan", "differ"),
    [
        (["in"], by_share(0.5, 3), "--test-share 0.2 and --seed 0, and this one has --test-share 0.5 and --seed 3"),
        (["in"], by_share(0.2, 0, 0.1), "no --dev-share, and this one has --dev-share 0.1"),
        (
            ["in"],
            by_sizes([3, 2], 5, 0),
            "--test-share 0.2 and no --sizes and no --test, and this one has "
            "no --test-share and --sizes 2,3 and --test 5",
        ),
        (["in", "b"], by_share(0.2, 0), "the pairs of {home}/in, and this one has the pairs of {home}/in,{home}/b"),
    ],
)
def test_the_options_that_differ_are_named(folders: list[str], plan: Any, differ: str, tmp_path: Path) -> None:
    split([mini_folder(tmp_path / "in", 12)], tmp_path / "out", by_share(0.2, 0))
    refuse_other_split(tmp_path / "out", [tmp_path / "in"], by_share(0.2, 0).settings)
    with pytest.raises(JudgeError) as error:
        refuse_other_split(tmp_path / "out", [tmp_path / name for name in folders], plan.settings)
    assert f"{tmp_path}/out holds a split with {differ.format(home=tmp_path)}: choose" in str(error.value)


def test_a_foreign_split_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "split.json").write_text('{"train": 3}')
    with pytest.raises(JudgeError, match=r"split\.json was not written by judge-r1 split: choose another --out"):
        refuse_other_split(tmp_path, [tmp_path / "in"], {"seed": 0})


def test_parts_cannot_overwrite_the_input(tmp_path: Path) -> None:
    before = sorted(path.name for path in mini_folder(tmp_path, 6).iterdir())
    with pytest.raises(JudgeError, match="give another --out for the parts"):
        split([tmp_path], tmp_path / ".", by_share(0.5, 0))
    assert sorted(path.name for path in tmp_path.iterdir()) == before
