"""A single turn of plain text as an episode, for prompts that a benchmark defines."""

from collections.abc import Sequence

from judge_r1.core.records import Trajectory, Turn
from judge_r1.episode.answer_text import answer_span, first_turn, thought_is_open
from judge_r1.episode.machine import Episode, Sample


class SingleTurnEpisode(Episode):
    """Generates text up to EOS. Tags are text; nothing is searched or parsed. Ends as `turn_budget` without an EOS, and
    as `unclosed_think` with an EOS inside a thought."""

    def feed(self, ids: Sequence[int], logprobs: Sequence[float]) -> int:
        if not isinstance(self.state, Sample):
            raise RuntimeError(f"feed() in state {self.state}: the episode does not wait for tokens")
        if len(ids) != len(logprobs):
            raise ValueError(f"{len(ids)} ids with {len(logprobs)} log-probabilities")
        for used, (token, logprob) in enumerate(zip(ids, logprobs, strict=True), 1):
            self._append([token], 1, [logprob])
            self._turn_tokens += 1
            if token in self.eos_ids:
                self._finish("unclosed_think" if thought_is_open(self._scanner.text) else "answer")
                return used
            self._scanner.append(self._stream.push(token))
            if self._left() <= 0:
                self._finish("turn_budget")
                return used
            self._state = Sample(self._left())
        return len(ids)

    def trajectory(self) -> Trajectory:
        """Thoughts are a separate turn; the last turn is the answer."""
        whole = super().trajectory()
        if len(whole.turns) != 1:
            return whole
        return whole.model_copy(update={"turns": thought_and_answer(whole.turns[0].text)})


def thought_and_answer(text: str) -> tuple[Turn, ...]:
    """The turns of a reply: its thoughts, if any, and its answer. Text behind the end of the turn is left out."""
    start, text = answer_span(text)[0], first_turn(text)
    thoughts = [Turn(text=text[:start])] if start else []
    return (*thoughts, Turn(text=text[start:].lstrip("\n") if start else text))
