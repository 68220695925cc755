"""Acknowledged answers survive kills and full disks; incomplete ones are dropped."""

import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from audit_factories import choose, sample_pairs
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from data_builders.audit.annotation.record_log import RecordLog
from judge_r1.files.jsonl import dump_line
from judge_r1.labels.audit_answers import AnswerFileError, Choice, read_log

PAIRS = sample_pairs().pairs


def test_a_missing_file_has_no_answers(tmp_path: Path) -> None:
    assert read_log(tmp_path / "none.jsonl", Choice) == []


@given(cut=st.integers(min_value=1, max_value=10_000))
def test_a_truncation_at_any_byte_loses_only_the_incomplete_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "answers.jsonl"
    answers = [choose(pair, True) for pair in PAIRS[:4]]
    lines = [dump_line(answer).encode() for answer in answers]
    whole = b"".join(lines)
    path.write_bytes(whole[: cut % (len(whole) + 1)])
    complete = [a for n, a in enumerate(answers) if len(b"".join(lines[: n + 1])) - 1 <= cut % (len(whole) + 1)]
    assert read_log(path, Choice) == complete
    with RecordLog(path, Choice) as log:
        assert list(log.answers) == complete
        log.append(answers[0])
    assert read_log(path, Choice) == [*complete, answers[0]]
    assert path.read_bytes().endswith(b"\n")


def test_an_invalid_line_is_reported_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(dump_line(choose(PAIRS[0], True)) + '{"round": 3}\n' + dump_line(choose(PAIRS[1], True)))
    with pytest.raises(AnswerFileError, match=r"answers.jsonl, line 2: field annotator: Field required"):
        read_log(path, Choice)
    with pytest.raises(AnswerFileError, match="line 2"):
        RecordLog(path, Choice)


@pytest.mark.parametrize(
    "content", [b"\x1f\x8b\x08", b"my notes", b'{"case_id": "c1", "context": "An', b'{"round": 3}']
)
def test_a_file_of_another_kind_is_not_overwritten(content: bytes, tmp_path: Path) -> None:
    """Only the beginning of an answer is a line that a kill has cut."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(content)
    for read in (read_log, RecordLog):
        with pytest.raises(AnswerFileError, match="line 1"):
            read(path, Choice)
    assert path.read_bytes() == content


def test_two_audits_cannot_write_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with RecordLog(path, Choice), pytest.raises(AnswerFileError, match="in use by another process"):
        RecordLog(path, Choice)
    with RecordLog(path, Choice):
        pass


def test_threads_lose_no_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with RecordLog(path, Choice) as log:
        threads = [
            threading.Thread(target=lambda name=f"p{n}": [log.append(choose(pair, True, name)) for pair in PAIRS])
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
    assert len(read_log(path, Choice)) == 8 * len(PAIRS)


def test_a_full_disk_keeps_earlier_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with RecordLog(path, Choice) as log:
        log.append(choose(PAIRS[0], True))
        before = path.read_bytes()
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, hard))
            with pytest.raises(AnswerFileError, match="was not saved"):
                log.append(choose(PAIRS[1], True))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, ignored)
        assert path.read_bytes() == before
        log.append(choose(PAIRS[2], True))
    assert [a.pair_id for a in read_log(path, Choice)] == [PAIRS[0].pair_id, PAIRS[2].pair_id]


def test_a_kill_keeps_every_acknowledged_answer(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    code = (
        "import sys, itertools; from pathlib import Path; from audit_factories import choose, sample_pairs\n"
        "from judge_r1.labels.audit_answers import Choice\n"
        "from data_builders.audit.annotation.record_log import RecordLog\n"
        "with RecordLog(Path(sys.argv[1]), Choice) as log:\n"
        "    for n, pair in enumerate(itertools.cycle(sample_pairs().pairs)):\n"
        "        log.append(choose(pair, True, f'p{n}'))\n"
        "        print(n, flush=True)\n"
    )
    search = os.pathsep.join([*sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": search},
    ) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline() for _ in range(20)]
        process.kill()
        acknowledged += process.stdout.readlines()
    done = [int(line) for line in acknowledged if line.endswith("\n")]
    names = [answer.annotator for answer in read_log(path, Choice)]
    assert names[: len(done)] == [f"p{n}" for n in done]
    assert len(names) <= len(done) + 1
    with RecordLog(path, Choice) as log:
        assert len(log.answers) == len(names)


@pytest.mark.parametrize("name", ["", " Ana", "Ana\n", "a\u0301", "x" * 41, "a\u200bb"])
def test_ambiguous_names_are_rejected(name: str) -> None:
    good = choose(PAIRS[0], True).model_dump(by_alias=True)
    with pytest.raises(ValidationError):
        Choice.model_validate({**good, "annotator": name})
