"""Units of text that builders, checks and exports share: steps, sentences, clauses, facts, words and edits."""
