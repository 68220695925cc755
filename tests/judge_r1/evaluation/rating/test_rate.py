"""`judge-r1 rate` from votes to files."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from rating_factories import simulated
from typer.testing import CliRunner

from data_builders.build import build
from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.rating.grids import grids
from judge_r1.evaluation.rating.leaderboard import rate
from judge_r1.evaluation.rating.pipeline import elo_chart, rate_on_scale, read_scale, run_rating
from judge_r1.evaluation.rating.slices import RatingOptions
from judge_r1.evaluation.rating.vote_files import Votes, read_votes
from judge_r1.files.file_lock import lock_folder


def write_votes(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def simulated_rows(seed: int = 0, items: int = 150) -> list[dict[str, object]]:
    table = simulated(seed, items)
    return [
        {
            "judge": table.judges[judge], "item": table.items[item], "score": float(score),
            "cluster": f"d{item // 2}", "group": "odd" if item % 2 else "even",
        }
        for judge, item, score in zip(table.judge, table.item, table.score, strict=True)
    ]  # fmt: skip


@pytest.fixture
def votes(tmp_path: Path) -> Votes:
    return read_votes([write_votes(tmp_path / "votes.jsonl", simulated_rows())])


def test_slices_and_files(votes: Votes, tmp_path: Path) -> None:
    tables = run_rating(votes, RatingOptions(repeats=2), tmp_path / "out")
    titles = [table.title for table in tables]
    assert titles[:2] == ["Rating: informative items", "Rating: without the hardest"]
    assert {"Rating: group even", "Rating: group odd", "Difficulty by group", "Stability"} <= set(titles)
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"rating.json", "items.jsonl", "rating.html", "leaderboard.md", "rating.svg"} == files
    page = (tmp_path / "out" / "rating.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert page.count("<svg") == 2
    chart = ElementTree.fromstring((tmp_path / "out" / "rating.svg").read_text(encoding="utf-8"))
    assert len(chart.findall("{*}circle")) == len(votes.answers)
    again = run_rating(votes, RatingOptions(repeats=2), tmp_path / "again")
    assert again == tables
    for name in ("rating.json", "items.jsonl", "rating.html"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_a_new_judge_on_the_fixed_scale(votes: Votes, tmp_path: Path) -> None:
    run_rating(votes, RatingOptions(top=0, repeats=1), tmp_path)
    scale = read_scale(tmp_path)
    rating, _ = rate(votes, RatingOptions(top=0, repeats=1))
    expected = {judge.judge: judge.elo for judge in rating.slices[0].judges}
    found = {judge.judge: judge.elo for judge in rate_on_scale(votes, scale)}
    assert found == pytest.approx(expected, abs=1e-3)


def test_perfect_and_hopeless_judges_have_no_number(tmp_path: Path) -> None:
    rows = simulated_rows()
    items = sorted({str(row["item"]) for row in rows})
    rows += [{**rows[0], "judge": "perfect", "item": item, "score": 1} | _same(rows, item) for item in items]
    rows += [{**rows[0], "judge": "hopeless", "item": item, "score": 0} | _same(rows, item) for item in items]
    found = read_votes([write_votes(tmp_path / "v.jsonl", rows)])
    judges = rate(found, RatingOptions(repeats=1))[0].slices[0].judges
    assert (judges[0].judge, judges[0].status, judges[0].elo) == ("perfect", "above", None)
    assert (judges[-1].judge, judges[-1].status, judges[-1].elo) == ("hopeless", "below", None)
    with_prior = rate(found, RatingOptions(prior=1, repeats=1))[0].slices[0].judges
    assert all(judge.elo is not None for judge in with_prior)


def test_a_prior_rates_judges_that_nothing_else_can_rate(tmp_path: Path) -> None:
    rows = [
        {"judge": judge, "item": f"i{item}", "score": score}
        for item in range(4)
        for judge, score in (("right", 1), ("half", item % 2), ("wrong", 0))
    ]
    path = write_votes(tmp_path / "v.jsonl", rows)
    with pytest.raises(JudgeError, match="no rating is finite"):
        rate(read_votes([path]), RatingOptions(repeats=1))
    rating, _ = rate(read_votes([path]), RatingOptions(prior=1, repeats=1))
    assert [judge.judge for judge in rating.slices[0].judges] == ["right", "half", "wrong"]
    assert rating.stability[-1].rated == 3


def test_the_difficulty_by_label_is_on_the_scale_of_the_items(votes: Votes) -> None:
    rating, items = rate(votes, RatingOptions(anchor="J03", repeats=1))
    for part in rating.breakdowns:
        elo = [row.elo for row in items if row.labels[part.label] == part.value and row.elo is not None]
        assert part.items == len(elo)
        assert part.mean_elo == pytest.approx(sum(elo) / len(elo))


def _same(rows: list[dict[str, object]], item: str) -> dict[str, object]:
    found = next(row for row in rows if row["item"] == item)
    return {"cluster": found["cluster"], "group": found["group"]}


def test_invalid_answers_are_wrong_or_left_out(tmp_path: Path) -> None:
    rows = simulated_rows()
    rows[0]["score"] = None
    path = write_votes(tmp_path / "v.jsonl", rows)
    item = rows[0]["item"]
    wrong, _ = rate(read_votes([path]), RatingOptions(repeats=1))
    assert wrong.slices[0].dropped == {}
    assert wrong.invalid[str(rows[0]["judge"])] > 0
    _, items = rate(read_votes([path], on_invalid="drop"), RatingOptions(repeats=1))
    assert {row.item for row in items if row.status == "incomplete"} == {item}
    _, items = rate(read_votes([path], on_invalid="drop"), RatingOptions(partial=True, repeats=1))
    assert not [row for row in items if row.status == "incomplete"]


@pytest.mark.parametrize(
    ("parts", "strict", "compat"),
    [((True, True, True), 1.0, 1.0), ((True, None, True), 0.0, 1.0), ((True, False, True), 0.0, 0.0),
     ((None, None, None), None, None)],
)  # fmt: skip
def test_published_matches(
    tmp_path: Path, parts: tuple[bool | None, ...], strict: float | None, compat: float | None
) -> None:
    given = [part for part in parts if part is not None]
    judge = dict(zip(("correct_verdict", "correct_bad_round", "correct_behavior_type"), parts, strict=True))
    match = {
        "id": "p1", "domain": "ml", "pair": {"assistant_behavior_type": "evasion"}, "model": {"name": "m"},
        "judge": {**judge, "correct": all(given) if given else None},
    }  # fmt: skip
    path = tmp_path / "matches.json"
    path.write_text(json.dumps([match, {**match, "id": "p2"}]), encoding="utf-8")
    for is_compat, expected in ((False, strict), (True, compat)):
        if expected is None:
            with pytest.raises(JudgeError, match="no vote to rate"):
                read_votes([path], on_invalid="drop", compat=is_compat)
        else:
            found = read_votes([path], compat=is_compat)
            assert found.votes[0] == ("m", "p1", expected)
            assert found.labels["p1"] == {"assistant_behavior_type": "evasion", "group": "ml"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"judge": "a", "item": "i", "score": "high"},
            "column 'score' holds 'high', and must hold numbers from 0 to 1",
        ),
        ({"judge": "a", "item": "i", "score": 2}, "line 1: column 'score' holds '2', and must"),
        ({"judge": "a", "item": "i", "score": True}, "line 1: column 'score' holds 'True', and must"),
        ({"judge": "a", "item": "i", "score": 1, "tokens": "inf"}, "line 1: column 'tokens' holds 'inf', and must"),
        ({"judge": "a", "item": "i"}, "column 'score' is missing"),
        ({"judge": "", "item": "i", "score": 1}, "column 'judge' must not be empty"),
    ],
)
def test_bad_votes(tmp_path: Path, row: dict[str, object], message: str) -> None:
    with pytest.raises(JudgeError, match=message):
        read_votes([write_votes(tmp_path / "v.jsonl", [row])])


def test_the_same_judge_in_two_files(tmp_path: Path) -> None:
    row: dict[str, object] = {"judge": "a", "item": "i", "score": 1}
    one, two = (write_votes(tmp_path / name, [row]) for name in ("1.jsonl", "2.jsonl"))
    other = write_votes(tmp_path / "3.jsonl", [{**row, "score": 0}])
    same = read_votes([one, two])
    assert same.votes == [("a", "i", 1.0)]
    assert same.answers == {"a": 1}
    with pytest.raises(JudgeError, match=r"3\.jsonl holds another vote of judge 'a' on item 'i' than .*1\.jsonl"):
        read_votes([one, other])


def test_the_command(tmp_path: Path) -> None:
    path = write_votes(tmp_path / "votes.jsonl", simulated_rows())
    item = str(simulated_rows()[0]["item"])
    (tmp_path / "refused.txt").write_text(f"{item}\n", encoding="utf-8")
    run = CliRunner().invoke
    out = tmp_path / "rating"
    result = run(app, ["rate", str(path), "--out", str(out), "--refused", str(tmp_path / "refused.txt")])
    assert result.exit_code == 0, result.output
    assert "1 refused" in result.output
    result = run(app, ["rate", str(path), "--scale", str(out), "--out", str(tmp_path / "scale")])
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "scale" / "scale.json").read_text())["judges"]
    assert "not on the scale" in result.output
    result = run(app, ["rate", str(path), "--scale", str(out), "--out", str(tmp_path / "scale"), "--prior", "1"])
    assert result.exit_code == 2
    assert "--prior is for a fit" in result.output
    result = run(app, ["rate", str(path), "--out", str(tmp_path / "compat"), "--repo-compat", "--published"])
    assert result.exit_code == 0, result.output
    assert re.search(r"gemini-3\.1-pro \(published\) +1959", result.output)
    assert "gpt-oss-20b (published)" in (tmp_path / "compat" / "rating.html").read_text(encoding="utf-8")
    (tmp_path / "refused.txt").write_text("nothing\n", encoding="utf-8")
    result = run(app, ["rate", str(path), "--out", str(out), "--refused", str(tmp_path / "refused.txt")])
    assert result.exit_code == 2
    assert "line 1: no vote is on item 'nothing'" in result.output


def test_evaluations_with_the_same_baselines(tmp_path: Path) -> None:
    """A folder of two evaluations: each baseline counts once per item."""
    build("mini-conversations", tmp_path / "data", variants=2, limit=4)
    for name in ("one", "two"):
        out = str(tmp_path / "e" / name)
        words = ["eval", "--benchmark", "rankjudge", "--path", str(tmp_path / "data"), "--out", out]
        assert CliRunner().invoke(app, words).exit_code == 0
    found = read_votes([tmp_path / "e"])
    assert set(found.answers.values()) == {8}


def test_a_repeated_vote_counts_once_and_the_command_says_so(tmp_path: Path) -> None:
    rows = simulated_rows(items=60)
    once, twice = (write_votes(tmp_path / name, found) for name, found in (("1.jsonl", rows), ("2.jsonl", rows * 2)))
    assert read_votes([twice]).votes == read_votes([once]).votes
    assert read_votes([twice]).repeated == {twice: len(rows)}
    result = CliRunner().invoke(app, ["rate", str(twice), "--repeats", "1", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert f"holds {len(rows)} votes again: each counts once" in " ".join(result.output.split())


def test_a_repeated_vote_with_another_cluster_is_an_error(tmp_path: Path) -> None:
    row: dict[str, object] = {"judge": "a", "item": "i", "score": 1, "cluster": "c"}
    with pytest.raises(JudgeError, match="item 'i' has two clusters, 'c' and 'd'"):
        read_votes([write_votes(tmp_path / "v.jsonl", [row, {**row, "cluster": "d"}])])


@pytest.mark.parametrize("other", ["cafe\u0301", "caf\u00e9\u200b"])
def test_names_that_look_alike_are_an_error(other: str, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"judge": judge, "item": "i", "score": 1} for judge in ("caf\u00e9", other)]
    with pytest.raises(JudgeError, match=r"the judges 'caf\\xe9' and .* differ in unseen characters alone"):
        read_votes([write_votes(tmp_path / "v.jsonl", rows)])


@pytest.mark.parametrize(("judge", "item", "kind"), [("a ", "i", "judges"), ("a", "i\u00a0", "items")])
def test_names_that_differ_in_white_space_alone_are_an_error(judge: str, item: str, kind: str, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"judge": j, "item": i, "score": 1} for j, i in (("a", "i"), (judge, item))]
    with pytest.raises(JudgeError, match=f"the {kind} .* differ in white space alone"):
        read_votes([write_votes(tmp_path / "v.jsonl", rows)])


@pytest.mark.parametrize("change", [{"score": 0.5}, {"cluster": "d"}])
def test_votes_without_spread_have_no_interval(change: dict[str, object], tmp_path: Path) -> None:
    """Ties alone, and items of one cluster: the sandwich error is 0, which is not the error of the rating."""
    path = write_votes(tmp_path / "v.jsonl", [{**row, **change} for row in simulated_rows(items=60)])
    rating, items = rate(read_votes([path]), RatingOptions(repeats=1, top=0))
    rated = [judge for judge in rating.slices[0].judges if judge.elo is not None]
    assert rated
    assert {(judge.se, judge.ci95) for judge in rated} == {(None, None)}
    assert "No interval where the votes show no spread" in grids(rating)[0].note
    assert elo_chart(rating.slices[0].judges)
    named, _ = rate(read_votes([path]), RatingOptions(repeats=1, top=0, anchor=rated[0].judge))
    assert [j.se for j in named.slices[0].judges if j.judge == rated[0].judge] == [0.0], "the anchor is the zero"
    alone = rate_on_scale(read_votes([path]), {row.item: row for row in items if row.status == "rated"})
    assert {(judge.se, judge.ci95) for judge in alone if judge.status == "rated"} == {(None, None)}


def test_the_output_folder_is_locked_before_the_votes_are_read(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with lock_folder(out):
        result = CliRunner().invoke(app, ["rate", str(tmp_path / "missing.csv"), "--out", str(out)])
    assert result.exit_code == 2
    assert "another process is writing to" in result.output
    assert not list(out.iterdir())
