from judge_r1.evaluation.report.tables import NONE, Best, Estimate, Grid, markdown


def test_a_table_is_aligned_and_what_would_break_it_is_escaped() -> None:
    best = Estimate(0.5, 0.4, 0.6, n=9, best=True)
    rows = (("x|y\n*z*", best), ("<b>", NONE), ("[a](b)", "0.9 [0.8, 1.0]"), ("\\", Best("0.50")))
    assert markdown(Grid("t", "A note.", ("judge", "a|b"), rows)).splitlines() == [
        r"| judge      |                      a\|b |",
        r"|------------|--------------------------:|",
        r"| x\|y \*z\* | **0.50** [0.40, 0.60] (9) |",
        r"| \<b>       |                         – |",
        r"| [a]\(b)    |            0.9 [0.8, 1.0] |",
        r"| \\         |                  **0.50** |",
        "",
        "A note.",
    ]
