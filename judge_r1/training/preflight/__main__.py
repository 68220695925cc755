"""Runs the checks of a request in a process of its own: `python -m judge_r1.training.preflight REQUEST`.

The last line of output is a JSON list of sentences. An import that crashes, and the memory of an embedder, end with the
process.
"""

import json
import sys

from judge_r1.training.preflight.files import FILE_CHECKS
from judge_r1.training.preflight.packages import for_gpus, problems


def main(request: str) -> None:
    checks = json.loads(request)
    on_gpus = checks["gpu_packages"]
    found = problems([*checks["packages"], *(on_gpus if on_gpus and for_gpus() else [])])  # which imports torch
    found += [problem for name, arguments in checks["files"] if (problem := FILE_CHECKS[name](*arguments))]
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
