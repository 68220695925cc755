"""The direct judge: a single answer, the JSON of the paper's Table 11, parsed by the tolerant parser.

It also answers a benchmark's own prompts, as plain text. `prompt=FILE.txt` asks in the words of a template of the user.
Other options make it a prompting baseline:
`prompt=chain-of-thought` reasons first, `examples=FOLDER` (with `shots`) shows solved pairs, and `retrieve=K` shows K
passages instead of the case. `decoding=constrained` lets a local model answer a benchmark's prompt in the right form
only, if the benchmark has one (`judge_r1.judges.constrained`).
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from judge_r1.episode.case_searcher import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import DIRECT
from judge_r1.episode.rollout import TAGLESS_PARSERS, parser_without_tags
from judge_r1.judges.agentic import AgenticJudge, episode_config
from judge_r1.judges.backend_spec import (
    ENDPOINT_OPTIONS,
    LocalJudgeFactory,
    continuous_judge,
    judge_of_backend,
    split_options,
    with_defaults,
)
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind, whole_number
from judge_r1.judges.constrained import ConstrainedJudge, is_constrained
from judge_r1.judges.few_shot import FewShotExamples
from judge_r1.judges.rewritten import RewritingJudge, retrieve_once
from judge_r1.models.open_model import is_chat

SHOTS = 3
"""The number of examples of a few-shot judge."""
CHAT_TOKENS = 16_384
"""The default limit of an answer at a chat endpoint, where the thoughts of a reasoning model count too."""


def direct_config(build: JudgeBuild) -> EpisodeConfig:
    """The agentic judge's configuration with `prompt=direct` and `search=false`, and `CHAT_TOKENS` at a chat endpoint,
    unless options, a recipe or the benchmark set them. Raises: BadJudge for a prompt with tags, or with search."""
    usual = [f"prompt={DIRECT}", "search=false"]
    if is_chat(build.backend) and build.recipe is None and build.limits.response_tokens is None:
        usual.append(f"budget.response_tokens={CHAT_TOKENS}")
    config = episode_config(with_defaults(build, *usual))
    if parser_without_tags(config.prompt, TAGLESS_PARSERS) is None or config.search:
        raise BadJudge(
            f"a direct judge answers once, without tags: prompt is {', '.join(TAGLESS_PARSERS)} or a file "
            "FILE.txt, search is false"
        )
    return config


def make(build: JudgeBuild, local: LocalJudgeFactory = AgenticJudge) -> Judge:
    """A direct judge; `local` makes it for a model that is loaded here. Raises: BadJudge, EndpointError."""
    build, own = split_options(build, ("examples", "shots", "retrieve", "decoding"))
    if is_constrained("direct", own.get("decoding"), build.backend):
        local = ConstrainedJudge
    shots, retrieve = (whole_number("direct", own, name) for name in ("shots", "retrieve"))
    # Without the endpoint's options, which the judge takes out itself: an episode has no such fields.
    config = direct_config(split_options(build, ENDPOINT_OPTIONS)[0])
    examples = _examples(own, shots, config, build)
    judge = judge_of_backend(build, "direct", direct_config, local, prompted=True)
    if examples:
        judge = RewritingJudge(judge, examples.rewrite, {"shots": examples.shots, "examples": examples.digest})
    if retrieve:
        # The search runs before the prompt is made, so it is on here although the judge itself does not search.
        searcher = CaseSearcher(build.texts, config.model_copy(update={"search": True}))
        judge = RewritingJudge(judge, retrieve_once(searcher, retrieve), {"retrieve": retrieve}, searcher.prepare)
    return judge


def _examples(
    own: Mapping[str, str], shots: int | None, config: EpisodeConfig, build: JudgeBuild
) -> FewShotExamples | None:
    if "examples" not in own:
        if shots:
            raise BadJudge(f"direct:shots={shots} has no examples: add examples=FOLDER, a folder of training pairs")
        return None
    if config.prompt != DIRECT:
        raise BadJudge(f"direct:examples=FOLDER works with prompt={DIRECT} alone, not with prompt={config.prompt}")
    return FewShotExamples(Path(own["examples"]), shots or SHOTS, build.texts, build.sampling.seed)


JUDGES.register("direct")(
    JudgeKind(
        "answers once, as JSON; a folder, a hub name, bundled:NAME, URL#MODEL (chat) or vllm:URL#MODEL (token ids)",
        make,
        served=partial(make, local=continuous_judge),
    )
)
