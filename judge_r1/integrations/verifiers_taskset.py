"""Episodes as a taskset of verifiers, for models that call the tools `search` and `submit`.

vf-eval judge-r1-env --env.taskset.data data/pairs --env.agent.harness.id null --env.agent.runtime.type subprocess
"""

from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf
from pydantic import Field

from judge_r1.core.errors import JudgeError
from judge_r1.episode.config import EpisodeConfig, with_options
from judge_r1.files.pair_set import open_pairs
from judge_r1.integrations.episodes import SearchFailed, how_to_call, tool_prompt
from judge_r1.integrations.verifiers_tools import JudgeState, JudgeTools, JudgeToolsConfig


class JudgeData(vf.TaskData):  # type: ignore[misc]
    pair_id: str


class JudgeTasksetConfig(vf.TasksetConfig):  # type: ignore[misc]
    data: str = ""
    """The folder of cases and pairs. verifiers needs a default for each field."""
    episode: list[str] = Field(default_factory=list)
    """Options of the episode, such as `retriever=bm25`."""
    tools: JudgeToolsConfig = JudgeToolsConfig()


class JudgeTask(vf.Task[JudgeData, JudgeState]):  # type: ignore[misc]
    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        trace.state.session, trace.state.pair_id = trace.id, self.data.pair_id

    @vf.reward  # type: ignore[untyped-decorator]
    async def judgment(self, trace: vf.Trace) -> float:
        """r of the paper; 0 without a valid judgment. Raises: SearchFailed."""
        if trace.state.failure is not None:
            raise SearchFailed(trace.state.failure)
        return float(trace.state.reward.get("r", 0.0))

    @vf.metric  # type: ignore[untyped-decorator]
    async def parts(self, trace: vf.Trace) -> dict[str, float]:
        return dict(trace.state.reward)


class JudgeTaskset(vf.Taskset[JudgeTask, JudgeTasksetConfig]):  # type: ignore[misc]
    @classmethod
    def toolsets(cls, config: JudgeTasksetConfig) -> list[vf.Toolset]:
        # verifiers starts its tool servers in other folders.
        shared = {"data": str(Path(config.data).absolute()) if config.data else "", "episode": config.episode}
        return [JudgeTools(config.tools.model_copy(update=shared))]

    def load(self) -> Iterator[JudgeTask]:
        if not self.config.data:
            raise JudgeError("name the folder of cases and pairs: --env.taskset.data data/pairs")
        data, config = open_pairs(Path(self.config.data)), with_options(EpisodeConfig(), self.config.episode)
        if config.tools:
            raise JudgeError("the tool server of this taskset has search and submit alone: leave out tools")
        for pair in data.pairs:
            *system, user = tool_prompt(pair, data, config)
            prompt = [vf.UserMessage(content=user["content"] + how_to_call(config))]
            yield JudgeTask(
                JudgeData(
                    id=pair.pair_id,
                    pair_id=pair.pair_id,
                    system_prompt=system[0]["content"] if system else None,
                    prompt=prompt,
                ),
                self.config.task,
            )
