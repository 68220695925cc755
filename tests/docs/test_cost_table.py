"""The table of estimates in docs/cluster.md is what the command in it prints."""

from paths import RECIPES, REPO

from judge_r1.training.gpus import GPUS
from scripts.cost_table import table


def test_the_table_of_the_runbook_is_current() -> None:
    page = (REPO / "docs" / "cluster.md").read_text(encoding="utf-8")
    shown = page.split("<!-- cost table -->")[1].split("<!-- end of the cost table -->")[0]
    assert shown.strip() == table(GPUS["H100"], 8, 2, RECIPES), "run python -m scripts.cost_table and paste its output"
    assert "python -m scripts.cost_table --gpu H100 --gpus-per-node 8 --nodes 2" in page


def test_the_table_of_gpus_in_the_runbook_is_the_one_of_the_estimates() -> None:
    page = (REPO / "docs" / "cluster.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in page.splitlines() if " SXM | " in line]
    assert {row[0].split()[0]: [float(cell.replace(",", "")) for cell in row[1:]] for row in rows} == {
        name: list(gpu[1:]) for name, gpu in GPUS.items()
    }
