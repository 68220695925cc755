"""The searches of episodes, each in the one case of its episode. All queries go to a retriever here."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from judge_r1.core.verdicts import Evidence
from judge_r1.episode.case_retriever import fill_index, new_retriever
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import CaseSearch, SearchFunction


class CaseSearcher:
    """Searches `texts` with the retriever of a configuration (see `new_retriever`). A subclass names in `settings` how
    it differs."""

    settings: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, texts: Mapping[str, str], config: EpisodeConfig, *, device: str | None = None) -> None:
        self.texts, self.top_k = texts, config.budget.top_k
        self.retriever = new_retriever(texts, config, device=device)

    def prepare(self, case_ids: Sequence[str]) -> None:
        """Embeds the cases that the store lacks."""
        fill_index(self.retriever, self.texts, case_ids)

    def search(self, requests: Sequence[tuple[str, str]], k: int) -> list[list[Evidence]]:
        """The best `k` passages for each (case id, query), in order."""
        found = self.retriever.search(requests, k)
        # Each passage gets the id that was asked for, not one from the retriever, so evidence shows what was searched.
        return [
            [
                Evidence(case_id=case_id, start=h.passage.start, end=h.passage.end, text=h.passage.text, score=h.score)
                for h in hits
            ]
            for (case_id, _), hits in zip(requests, found, strict=True)
        ]

    def of_case(self, case_id: str) -> CaseSearch:
        """The search function of one episode."""
        return lambda query: self.search([(case_id, query)], self.top_k)[0]

    def of_cases(self, case_ids: Sequence[str]) -> SearchFunction:
        """The search function of a batch of episodes: episode i searches the case `case_ids[i]` and no other."""
        return lambda queries: self.search([(case_ids[index], query) for index, query in queries], self.top_k)
