"""Runs the tests of every trainer with the packages that are installed, and prints what breaks.

    make test-newest                # in an environment with the newest packages that install
    python -m scripts.newest TRL    # some trainers

The exit code is 1 if a test breaks.
"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
TRAINERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "models": (("torch", "transformers"), ("models", "episode", "judges")),
    "TRL": (("trl", "peft", "accelerate"), ("training/trl", "rewards", "integrations/test_trl_environment.py")),
    "DeepSpeed": (("deepspeed",), ("training/test_distributed.py",)),
    "verl": (("verl", "ray", "tensordict", "TransferQueue"), ("training/verl",)),
    "SkyRL": (("skyrl-gym",), ("integrations/test_skyrl_environment.py",)),
    "tools": (("pydantic-monty",), ("episode/test_tools.py",)),
}
"""For each trainer its packages, and its tests in tests/judge_r1."""
PYTEST = ("-m", "slow or not slow", "-n", "auto", "--maxprocesses", "4", "--dist", "loadfile")
NO_TESTS = 5
"""pytest's exit code where it collects none."""


def main() -> int:
    """Prints a line for each trainer, and for each test that breaks."""
    if unknown := [name for name in sys.argv[1:] if name not in TRAINERS]:
        sys.exit(f"there is no {', '.join(unknown)}; the trainers are {', '.join(TRAINERS)}")
    broken = False
    for name in sys.argv[1:] or TRAINERS:
        packages, tests = TRAINERS[name]
        lines = trainer(name, packages, [f"tests/judge_r1/{test}" for test in tests])
        print("\n".join(lines), flush=True)
        broken |= len(lines) > 1
    return int(broken)


def trainer(name: str, packages: Sequence[str], tests: Sequence[str]) -> list[str]:
    """Runs the tests of a trainer. Returns its line, and one for each test that breaks."""
    with TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", *PYTEST, f"--junitxml={report}", *tests]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
    broken = [*failures(cases), *missing(cases, (name, *packages))]
    passed = sum(not {child.tag for child in case} & {"failure", "error", "skipped"} for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    if not passed and not broken and done.returncode in (0, NO_TESTS):
        broken = ["no test ran"]
    if done.returncode and not broken:
        broken = (done.stderr or done.stdout).strip().splitlines()[-1:]
    versions = ", ".join(f"{package} {_version(package)}" for package in packages)
    word = f"{len(broken)} BREAK" if broken else "works"
    return [f"{name}: {word}, {passed} pass, {skipped} skip, with {versions}", *(f"  {line}" for line in broken)]


def failures(cases: Sequence[ElementTree.Element]) -> Iterator[str]:
    """A line for each failed test: its name, and the first line of what it says."""
    for case in cases:
        for failure in (*case.iter("failure"), *case.iter("error")):
            yield _line(case, failure.get("message") or "no message")


def missing(cases: Sequence[ElementTree.Element], packages: Sequence[str]) -> Iterator[str]:
    """A line for each test that is skipped because one of the trainer's `packages` cannot be imported. Tests that need
    others, such as vLLM, are not the trainer's."""
    names = "|".join(re.escape(package) for package in packages)
    absent = re.compile(rf"could not import '({names})\b|(?<![\w-])({names}) is not installed", re.IGNORECASE)
    for case in cases:
        for skip in case.iter("skipped"):
            # A skipped module has its reason in the text.
            if found := absent.search(f"{skip.get('message')} {skip.text}"):
                yield _line(case, found[0])


def _line(case: ElementTree.Element, message: str) -> str:
    said = message.strip().splitlines()[0][:200]
    return f"{(case.get('classname') or '').rpartition('.')[2]}::{case.get('name')}: {said}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(missing)"


if __name__ == "__main__":
    sys.exit(main())
