"""judge_r1: train, test and run agentic judges of long-context reasoning."""

__version__ = "0.1.0"
