"""Runs the server in the Python that has judge_r1: NeMo-Gym's own environment cannot have it (see JUDGE_R1_PYTHON in
docs/clients.md). Standard library alone."""

import os
import sys

python = os.environ.get("JUDGE_R1_PYTHON")
if not python:
    sys.exit("set the environment variable JUDGE_R1_PYTHON to the Python that has judge-r1[serve]")
os.execv(python, [python, "-m", "judge_r1.integrations.nemo_gym_main"])
