"""`python -m judge_r1.cli`: the `judge-r1` command without an installed script."""

from judge_r1.cli import main

main()
