"""The direct judge: a single answer, the JSON of the paper's Table 11, parsed by the tolerant parser.

It also answers a benchmark's own prompts, as plain text.
"""

from functools import partial

from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import DIRECT
from judge_r1.episode.rollout import TAGLESS_PARSERS
from judge_r1.judges.agentic import AgenticJudge, episode_config
from judge_r1.judges.backend_spec import LocalJudgeFactory, continuous_judge, judge_of_backend
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind


def direct_config(build: JudgeBuild) -> EpisodeConfig:
    """The agentic judge's configuration with `prompt=direct` and `search=false`, unless options set them.
    Raises: BadJudge for a prompt with tags, or with search."""
    named = {option.partition("=")[0] for option in build.options}
    usual = [text for text in (f"prompt={DIRECT}", "search=false") if text.partition("=")[0] not in named]
    config = episode_config(JudgeBuild(build.backend, [*usual, *build.options], recipe=build.recipe))
    if config.prompt not in TAGLESS_PARSERS or config.search:
        raise BadJudge(
            f"a direct judge answers once, without tags: prompt is {' or '.join(TAGLESS_PARSERS)}, search is false"
        )
    return config


def _make(build: JudgeBuild, local: LocalJudgeFactory = AgenticJudge) -> Judge:
    return judge_of_backend(build, "direct", direct_config, local, prompted=True)


JUDGES.register("direct")(
    JudgeKind(
        "answers once, as JSON; a folder, a hub name, bundled:NAME, URL#MODEL (chat) or vllm:URL#MODEL (token ids)",
        _make,
        served=partial(_make, local=continuous_judge),
    )
)
