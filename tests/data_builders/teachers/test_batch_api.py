"""Batches end to end: exported request files, result files in the vendor formats, and the filled cache."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from fake_llm_server import answer_batch
from teacher_factories import echo, request_for, run

import data_builders.teachers.batch_api as batch_module
from data_builders.teachers import BatchPending, TeacherError, TeacherReply
from data_builders.teachers.answer_cache import Cache, request_key
from data_builders.teachers.batch_api import BatchExport, Imported, check_results, import_batch
from data_builders.teachers.endpoint import EndpointTeacher
from data_builders.teachers.spec import parse_spec

PROVIDERS = [parse_spec(f"chat@{backend}").at_endpoint(None) for backend in ("https://host/v1#toy", "anthropic:toy")]


def export(wire: EndpointTeacher, cache: Cache, path: Path, count: int = 20) -> tuple[list[TeacherReply], BatchExport]:
    """Makes `count` requests twice each, and a follow-up request after every available answer."""

    async def work(teacher: BatchExport) -> list[TeacherReply]:
        answers = []
        for n in range(count):
            for _ in range(2):
                with suppress(BatchPending):
                    first = await teacher.ask(request_for(f"q{n}"))
                    answers.append(await teacher.ask(request_for(f"then: {first.text}", sample=1)))
        return answers

    with BatchExport(wire, cache, path) as teacher:
        return run(work(teacher)), teacher


@pytest.mark.parametrize("wire", PROVIDERS)
def test_failed_rows_are_counted_and_exported_again(wire: EndpointTeacher, tmp_path: Path) -> None:
    with Cache(tmp_path / "c.sqlite") as cache:
        export(wire, cache, tmp_path / "1.jsonl")
        answer_batch(echo, tmp_path / "1.jsonl", tmp_path / "r.jsonl", failed=0.4)
        found = import_batch(wire, cache, tmp_path / "r.jsonl")
        assert 0 < found.failed["it broke"] < 20
        assert found.new + found.failed.total() == 20
        assert import_batch(wire, cache, tmp_path / "r.jsonl") == Imported(0, found.new, found.failed)
        with BatchExport(wire, cache, tmp_path / "2.jsonl") as teacher:
            for n in range(20):
                with suppress(BatchPending):
                    run(teacher.ask(request_for(f"q{n}")))
        assert (teacher.rows, teacher.repeated, teacher.reused) == (found.failed.total(), teacher.rows, found.new)


def test_an_unknown_custom_id_rejects_the_file(tmp_path: Path) -> None:
    wire = PROVIDERS[0]
    with Cache(tmp_path / "c.sqlite") as cache:
        export(wire, cache, tmp_path / "1.jsonl", 3)
        answer_batch(echo, tmp_path / "1.jsonl", tmp_path / "r.jsonl")
        with (tmp_path / "r.jsonl").open("a") as results:
            results.write('{"custom_id": "stranger", "response": null, "error": null}\n')
        with pytest.raises(TeacherError, match=r"r\.jsonl, line 4: custom_id 'stranger'.*nothing was imported"):
            import_batch(wire, cache, tmp_path / "r.jsonl")
        assert cache.get(request_key(wire.name, request_for("q0"))) is None


@pytest.mark.parametrize(
    ("line", "says"),
    [("{", "line 1 is not JSON"), ("[]", "line 1 has no custom_id"), ('{"custom_id": 3}', "line 1 has no custom_id")],
)
def test_invalid_result_files_are_reported(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "r.jsonl").write_text(line + "\n")
    with Cache(tmp_path / "c.sqlite") as cache, pytest.raises(TeacherError, match=says):
        import_batch(PROVIDERS[0], cache, tmp_path / "r.jsonl")


def test_results_of_another_vendor_are_reported(tmp_path: Path) -> None:
    with Cache(tmp_path / "c.sqlite") as cache:
        export(PROVIDERS[0], cache, tmp_path / "1.jsonl", 1)
        answer_batch(echo, tmp_path / "1.jsonl", tmp_path / "r.jsonl")
        moved = json.loads((tmp_path / "r.jsonl").read_text())
        export(PROVIDERS[1], cache, tmp_path / "2.jsonl", 1)
        moved["custom_id"] = json.loads((tmp_path / "2.jsonl").read_text())["custom_id"]
        (tmp_path / "r.jsonl").write_text(json.dumps(moved))
        with pytest.raises(TeacherError, match="line 1 is no result for anthropic:toy"):
            import_batch(PROVIDERS[1], cache, tmp_path / "r.jsonl")


def test_large_exports_are_split_at_vendor_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_module, "MAX_ROWS", 8)
    with Cache(tmp_path / "c.sqlite") as cache:
        _, exported = export(PROVIDERS[0], cache, tmp_path / "b.jsonl")
    assert [f.name for f in exported.files] == ["b.jsonl", "b-2.jsonl", "b-3.jsonl"]
    assert [len(f.read_text().splitlines()) for f in exported.files] == [8, 8, 4]
    monkeypatch.setattr(batch_module, "MAX_ROWS", 1_000)
    monkeypatch.setattr(batch_module, "MAX_BYTES", 1_000)
    with Cache(tmp_path / "d.sqlite") as cache:
        _, exported = export(PROVIDERS[0], cache, tmp_path / "d.jsonl")
    assert len(exported.files) > 1
    assert all(f.stat().st_size <= 1_000 for f in exported.files)


def test_a_failed_export_leaves_no_file(tmp_path: Path) -> None:
    async def work() -> None:
        with Cache(tmp_path / "c.sqlite") as cache, BatchExport(PROVIDERS[0], cache, tmp_path / "b.jsonl") as teacher:
            with pytest.raises(BatchPending, match="b\\.jsonl"):
                await teacher.ask(request_for("q"))
            raise KeyError("the builder broke")

    with pytest.raises(KeyError):
        run(work())
    assert {f.name for f in tmp_path.iterdir()} <= {"c.sqlite", "c.sqlite-wal", "c.sqlite-shm"}


def test_a_file_without_results_is_reported(tmp_path: Path) -> None:
    """Otherwise every request would be sent again."""
    (tmp_path / "r.jsonl").write_bytes(b"\n")
    with pytest.raises(TeacherError, match=r"r.jsonl has no results"):
        check_results(tmp_path / "r.jsonl", tmp_path / "c.sqlite")


def test_results_are_checked_before_a_cache_is_made(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"custom_id": "x"}\n')
    with pytest.raises(TeacherError, match=r"c.sqlite does not exist: import .*r.jsonl with the cache"):
        check_results(tmp_path / "r.jsonl", tmp_path / "c.sqlite")
    with pytest.raises(TeacherError, match=r"/proc/self/mem cannot be read: Input/output error"):
        check_results(Path("/proc/self/mem"), tmp_path / "c.sqlite")
    assert not (tmp_path / "c.sqlite").exists()
