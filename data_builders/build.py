"""`build`: cases of a source in, labelled pairs out. Same input and seed, same bytes."""

import resource
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.progress import track

from data_builders.perturb.engine import perturb
from data_builders.sources import SOURCES
from judge_r1.errors import JudgeError
from judge_r1.jsonl import write_json, write_jsonl
from judge_r1.pairs import CASES_FILE, PAIRS_FILE, PairSet
from judge_r1.principles import by_number
from judge_r1.records import Case, ReasoningPair

KINDS = ("single", "multi")


def build(
    source: str,
    out: Path,
    *,
    path: Path | None = None,
    kinds: Sequence[str] = KINDS,
    variants: int = 5,
    seed: int = 0,
    limit: int | None = None,
) -> dict[str, Any]:
    """Write cases.jsonl, pairs.jsonl, build.json (counts) and timing.json (the only file that differs between runs).

    A case whose reasoning no operator can break stays in cases.jsonl and is counted. Returns build.json.
    """
    unknown = sorted(set(kinds) - set(KINDS))
    if unknown or not kinds:
        raise JudgeError(f"--kinds takes {' and '.join(KINDS)}, not {', '.join(unknown) or 'nothing'}")
    started = time.monotonic()
    corpus = SOURCES.get(source)
    skipped: Counter[str] = Counter()
    abstained: Counter[str] = Counter()
    cases: dict[str, Case] = {}
    for case in corpus.read(path, limit, seed, skipped):
        if case.case_id in cases:
            skipped[f"{source}: the same case again"] += 1
        else:
            cases[case.case_id] = case
    read_seconds = time.monotonic() - started
    pairs: list[ReasoningPair] = []
    for case in track(cases.values(), description=f"perturbing {source}", transient=True):
        pairs += perturb(
            case, kinds=kinds, variants=variants, seed=seed, rule_set=corpus.operators, abstained=abstained
        )
    if not pairs:
        raise JudgeError(f"source {source!r} gave {len(cases)} cases and no pair (skipped: {dict(skipped) or 'none'})")
    counts = {
        "source": source,
        "seed": seed,
        "variants": variants,
        "kinds": list(kinds),
        "cases": len(cases),
        "pairs": len(pairs),
        **count_pairs(pairs),
        "skipped_cases": dict(sorted(skipped.items())),
        "abstained": dict(sorted(abstained.items())),
    }
    write_jsonl(out / CASES_FILE, cases.values())
    write_jsonl(out / PAIRS_FILE, pairs)
    write_json(out / "build.json", counts)
    timing = {
        "read_seconds": round(read_seconds, 2),
        "seconds": round(time.monotonic() - started, 2),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    write_json(out / "timing.json", timing)
    return counts


def count_pairs(pairs: Sequence[ReasoningPair]) -> dict[str, Any]:
    """Pairs by domain, by kind, by principle (a pair counts under each) and by operator."""
    return {
        "by_domain": dict(sorted(Counter(p.domain for p in pairs).items())),
        "by_kind": dict(sorted(Counter(p.kind for p in pairs).items())),
        "by_principle": dict(sorted(Counter(by_number(n).code for p in pairs for n in p.violated).items())),
        "by_operator": dict(sorted(Counter(f.operator for p in pairs for f in p.origin.flaws).items())),
    }


def write_pairs(data: PairSet, out: Path) -> None:
    """A pair set as a folder that `load_pairs` reads."""
    write_jsonl(out / CASES_FILE, data.cases.values())
    write_jsonl(out / PAIRS_FILE, data.pairs)
