"""Training: SFT and GRPO through TRL here, verl on Ray in `judge_r1.training.verl`."""
