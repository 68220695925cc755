"""Whether verdicts follow the place in which a candidate is shown, of rows that were asked in both orders."""

from collections.abc import Sequence

from judge_r1.evaluation.metrics import consistency, first_preferred
from judge_r1.evaluation.report.tables import Grid, share
from judge_r1.evaluation.results import PanelResults

COLUMNS = ("judge", "games", "decided", "prefers first", "consistent")


def position_grid(results: Sequence[PanelResults]) -> Grid | None:
    """One line a row; None where no row has a pair in both orders."""
    cells, both = [], False
    for found in results:
        outcomes = found.items
        games = [game for outcome in outcomes for game in outcome.votes]
        both = both or any({(0, 1), (1, 0)} <= {game.order for game in outcome.votes} for outcome in outcomes)
        decided = sum(game.winner is not None for game in games)
        cells.append(
            (found.panel, str(len(games)), str(decided), share(first_preferred(outcomes)), share(consistency(outcomes)))
        )
    note = (
        "Decided: games with a valid answer that is no tie. Prefers first: of those, for the candidate shown first. "
        "Consistent: of pairs that one judge decided in both orders, decided alike."
    )
    return Grid("Both orders", note, COLUMNS, tuple(cells)) if both else None
