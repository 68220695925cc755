"""The agentic judge: episodes with search, played by a local model. With search off it is a plain one-turn judge."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from judge_r1.asks import Ask, Prompted
from judge_r1.clock import Clock
from judge_r1.config import EpisodeConfig, load_recipe, with_options
from judge_r1.episode import Episode
from judge_r1.judges import JUDGES, BadJudge, JudgeKind, Making, Played
from judge_r1.models import context_length, eos_ids, load_model, load_tokenizer
from judge_r1.play import PromptTooLong, episode_seed, new_retriever, play_episodes, question_episode
from judge_r1.records import Trajectory
from judge_r1.tokens import Codec

TOO_LONG = "prompt_too_long"
"""How an episode ends that could not begin: its prompt, with room for an answer, is more than may be read."""


class AgenticJudge:
    """`making.backend` is a model's name or folder (`judge_r1.models`)."""

    def __init__(self, making: Making, config: EpisodeConfig) -> None:
        from judge_r1.backends.transformers import TransformersBackend

        model = making.backend
        loaded, tokenizer = load_model(model), load_tokenizer(model)
        self.config, self.sampling, self.batch_size = config, making.sampling, making.batch_size
        self._name, self._context_length = f"agentic@{model}", context_length(model)
        self._codec, self._eos = Codec(tokenizer), eos_ids(model, tokenizer)
        self._backend = TransformersBackend(loaded, pad_id=tokenizer.pad_token_id, batch_size=self.batch_size)
        self._retriever = new_retriever(making.texts, config)

    @property
    def name(self) -> str:
        return self._name

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "temperature": self.sampling.temperature,
            "seed": self.sampling.seed,
            "parser": "strict",
            **self.config.model_dump(mode="json"),
        }

    def check(self, asks: Sequence[Ask]) -> None:
        """Errors: BadJudge where not one prompt fits; those that do not are counted as invalid answers."""
        refusals = [refusal for ask in asks if (refusal := self._begin(ask)) is not None and isinstance(refusal, str)]
        if len(refusals) == len(asks):
            raise BadJudge(f"not one of {len(asks)} prompts fits: {refusals[0]}")

    async def play(self, asks: Sequence[Ask]) -> AsyncIterator[Played]:
        """In batches; games come as each batch ends."""
        for start in range(0, len(asks), self.batch_size):
            batch = [(ask, self._begin(ask)) for ask in asks[start : start + self.batch_size]]
            for ask, refused in batch:
                if isinstance(refused, str):
                    yield _played(ask, too_long(refused))
            begun = [(ask, episode) for ask, episode in batch if isinstance(episode, Episode)]
            trajectories = play_episodes(
                [episode for _, episode in begun],
                [ask.case_id or "" for ask, _ in begun],
                self._retriever,
                self._backend,
                top_k=self.config.budget.top_k,
                temperature=self.sampling.temperature,
                clock=Clock(),
            )
            for (ask, _), trajectory in zip(begun, trajectories, strict=True):
                yield _played(ask, trajectory)

    def _begin(self, ask: Ask) -> Episode | str:
        """The episode of an ask, or why there is none."""
        if isinstance(ask.question, Prompted):
            raise BadJudge(f"{self._name} compares two candidates; item {ask.item.item_id} asks for something else")
        seed = episode_seed(self.sampling.seed, ask.item.item_id, ask.sample, ask.order)
        where = f"item {ask.item.item_id}"
        try:
            episode = question_episode(ask.question, self.config, self._codec, self._eos, where=where, seed=seed)
        except PromptTooLong as error:
            return str(error)
        length, room = len(episode.prompt_ids), episode.budget.episode_tokens
        if self._context_length and length + room > self._context_length:
            return (
                f"{where}: its prompt of {length} tokens and an episode of up to {room} are more than the "
                f"{self._context_length} tokens that the model reads: lower the budget, or leave it out"
            )
        return episode


def too_long(why: str) -> Trajectory:
    """The trajectory of an ask whose prompt does not fit: nothing was cut, nothing was asked."""
    return Trajectory(
        prompt_ids=(), token_ids=(), loss_mask=(), logprobs=(), turns=(), judgment=None, ended=TOO_LONG, text_only=True
    )


def episode_config(making: Making) -> EpisodeConfig:
    """As in the recipe given, or that of the run a model lies in, or the defaults; options win."""
    beside = Path(making.backend).parent / "recipe.yaml"
    found = making.recipe or (beside if beside.exists() else None)
    return with_options(load_recipe(found).episode if found else EpisodeConfig(), list(making.options))


def _played(ask: Ask, trajectory: Trajectory) -> Played:
    return Played(ask, trajectory, ask.read(trajectory))


JUDGES.register("agentic")(
    JudgeKind(
        "thinks and searches the case before it decides; a folder, a hub name or bundled:NAME",
        lambda making: AgenticJudge(making, episode_config(making)),
    )
)
