"""A backend that writes scripted text: for tests of everything around a model."""

from collections.abc import Sequence

from judge_r1.episode.driver import SearchFunction
from judge_r1.episode.machine import Episode, EpisodeTokenizer, Sample, Search


class ScriptedBackend:
    """`lines[i]` holds what episode i writes, one string for each of its turns."""

    def __init__(self, tokenizer: EpisodeTokenizer, lines: Sequence[Sequence[str]]) -> None:
        self.tokenizer, self.lines = tokenizer, lines

    def run_episodes(self, episodes: Sequence[Episode], search: SearchFunction, temperature: float) -> None:
        for index, (episode, turns) in enumerate(zip(episodes, self.lines, strict=True)):
            for text in turns:
                if not isinstance(episode.state, Sample):
                    break
                ids = self.tokenizer.encode_trusted(text)
                episode.feed(ids, [-0.5] * len(ids))
                if isinstance(episode.state, Search):
                    episode.observe(search([(index, episode.state.query)])[0])
