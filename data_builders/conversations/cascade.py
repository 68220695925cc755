"""Counts how many candidates pass each layer of the verifier, by domain, failure type and user behaviour."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from judge_r1.core.conversations import Verification

LAYERS = ("coherence", "adherence", "grounding")


class Cascade:
    """Counts by cell: how many candidates were made, and how many failed first at each layer."""

    def __init__(self) -> None:
        self._made: Counter[tuple[str, str, str]] = Counter()
        self._failed: Counter[tuple[tuple[str, str, str], str]] = Counter()
        self._issues: Counter[str] = Counter()
        self._empty_turns = 0

    def add(self, found: Iterable[Verification]) -> None:
        for verification in found:
            cell = (verification.domain, verification.failure, verification.user_behaviour)
            self._made[cell] += 1
            self._empty_turns += verification.empty_turns
            if layer := verification.failed:
                self._failed[cell, layer] += 1
                self._issues[f"{layer}: {verification.issue.partition(':')[0]}"] += 1

    @property
    def issues(self) -> Mapping[str, int]:
        """How many candidates failed for each reason, as `layer: reason`."""
        return self._issues

    def as_dict(self) -> dict[str, Any]:
        """Totals, totals by each label, every cell, and the reasons of the failures."""
        return {
            "all": self._row(self._made),
            **{
                f"by_{name}": {
                    value: self._row([cell for cell in self._made if cell[position] == value])
                    for value in sorted({cell[position] for cell in self._made})
                }
                for position, name in enumerate(("domain", "failure", "user"))
            },
            "cells": [
                {"domain": domain, "failure": failure, "user": user, **self._row([(domain, failure, user)])}
                for domain, failure, user in sorted(self._made)
            ],
            "issues": dict(sorted(self._issues.items(), key=lambda pair: (-pair[1], pair[0]))),
            "turns_without_a_claim": self._empty_turns,
        }

    def _row(self, cells: Iterable[tuple[str, str, str]]) -> dict[str, int]:
        chosen = list(cells)
        made = sum(self._made[cell] for cell in chosen)
        failed = {layer: sum(self._failed[cell, layer] for cell in chosen) for layer in LAYERS}
        return {"candidates": made, **failed, "kept": made - sum(failed.values())}
