"""The process keeps the memory of freed tensors."""

import os
import platform
import subprocess
import sys
from unittest.mock import patch

import pytest

from judge_r1.models import cpu
from judge_r1.models.hub import load_model

_FAULTS = """
import resource, sys
from judge_r1.models.cpu import _keep_freed_memory
if sys.argv[1] == "kept":
    _keep_freed_memory()
bytearray(50_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(3):
    bytearray(50_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str, **environment: str) -> int:
    """Pages that the system maps for three blocks of 50 MB, one after the other."""
    done = subprocess.run(
        [sys.executable, "-c", _FAULTS, how], capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone has these settings")
def test_the_next_block_has_the_pages_of_the_one_before() -> None:
    assert faults("kept") * 10 < faults("given back")
    assert faults("kept") * 10 < faults("kept", MALLOC_MMAP_THRESHOLD_="131072"), "the user's setting stays"
    tunables = "glibc.malloc.mmap_threshold=131072:glibc.malloc.trim_threshold=131072"
    assert faults("kept") * 10 < faults("kept", GLIBC_TUNABLES=tunables)


def test_a_model_on_a_processor_has_it() -> None:
    with patch.object(cpu, "_keep_freed_memory") as called:
        load_model("bundled:tiny")
    called.assert_called_once_with()
