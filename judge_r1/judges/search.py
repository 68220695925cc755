"""The searches of a judge's episodes, each in the one case of its episode."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from judge_r1.core.verdicts import Evidence
from judge_r1.episode.case_retriever import fill_index, new_retriever
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import CaseSearch, SearchFunction
from judge_r1.episode.rollout import batch_search


class CaseSearcher:
    """Searches `texts` with the retriever of a configuration. A subclass names in `settings` how it differs."""

    settings: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, texts: Mapping[str, str], config: EpisodeConfig) -> None:
        self.texts, self.top_k = texts, config.budget.top_k
        self.retriever = new_retriever(texts, config)

    def prepare(self, case_ids: Sequence[str]) -> None:
        """Embeds the cases that the store lacks."""
        fill_index(self.retriever, self.texts, case_ids)

    def search(self, requests: Sequence[tuple[str, str]], k: int) -> list[list[Evidence]]:
        """The best `k` passages for each (case id, query), in order."""
        find = batch_search(self.retriever, [case_id for case_id, _ in requests], k)
        return find([(index, query) for index, (_, query) in enumerate(requests)])

    def of_case(self, case_id: str) -> CaseSearch:
        """The search function of one episode."""
        return lambda query: self.search([(case_id, query)], self.top_k)[0]

    def of_cases(self, case_ids: Sequence[str]) -> SearchFunction:
        """The search function of a batch of episodes: episode i is about the case `case_ids[i]`."""
        return lambda queries: self.search([(case_ids[index], query) for index, query in queries], self.top_k)
