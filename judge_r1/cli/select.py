"""select: write the pairs of a band of difficulty, or those that a look-up rule finds or misses."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal

import typer

from judge_r1.cli.options import MAX_SEED, locks_out, refuse
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted


@locks_out
def select(
    folder: Annotated[Path, typer.Argument(help="A folder of pairs or of conversations.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    rating: Annotated[Path | None, typer.Option(help="Folder of `judge-r1 rate` on these pairs.")] = None,
    band: Annotated[
        str,
        typer.Option(metavar="LOW,HIGH", help="Shares of the rated pairs, from the hardest: 0,0.2 is the top 20 %."),
    ] = "0,1",
    pairs: Annotated[int | None, typer.Option(min=1, help="Pairs drawn from the band; all by default.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the draw.")] = 0,
    look_up: Annotated[
        Literal["found", "missed"] | None,
        typer.Option(help="Without --rating: the pairs that the judge `evidence` finds, or those that it misses."),
    ] = None,
) -> None:
    """Write the pairs of a band of difficulty, for example to train on easy ones. Pairs that the rating left out, such
    as those that no judge or every judge gets right, are in no band.

    With --look-up missed, write the pairs that need more than a look-up of the words that differ.

    Example: `judge-r1 select runs/talks --rating runs/talks-rating --band 0.4,1 --pairs 100 --out runs/easy`

    Example: `judge-r1 select runs/medical/test --look-up missed --out runs/hard`
    """
    from data_builders.audit.look_up import look_up_margins
    from data_builders.build import write_pairs
    from data_builders.conversations.parts import write_part
    from data_builders.splits.sampling import in_band
    from judge_r1.files.pair_set import PairSet, load_pairs
    from judge_r1.files.transcripts import is_conversations, read_conversations

    if (rating is None) == (look_up is None):
        raise JudgeError("give --rating or --look-up, and not both")
    if rating is None:
        refuse("goes with --rating", band=band != "0,1", pairs=pairs)
    if pairs is None:
        refuse("goes with --pairs", seed=seed)
    try:
        low, high = (float(part) for part in band.split(","))
    except ValueError:
        raise JudgeError(f"--band takes two shares such as 0,0.2, not {band!r}") from None
    if out.resolve() == folder.resolve():
        raise JudgeError(f"{out} holds the pairs themselves: give another --out")

    def write(data: PairSet, chosen: Collection[str]) -> None:
        kept = [pair for pair in data.pairs if pair.pair_id in chosen]
        write_pairs(PairSet.of([data.cases[case_id] for case_id in dict.fromkeys(p.case_id for p in kept)], kept), out)

    if rating is None:
        if is_conversations(folder):
            raise JudgeError(f"--look-up is for pairs of reasonings, and {folder} holds conversations: give --rating")
        data = load_pairs(folder)
        chosen = {one for one, margin in look_up_margins(data).items() if (margin > 0) == (look_up == "found")}
        if not chosen:
            raise JudgeError(f"the rule has {look_up} none of the {counted(len(data.pairs), 'pair')} of {folder}")
        write(data, chosen)
        print(f"{out}: {len(chosen)} of {counted(len(data.pairs), 'pair')} {look_up} by the rule")
        return
    if is_conversations(folder):
        found = in_band(rating, {pair.pair_id for pair in read_conversations(folder)[0]}, (low, high), pairs, seed)
        write_part(folder, out, found)
    else:
        data = load_pairs(folder)
        found = in_band(rating, {pair.pair_id for pair in data.pairs}, (low, high), pairs, seed)
        write(data, found)
    elo = list(found.values())
    print(f"{out}: {counted(len(elo), 'pair')}, Elo {elo[-1]:.0f} to {elo[0]:.0f}")
