"""The parts of scripts/gpu_check.py. Each runs in a process of its own."""
