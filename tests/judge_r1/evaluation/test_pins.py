"""Evaluations are compared only if their weights, checklists, judges, prompts and settings are the same."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_server import run
from fake_llm_server import FakeLLMServer
from hellobench_factories import make_checkout, scripted_answer, write_responses

from judge_r1.benchmarks.hellobench import load
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.pins import MixedPins, check_pins, pinned
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.rating.vote_files import read_votes
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel
from judge_r1.models.base import Sampling

ONE, OTHER = "checklist@{url}#one", "checklist@{url}#other"
GREEDY = Sampling(0.0, 0)
PANEL = f"both=panel({ONE}|{OTHER})"


@pytest.fixture
def server() -> Iterator[FakeLLMServer]:
    with FakeLLMServer(scripted_answer) as server:
        yield server


def evaluated(
    server: FakeLLMServer,
    folder: Path,
    name: str,
    spec: str,
    *,
    sampling: Sampling = GREEDY,
    system: str = "fine",
    more: str = "",
) -> tuple[Path, dict[str, Any]]:
    """The folder of an evaluation of one text, and its summary."""
    if not (root := folder / "HelloBench").exists():
        write_responses(make_checkout(root, each=1) / "fine", "A good text", each=1)
    out = folder / name
    subset = f"chat,responses={root / system}{more}"
    with Evaluation(load(root, subset), out, resume=False, name="hellobench") as evaluation:
        build = JudgeBuild("", sampling=sampling)
        evaluation.run(lambda: make_panel(spec.format(url=f"{server.url}/v1"), build))
        evaluation.finish([])
    return out, read_summary(out)


def test_panels_of_the_same_judges_are_compared_under_any_name_and_seed(server: FakeLLMServer, tmp_path: Path) -> None:
    first = evaluated(server, tmp_path, "a", PANEL)
    again = evaluated(server, tmp_path, "b", PANEL.replace("both", "again"), sampling=Sampling(0.0, 7))
    check_pins([first, again])
    (row,) = first[1]["pinned"]["judges"].values()
    assert row["judge"] == "|".join(spec.format(url=f"{server.url}/v1") for spec in (ONE, OTHER))


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        (PANEL.replace("#other", "#third"), {}, "different judges .*#third"),
        (f"both={ONE}", {}, "different judges"),
        (f"both=panel({OTHER}|{ONE})", {}, "different judges"),
        (PANEL.replace("|checklist", "|checklist:form=search,retriever=bm25"), {}, "different judges .*prompt"),
        (PANEL.replace("panel", "panel:samples=3"), {}, "different judges .*settings"),
        (PANEL.replace("|checklist", "|checklist:attempts=3"), {}, "different judges .*settings"),
        (PANEL, {"sampling": Sampling(0.8, 0)}, "different judges .*settings"),
        (PANEL, {"more": ",weights=average"}, "different weights .*average"),
        (PANEL, {"more": ",legacy_join=true"}, "different texts .*joined by spaces"),
    ],
)
def test_other_panels_are_refused(
    spec: str, options: dict[str, Any], message: str, server: FakeLLMServer, tmp_path: Path
) -> None:
    first, other = evaluated(server, tmp_path, "a", PANEL), evaluated(server, tmp_path, "b", spec, **options)
    with pytest.raises(MixedPins, match=message):
        check_pins([first, other])


def test_other_texts_of_a_system_are_refused_and_those_of_another_are_not(
    server: FakeLLMServer, tmp_path: Path
) -> None:
    one = evaluated(server, tmp_path, "a", PANEL)
    root = tmp_path / "HelloBench"
    write_responses(root / "poor", "A poor text", each=1)
    two = evaluated(server, tmp_path, "b", PANEL, system="poor")
    check_pins([one, two])
    assert one[1]["pinned"]["responses"].keys() == {"fine/chat"}
    write_responses(root / "poor", "A revised text", each=1)
    revised = evaluated(server, tmp_path, "c", PANEL, system="poor")
    with pytest.raises(MixedPins, match=r"b and .*c have different responses of poor/chat .*judge the same responses"):
        check_pins([one, two, revised])


def test_other_weights_prompts_and_checklists_are_refused(server: FakeLLMServer, tmp_path: Path) -> None:
    one, other = (evaluated(server, tmp_path, name, f"one={ONE}") for name in "ab")
    check_pins([one, other])
    for pins, message in (
        ({"prompt": "0" * 16}, "different prompt"),
        ({"checklists": "0" * 16}, "different checklists"),
        ({"responses": {"fine/chat": "0" * 16}}, "different responses of fine/chat"),
    ):
        with pytest.raises(MixedPins, match=message):
            check_pins([one, (other[0], {**other[1], "pinned": {**other[1]["pinned"], **pins}})])


def test_a_generous_judge_of_texts_has_no_rating(server: FakeLLMServer, tmp_path: Path) -> None:
    folder, _ = evaluated(server, tmp_path, "a", f"one={ONE}")
    with pytest.raises(JudgeError, match="the scores of hellobench say how good texts are"):
        read_votes([folder])


@pytest.mark.parametrize("pins", [None, {}, {"judges": {"j": "m"}}, {"judges": {}, "weights": 1}])
def test_a_summary_with_pins_of_another_form_is_refused(pins: object, server: FakeLLMServer, tmp_path: Path) -> None:
    folder, summary = evaluated(server, tmp_path, "a", PANEL)
    (folder / "summary.json").write_text(json.dumps({**summary, "pinned": pins}))
    with pytest.raises(JudgeError, match=r"summary\.json: .*pinned"):
        read_votes([folder])


def test_the_report_refuses_to_mix_panels(server: FakeLLMServer, tmp_path: Path) -> None:
    folders = [evaluated(server, tmp_path, name, spec)[0] for name, spec in (("a", PANEL), ("b", f"both={ONE}"))]
    refused = run("report", *folders, "--out", tmp_path / "report")
    assert refused.returncode == 2
    assert "different judges" in refused.stderr
    assert not (tmp_path / "report" / "report.html").exists()


def test_a_benchmark_without_pins_has_no_entry() -> None:
    assert pinned({}, {"j": "judge"}, {"j": {}}) == {}
    check_pins([(Path("a"), {"benchmark": "llmbar"}), (Path("b"), {"benchmark": "llmbar"})])
