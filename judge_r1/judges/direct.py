"""The direct judge: one answer, the JSON of the paper's Table 11, read by the tolerant parser.

It also answers prompts that a benchmark words itself, as plain text.
"""

from functools import partial

from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import DIRECT
from judge_r1.episode.rollout import BARE
from judge_r1.judges.agentic import AgenticJudge, episode_config
from judge_r1.judges.backend_spec import Local, judge_at, on_engine
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind


def direct_config(build: JudgeBuild) -> EpisodeConfig:
    """As the agentic judge finds it, with the prompt `direct` and without searches unless an option says otherwise.
    Raises: BadJudge for what is not one answer without tags."""
    named = {option.partition("=")[0] for option in build.options}
    usual = [text for text in (f"prompt={DIRECT}", "search=false") if text.partition("=")[0] not in named]
    config = episode_config(JudgeBuild(build.backend, [*usual, *build.options], recipe=build.recipe))
    if config.prompt not in BARE or config.search:
        raise BadJudge(f"a direct judge answers once, without tags: prompt is {' or '.join(BARE)}, search is false")
    return config


def _make(build: JudgeBuild, local: Local = AgenticJudge) -> Judge:
    return judge_at(build, "direct", direct_config, local, prompted=True)


JUDGES.register("direct")(
    JudgeKind(
        "answers once, as JSON; a folder, a hub name, bundled:NAME, URL#MODEL (chat) or vllm:URL#MODEL (token ids)",
        _make,
        served=partial(_make, local=on_engine),
    )
)
