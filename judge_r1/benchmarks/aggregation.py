"""What a judge said of an item, game by game, and what follows from all of its games."""

from collections import Counter
from collections.abc import Sequence

from judge_r1.core.items import AggregatedVerdict, Item, Vote
from judge_r1.core.records import InvalidVerdict, PairwiseVerdict, ScoresVerdict, preference


def majority_vote(item: Item, games: Sequence[Vote]) -> AggregatedVerdict:
    """Majority over the games of a pair; the one that more games prefer wins, and as many on both sides are a tie.

    Invalid games have no vote; an item without a valid game is invalid. With two games in both orders this is
    JudgeBench's rule: +1 for a game that agrees with the label, -1 for one against it, right where the sum is above 0.
    """
    if invalid := all_invalid(games):
        return AggregatedVerdict(verdict=invalid, score=0.0)
    votes = Counter(game.winner for game in games)
    winner = "tie" if votes[0] == votes[1] else "A" if votes[0] > votes[1] else "B"
    return AggregatedVerdict(verdict=PairwiseVerdict(winner=winner), score=float(winner == item.gold))


def mean_correct(item: Item, games: Sequence[Vote]) -> AggregatedVerdict:
    """The verdict of `settle_pair`, worth the share of games that give the gold: a pair judged rightly in one of two
    orders is half right, as in LLMBar's average accuracy."""
    right = sum(_says(game) == item.gold for game in games) / len(games)
    return AggregatedVerdict(verdict=majority_vote(item, games).verdict, score=right)


def require_consistent(item: Item, games: Sequence[Vote]) -> AggregatedVerdict:
    """The verdict of `settle_pair`, right only where every game gives the gold (consistent accuracy): a judge that
    changes its mind with the order is wrong, also on a pair whose gold is a tie."""
    right = all(_says(game) == item.gold for game in games)
    return AggregatedVerdict(verdict=majority_vote(item, games).verdict, score=float(right))


def best_of_n(item: Item, games: Sequence[Vote]) -> AggregatedVerdict:
    """Best of n, by games of two: right where the best candidate has more votes than its rival in each pairing. The
    verdict is how many games each candidate has won."""
    if invalid := all_invalid(games):
        return AggregatedVerdict(verdict=invalid, score=0.0)
    margins = Counter({frozenset(game.order): 0 for game in games})
    for game in games:
        if game.winner is not None:
            margins[frozenset(game.order)] += 1 if game.winner == item.gold else -1
    won = Counter(game.winner for game in games)
    scores = tuple(float(won[place]) for place in range(len(item.candidates)))
    return AggregatedVerdict(
        verdict=ScoresVerdict(scores=scores), score=float(all(margin > 0 for margin in margins.values()))
    )


def _says(game: Vote) -> str | None:
    """A game of two in terms of the item's candidates: "A", "B" or "tie"; None for an invalid answer."""
    shown = preference(game.verdict)
    if shown is None or shown == "tie":
        return shown
    return "AB"[game.order["AB".index(shown)]]


def all_invalid(games: Sequence[Vote]) -> InvalidVerdict | None:
    """The first game's reason, where no game has a valid verdict."""
    first = games[0].verdict
    if isinstance(first, InvalidVerdict) and all(isinstance(game.verdict, InvalidVerdict) for game in games):
        return first
    return None
