"""What a run will cost, before it is started: tokens, memory and the command, from the recipe and a config.json."""
