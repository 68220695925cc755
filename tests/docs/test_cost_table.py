"""The estimates that docs/cluster.md links to are what the command in it prints."""

from paths import RECIPES, REPO

from judge_r1.training.cost_estimate import GPUS
from scripts.cost_table import table


def test_the_estimates_of_the_runbook_are_current() -> None:
    page = (REPO / "docs/cluster.md").read_text(encoding="utf-8")
    command, file = (
        "python -m scripts.cost_table --gpu H100 --gpus-per-node 8 --nodes 2",
        "experiments/estimates_2x8_h100.csv",
    )
    assert command in page
    assert f"]({file})" in page
    shown = (REPO / "docs" / file).read_text(encoding="utf-8")
    assert shown == table(GPUS["H100"], 8, 2, RECIPES), f"run {command} > docs/{file}"
