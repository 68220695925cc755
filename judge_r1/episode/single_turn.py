"""One turn of plain text, for prompts that a benchmark words itself: played by the same backends as an episode."""

from collections.abc import Sequence

from judge_r1.core.records import Trajectory, Turn
from judge_r1.episode.machine import Episode, Sample

_THOUGHT_ENDS = "</think>"


class SingleTurnEpisode(Episode):
    """Text up to EOS, whatever it says: tags are text, nothing is searched, nothing parsed. Without EOS within the
    budget it ends as `turn_budget`."""

    def feed(self, ids: Sequence[int], logprobs: Sequence[float]) -> int:
        if not isinstance(self.state, Sample):
            raise RuntimeError(f"feed() in state {self.state}: nothing is to be sampled")
        if len(ids) != len(logprobs):
            raise ValueError(f"{len(ids)} ids with {len(logprobs)} log-probabilities")
        for used, (token, logprob) in enumerate(zip(ids, logprobs, strict=True), 1):
            self._append([token], 1, [logprob])
            self._turn_tokens += 1
            if token in self.eos_ids:
                self._finish("answer")
                return used
            self._scanner.text += self._stream.push(token)
            if self._left() <= 0:
                self._finish("turn_budget")
                return used
            self._state = Sample(self._left())
        return len(ids)

    def trajectory(self) -> Trajectory:
        """The thought that a model opens with stands in a turn of its own: the last turn is what it says."""
        whole = super().trajectory()
        if len(whole.turns) != 1:
            return whole
        return whole.model_copy(update={"turns": thought_and_text(whole.turns[0].text)})


def thought_and_text(text: str) -> tuple[Turn, ...]:
    """`<think>…</think>` at the head of a text apart from the rest of it."""
    thought, mark, said = text.partition(_THOUGHT_ENDS)
    if not mark:
        return (Turn(text=text),)
    return Turn(text=thought + mark), Turn(text=said.lstrip("\n"))
