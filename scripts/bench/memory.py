"""Memory of this process, from /proc. NaN on systems without it."""

import os
from pathlib import Path


def resident_mb() -> float:
    """Resident memory, pages of mapped files included."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if statm.exists() else float("nan")


def private_mb() -> float:
    """Memory that this process shares with no other: mapped files are left out."""
    rollup = Path("/proc/self/smaps_rollup")
    if not rollup.exists():
        return float("nan")
    lines = rollup.read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty")) / 1e3


def peak_mb() -> float:
    """The largest resident memory so far."""
    import resource
    import sys

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
