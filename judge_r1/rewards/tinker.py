"""A group of tinker-cookbook whose replies to one prompt are compared with each other.

JudgedGroup(messages, renderer, group_size=16, judge="http://127.0.0.1:8000")

An RLDataset returns such groups. The reward of a reply is its score in [0, 1].
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinker_cookbook import renderers
from tinker_cookbook.rl import types as rl
from tinker_cookbook.rl.preference_envs import PreferenceEnv

from judge_r1.rewards.collector import JudgmentFailed
from judge_r1.rewards.group_judge import Group, shared_judge
from judge_r1.rewards.pair_judge import Question
from judge_r1.rewards.schedule import Schedule
from judge_r1.rewards.texts import text_of


@dataclass(frozen=True)
class JudgedGroup(rl.EnvGroupBuilder):  # type: ignore[misc]
    """The replies to `messages`, which is about the case `context`, if there is one. `judge` is a SPEC or the URL of
    `judge-r1 serve`. The schedule `anchor` compares with `reference`."""

    messages: Sequence[renderers.Message]
    renderer: renderers.Renderer
    group_size: int
    judge: str
    schedule: Schedule = "circular"
    context: str = ""
    reference: str | None = None

    async def make_envs(self) -> Sequence[rl.Env]:
        return [PreferenceEnv(list(self.messages), self.renderer) for _ in range(self.group_size)]

    async def compute_group_rewards(
        self, trajectory_group: list[rl.Trajectory], env_group: Sequence[rl.Env]
    ) -> list[tuple[float, rl.Metrics]]:
        """Raises: JudgmentFailed if a reply has no score. A strategy such as `RetryOnFailure` then skips the group."""
        actions = [one.transitions[-1].ac.tokens for one in trajectory_group]
        replies = [renderers.get_text_content(self.renderer.parse_response(action)[0]) for action in actions]
        group = Group(Question(text_of(list(self.messages)), self.context), replies, self.reference)
        [found] = await shared_judge(self.judge, schedule=self.schedule).score([group])
        metrics = {"judge/failure_rate": found.failed / max(1, len(found.comparisons))}
        rewards = [(score, metrics) for score in found.scores if score is not None]
        if len(rewards) < len(replies):
            raise JudgmentFailed(f"a reply has no judgment: {next(filter(None, found.failures))}")
        return rewards
