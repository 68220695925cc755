"""Writes parts of a folder of conversations: chosen pairs, or the sides of a split by document."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from data_builders.dataset_type import BUILD_FILE, read_report, write_files
from data_builders.splits.policy import held_out
from data_builders.splits.split import REPORT_FILE
from judge_r1.core.conversations import (
    CONVERSATIONS_FILE,
    DOCUMENTS_FILE,
    VERIFICATION_FILE,
    Verification,
)
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import Record
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.jsonl import read_jsonl, write_json
from judge_r1.files.transcripts import read_conversations


def write_part(folder: Path, out: Path, kept: Collection[str], reports: Mapping[str, Any] | None = None) -> None:
    """Writes the pairs with these ids with their documents and verifications, and `reports` by file name, all or none.
    build.json says of which build they are a part.

    Raises:
        JudgeError: `out` is the folder itself, or a record is invalid.
    """
    if out.resolve() == folder.resolve():
        raise JudgeError(f"{out} holds the pairs themselves: give another --out")
    pairs, documents = read_conversations(folder)
    chosen = [pair for pair in pairs if pair.pair_id in kept]
    about = {pair.document_id for pair in chosen}
    verified = folder / VERIFICATION_FILE
    found = read_jsonl(verified, Verification, unique="pair_id") if verified.exists() else ()
    records: dict[str, Iterable[Record]] = {
        DOCUMENTS_FILE: (document for document in documents.values() if document.document_id in about),
        CONVERSATIONS_FILE: chosen,
        VERIFICATION_FILE: (verification for verification in found if verification.pair_id in kept),
    }
    build = read_report(folder / BUILD_FILE) if (folder / BUILD_FILE).is_file() else dict[str, Any]()
    settings: dict[str, Any] = {
        key: build[key] for key in ("generator", "seed", "source", "path", "variants") if key in build
    }
    part: dict[str, Any] = {"generator": "conversations", **settings, "part_of": str(folder)}
    write_files(out, records, {BUILD_FILE: part, **(reports or {})})


def split_conversations(
    folder: Path, out: Path, test_share: float, seed: int = 0, dev_share: float | None = None
) -> dict[str, dict[str, int]]:
    """Splits pairs by document into OUT/train, OUT/test and, with `dev_share`, OUT/dev. Near-duplicate documents stay
    together. Returns the numbers of documents and pairs of each part, which split.json records.

    Raises:
        JudgeError: A share is not between 0 and 1, or there are too few groups of documents.
    """
    pairs, documents = read_conversations(folder)
    from data_builders.splits.near_duplicates import THRESHOLD, components, near_duplicates

    ids = sorted({pair.document_id for pair in pairs})
    texts = [documents[document_id].context for document_id in ids]
    alike = near_duplicates(texts)
    groups = {document: ids[root] for document, root in zip(ids, components(len(ids), alike), strict=True)}
    test, dev = held_out(groups.values(), test_share, seed, dev_share)
    part_of = {
        document: "test" if group in test else "dev" if group in dev else "train" for document, group in groups.items()
    }
    parts = {
        name: {pair.pair_id: pair.document_id for pair in pairs if part_of[pair.document_id] == name}
        for name in ("train", *(("dev",) if dev else ()), "test")
    }
    counts = {name: {"documents": len(set(kept.values())), "pairs": len(kept)} for name, kept in parts.items()}
    settings = {"test_share": test_share, "seed": seed} | ({} if dev_share is None else {"dev_share": dev_share})
    with lock_folder(out):
        for name, kept in parts.items():
            write_part(folder, out / name, kept)
        near = {"threshold": THRESHOLD, "pairs": len(alike), "across": 0}
        report = {"folders": [str(folder)], "settings": settings, "near_duplicates": near, "parts": counts}
        write_json(out / REPORT_FILE, report)
    return counts
