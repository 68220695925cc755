"""`build teacher=SPEC candidates=N` asks for N variants of a set and keeps those that leak least."""

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import fake_teacher
import fault_run
import pytest
from fake_llm_server import FakeLLMServer

from data_builders.build import build_by_teacher
from data_builders.generators.base import BuildPlan
from data_builders.perturb.teacher.generate import VariantStats, perturb_by_teacher
from data_builders.placement import set_name
from data_builders.teachers import TeacherReply, TeacherRequest
from judge_r1.core.records import ReasoningPair
from judge_r1.files.pair_set import load_pairs

ASKED, KEPT = 5, 2


@pytest.fixture
def server() -> Iterator[FakeLLMServer]:
    with FakeLLMServer(fake_teacher.liar) as running:
        yield running


def run(server: FakeLLMServer, out: Path, *more: object, cases: int = 3, variants: int = KEPT) -> None:
    plan = ["builtin", f"limit={cases}", f"variants={variants}", f"teacher={server.chat}", *more, "--out", out]
    cache = out.with_suffix(".sqlite")
    fault_run.build([str(one) for one in plan], server, cache, kills=[], seed=0, timeout_s=120)


def report_of(out: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((out / "build.json").read_text())
    return report


def sets(out: Path) -> dict[tuple[str, str], list[ReasoningPair]]:
    """The pairs of a build by case and set, in the order of the file."""
    found = defaultdict(list)
    for pair in load_pairs(out).pairs:
        found[pair.case_id, set_name(pair)].append(pair)
    return found


def lean(pairs: list[ReasoningPair]) -> float:
    """How far the sums of the differences in length are from zero, over the groups of principle and domain."""
    sums = Counter[tuple[str, str]]()
    for pair in pairs:
        sums[set_name(pair), pair.domain] += len(pair.flawed) - len(pair.reference)
    return sum(map(abs, sums.values()))


def three_longer_and_two_shorter(system: str, user: str, sample: int) -> str:
    """Changes the k-th line: the first three variants add words, and the others leave some out."""
    reasoning, target = re.search(r"<reasoning>\n(.*)\n</reasoning>", user, re.S), re.search(r"principle: (\d)", user)
    assert reasoning
    assert target
    parts = []
    for number in map(int, re.findall(r"^Flawed Variant (\d+):$", user, re.M)):
        lines = reasoning[1].split("\n")
        if number > len(lines):
            continue
        words = lines[number - 1].rstrip(".").split(" ")
        words = [*words, "so", "the", *["violet"] * int(target[1])] if number <= 3 else words[: -1 - int(target[1])]
        lines[number - 1] = " ".join(words) + "."
        parts.append("\n".join([f"Flawed Variant {number}:", *lines]))
    return "\n\n".join(parts)


def test_the_chosen_variants_lean_less_than_the_first_ones(tmp_path: Path) -> None:
    more = ("kinds=single", "concurrency=4")
    with FakeLLMServer(three_longer_and_two_shorter) as server:
        run(server, tmp_path / "all", *more, cases=8, variants=ASKED)
        asked = server.served.total()
        (tmp_path / "chosen.sqlite").write_bytes((tmp_path / "all.sqlite").read_bytes())
        run(server, tmp_path / "chosen", f"candidates={ASKED}", *more, cases=8)
        assert server.served.total() == asked, "the requests are those of so many variants"
    everything, chosen = sets(tmp_path / "all"), sets(tmp_path / "chosen")
    first = [pair for pairs in everything.values() for pair in pairs[:KEPT]]
    kept = [pair for pairs in chosen.values() for pair in pairs]
    assert lean(kept) < 0.5 * lean(first)
    assert list(chosen) == list(everything)
    for name, pairs in everything.items():
        assert {pair.pair_id for pair in chosen[name]} <= {pair.pair_id for pair in pairs}
        assert [pair.variant for pair in chosen[name]] == list(range(1, min(KEPT, len(pairs)) + 1))
    report = report_of(tmp_path / "chosen")
    left = Counter[str]()
    for (_, name), pairs in everything.items():
        left[name] += max(0, len(pairs) - KEPT)
    assert (report["candidates"], report["left_over"]) == (ASKED, dict(left))
    assert left.total() > 0
    assert report["teacher"] == report_of(tmp_path / "all")["teacher"]


class Honest:
    """The fake teacher without a network, with random delays up to `delay_s`."""

    name = "chat:toy"

    def __init__(self, delay_s: float = 0.0) -> None:
        self.rng, self.delay_s = Random(0), delay_s

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        await asyncio.sleep(self.delay_s * self.rng.random())
        text = fake_teacher.honest(request.system, request.user, request.sample)
        return TeacherReply(text=text, input_tokens=1, output_tokens=1, finished=True, model="toy")


def test_the_order_of_the_cases_is_that_of_the_choice(tmp_path: Path) -> None:
    plan = BuildPlan(source="mini", variants=1, limit=6, candidates=3)
    for name, delay_s, concurrency in (("one", 0.0, 1), ("many", 0.03, 6)):
        asyncio.run(build_by_teacher(plan, tmp_path / name, Honest(delay_s), concurrency=concurrency))
    assert (tmp_path / "one" / "pairs.jsonl").read_bytes() == (tmp_path / "many" / "pairs.jsonl").read_bytes()


def test_without_candidates_nothing_is_chosen(tmp_path: Path) -> None:
    """The first `variants` variants are asked for and written as they are, and the report has no new entry."""
    report = asyncio.run(build_by_teacher(BuildPlan(source="mini", variants=3, limit=4), tmp_path, Honest()))

    async def variants() -> list[ReasoningPair]:
        asked = {"kinds": ("single", "multi"), "variants": 3, "seed": 0}
        cases = load_pairs(tmp_path).cases.values()
        return [p for case in cases for p in await perturb_by_teacher(case, Honest(), stats=VariantStats(), **asked)]  # type: ignore[arg-type]

    assert list(load_pairs(tmp_path).pairs) == asyncio.run(variants())
    assert not {"candidates", "left_over"} & set(report)
