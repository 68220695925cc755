"""A large trace is read as a stream."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MEGABYTES = 200
READ = """
import resource, sys
from pathlib import Path
from judge_r1.traces import read_events
print(sum(len(event.text) for event in read_events(Path(sys.argv[1]))))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("container", ["lines", "object"])
def test_a_trace_of_200_mb_needs_little_memory(tmp_path: Path, container: str) -> None:
    path, content = tmp_path / "trace.json", "the log of a test " * 5000
    line = json.dumps({"role": "tool", "tool_call_id": "c", "name": "bash", "content": content})
    count = MEGABYTES * 10**6 // len(line)
    with path.open("w") as file:
        file.write('{"model": "m", "messages": [' if container == "object" else "")
        for number in range(count):
            file.write(("," if number and container == "object" else "\n" if number else "") + line)
        file.write("]}" if container == "object" else "\n")
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    characters, peak = map(int, done.stdout.split())
    assert characters == count * len(content)
    assert peak < 150
