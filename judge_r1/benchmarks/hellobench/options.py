"""The options of a HelloBench evaluation, and the subset text that they are parsed from.

The text is a list of parts, separated by commas:

* a task (`chat`) or a category (`book`): judge these only; several are added
* `responses=FOLDER`: the responses to judge, of one system or, in subfolders, of several
* `exp=main_exp` (default), `longcontext_exp` or `length_constrained_exp`: the release's experiment, without `responses`
* `system=NAME`: this system only
* `weights=FILE`, or `weights=average` for equal weights; by default the release's weights if the checkout has them
* `human=FILE`: human annotations, for the correlation with the overall score
* `gold=FOLDER`: judgements in the release's format, or an evaluation, to compare the item scores with
* `references=FILE`: JSON Lines of `id` and `reference`, for BLEU, ROUGE-L and METEOR
* `perplexity=MODEL`: a causal language model, for the perplexity of the texts (the paper's is gpt2-large)
* `refusals=FILE`: the first words of a refusal, one phrase on each line
* `against=NAME`: the system that the others are compared with, for their win rates
* `legacy_join=true`: show responses to the judge as the release did, without their layout
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.core.registry import suggest

EXPERIMENTS = ("main_exp", "longcontext_exp", "length_constrained_exp")
_PATHS = ("responses", "human", "gold", "references", "refusals")
_NAMES = (*_PATHS, "weights", "exp", "system", "perplexity", "against", "legacy_join")


@dataclass(frozen=True)
class HelloBenchOptions:
    """What is judged and how it is scored."""

    parts: tuple[str, ...] = ()
    """Tasks and categories; empty for all."""
    responses: Path | None = None
    experiment: str | None = None
    """None for the first of `EXPERIMENTS`."""
    system: str | None = None
    weights: str | None = None
    human: Path | None = None
    gold: Path | None = None
    references: Path | None = None
    refusals: Path | None = None
    perplexity: str | None = None
    against: str | None = None
    legacy_join: bool = False


def generation_options(text: str | None) -> HelloBenchOptions:
    """The options that choose instructions. Raises: BadBenchmark for an option that is for the responses."""
    return parse_options(text, {name: "is for `judge-r1 eval`" for name in _NAMES if name != "exp"})


def parse_options(text: str | None, unused: Mapping[str, str] = MappingProxyType({})) -> HelloBenchOptions:
    """The options of the text. `unused` says why some have no effect. Raises: BadBenchmark for an unknown option, and
    for one in `unused`."""
    parts, named = [], dict[str, str]()
    for part in (text or "").split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            parts += [name] if name else []
            continue
        if name not in _NAMES:
            raise BadBenchmark(f"hellobench has no option {name!r}{suggest(name, _NAMES)}")
        if name in unused:
            raise BadBenchmark(f"hellobench: {name} {unused[name]}: leave it out")
        if not value or name in named:
            raise BadBenchmark(f"hellobench: give {name}=VALUE once")
        named[name] = value
    if named.get("exp", EXPERIMENTS[0]) not in EXPERIMENTS:
        raise BadBenchmark(f"hellobench: exp is one of {', '.join(EXPERIMENTS)}, not {named['exp']!r}")
    if "exp" in named and "responses" in named:
        raise BadBenchmark("hellobench: exp chooses among the released results; with responses it has no meaning")
    if named.get("legacy_join", "true") not in ("true", "false"):
        raise BadBenchmark(f"hellobench: legacy_join is true or false, not {named['legacy_join']!r}")
    paths = {name: Path(named[name]) for name in _PATHS if name in named}
    return HelloBenchOptions(
        parts=tuple(parts),
        experiment=named.get("exp"),
        system=named.get("system"),
        weights=named.get("weights"),
        perplexity=named.get("perplexity"),
        against=named.get("against"),
        legacy_join=named.get("legacy_join") == "true",
        **paths,
    )
