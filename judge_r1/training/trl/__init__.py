"""The TRL engine: SFT, DPO and GRPO in one process per GPU."""
