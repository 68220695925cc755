"""From cases with reference reasoning to labelled pairs and training files."""
