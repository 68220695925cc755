"""rate: Bradley–Terry ratings of judges on the Elo scale."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from judge_r1.cli.options import MAX_SEED, Prices, locks_out, refuse
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted

TOP, REPEATS = 0.05, 10


@locks_out
def rate(
    votes: Annotated[
        list[Path],
        typer.Argument(
            help="Evaluation folders, folders of them, tables with judge, item and score, or logs of Inspect."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    anchor: Annotated[
        str, typer.Option(help="1500 Elo is the mean of all players, of the judges, or the judge with this name.")
    ] = "all",
    scale: Annotated[
        Path | None, typer.Option(help="Folder of an earlier rating: rate each judge alone on its fixed items.")
    ] = None,
    on_invalid: Annotated[
        Literal["incorrect", "drop"] | None,
        typer.Option(help="An invalid answer is incorrect, or is left out [default: incorrect]."),
    ] = None,
    criterion: Annotated[
        Literal["score", "side+round", "side"],
        typer.Option(help="What must be right: all that the benchmark scores, or of conversations only a part."),
    ] = "score",
    scorer: Annotated[
        str | None, typer.Option(help="The scorer of logs of Inspect; needed if a log has several.")
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Keep items that some judges did not answer.")] = False,
    top: Annotated[float, typer.Option(min=0, max=0.5, help="Share of the hardest items that curation drops.")] = TOP,
    refused: Annotated[
        Path | None, typer.Option(help="Text file with one item id per line that people refused.")
    ] = None,
    prior: Annotated[
        float, typer.Option(min=0, help="Votes of each player against an average one, half of them won; 0 for none.")
    ] = 0.0,
    compare: Annotated[
        Path | None, typer.Option(help="Folder of another rating of the same judges: adds a table of both ranks.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="With --compare: gives the agreement also without this judge.")
    ] = None,
    prices: Prices = None,
    repeats: Annotated[int, typer.Option(min=1, help="Random parts per share of votes, for the stability.")] = REPEATS,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the random parts.")] = 0,
    repo_compat: Annotated[
        bool,
        typer.Option("--repo-compat", help="Follow RankJudge's public code: see docs/rating.md for the differences."),
    ] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Also show the ratings that RankJudge's paper published.")
    ] = False,
) -> None:
    """Rate judges and items from the votes of any benchmark: Elo with 95 % intervals, difficulty, curation.

    Writes rating.json, items.jsonl (difficulty, and the reason for each item that was dropped), leaderboard.md,
    rating.html and its charts as .svg to OUT. With --scale it writes scale.json and leaderboard.md. --prices names
    judges, and needs a line such as `date: 2026-11-30`.

    Example: `judge-r1 rate runs/eval/* --out runs/rating`
    """
    from judge_r1.evaluation.rating.pipeline import read_refused, run_rating, run_scale
    from judge_r1.evaluation.rating.slices import RatingOptions
    from judge_r1.evaluation.rating.vote_files import read_votes
    from judge_r1.evaluation.report.tables import print_grid

    if without and compare is None:
        raise JudgeError("--without names a judge to leave out of a comparison: give --compare")
    if repo_compat:
        refuse("has no effect on --repo-compat, which drops invalid answers", on_invalid=on_invalid == "incorrect")
    if scale:
        fitted = {"anchor": anchor != "all", "partial": partial, "top": top != TOP, "refused": refused, "prior": prior}
        fitted |= {
            "compare": compare,
            "published": published,
            "prices": prices,
            "repeats": repeats != REPEATS,
            "seed": seed,
        }
        refuse(f"is for a fit, and --scale keeps the fit of {scale}", **fitted)
    invalid = on_invalid or ("drop" if repo_compat else "incorrect")
    found = read_votes(votes, on_invalid=invalid, compat=repo_compat, criterion=criterion, scorer=scorer)
    for source, count in found.repeated.items():
        Console(stderr=True).print(
            f"note: {source} holds {counted(count, 'vote')} again: each counts once", soft_wrap=True
        )
    console = Console()
    if scale:
        print_grid(run_scale(found, scale, out), console)
        return
    ids = read_refused(refused, found) if refused else frozenset()
    options = RatingOptions(anchor, prior, top, partial, repo_compat, ids, repeats, seed)
    dated = _dated(prices) if prices else None
    tables = run_rating(found, options, out, other=compare, without=without or (), published=published, prices=dated)
    for table in tables:
        print_grid(table, console)
    console.print(f"rating: {out / 'rating.html'}", soft_wrap=True)


def _dated(file: Path) -> tuple[str, dict[str, tuple[float, float]]]:
    """The date of a table of prices, and the price of each judge. Raises: JudgeError."""
    from data_builders.teachers.budget import dated_prices

    day, prices = dated_prices(file)
    if day is None:
        raise JudgeError(f"{file} needs a line such as `date: 2026-11-30`: prices change")
    return day, {name: (price.input / 1e6, price.output / 1e6) for name, price in prices.items()}
