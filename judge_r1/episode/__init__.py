"""One agentic run: prompt, state machine, search, parsing and reward."""
