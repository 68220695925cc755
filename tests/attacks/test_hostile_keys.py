"""Key files under attack: several commands at once, kills and full disks."""

from collections.abc import Callable
from pathlib import Path

import pytest
from process_faults import command, forked, forked_together, killed_at_each_operation, short_and_long

from judge_r1.core.errors import ExitStatus
from judge_r1.serving.middleware.api_keys import KeyFile, add_key, read_keys

Count = Callable[[str, int], None]


@pytest.mark.parametrize("rounds", short_and_long(1, 40))
def test_keys_added_and_removed_at_once_are_all_stored(tmp_path: Path, rounds: int, attacks: Count) -> None:
    for number in range(rounds):
        file = tmp_path / str(number) / "keys.json"
        results = forked_together([command("keys", "add", f"key{n}", "--file", file) for n in range(8)])
        assert [(result.returncode, result.stderr) for result in results] == [(0, "")] * 8
        keys = KeyFile(file)
        assert {keys.find(result.stdout.strip()).name for result in results} == {f"key{n}" for n in range(8)}  # type: ignore[union-attr]
        results = forked_together([command("keys", "remove", f"key{n}", "--file", file) for n in range(8)])
        assert [result.returncode for result in results] == [0] * 8
        assert read_keys(file) == ()
        assert [path.name for path in file.parent.iterdir()] == ["keys.json"]
    attacks("`keys` commands at once", 16 * rounds)


def test_one_of_several_adds_of_a_name_succeeds(tmp_path: Path, attacks: Count) -> None:
    results = forked_together([command("keys", "add", "ana", "--file", tmp_path / "keys.json")] * 8)
    assert sorted(result.returncode for result in results) == [0] + [ExitStatus.USAGE] * 7
    assert all("already has a key 'ana'" in result.stderr for result in results if result.returncode)
    attacks("`keys` commands at once", 8)


def test_a_full_disk_leaves_the_key_file_whole(
    tmp_path: Path, small_disk: Callable[[int], Path], attacks: Count
) -> None:
    disk = small_disk(16 * 1024)
    for file, limit in ((tmp_path / "keys.json", 200), (disk / "keys.json", None)):
        key = add_key(file, "ana")
        before = file.read_bytes()
        if limit is None:
            (disk / "filler").write_bytes(bytes(12 * 1024))
        result = forked(command("keys", "add", "ben", "--file", file), file_limit=limit)
        assert result.returncode == ExitStatus.IO_ERROR
        [line] = result.stderr.splitlines()
        assert "keys.json could not be written" in line
        assert "it is unchanged" in line
        assert result.stdout == ""
        assert file.read_bytes() == before
        assert KeyFile(file).find(key) is not None
        assert not list(file.parent.glob(".*"))
    attacks("`keys add` on a full disk", 2)


def test_a_kill_leaves_the_old_or_the_new_file(tmp_path: Path, attacks: Count) -> None:
    file = tmp_path / "keys.json"
    key = add_key(file, "ana")
    kills = 0
    for _ in killed_at_each_operation(command("keys", "add", "ben", "--file", file), tmp_path):
        kills += 1
        assert KeyFile(file).find(key) is not None
        assert {found.name for found in read_keys(file)} in ({"ana"}, {"ana", "ben"})
        if len(read_keys(file)) == 2:
            assert forked(command("keys", "remove", "ben", "--file", file)).returncode == 0
    assert kills > 2
    assert [path.name for path in tmp_path.iterdir()] == ["keys.json"]
    attacks("kill -9 of `keys add`", kills)
