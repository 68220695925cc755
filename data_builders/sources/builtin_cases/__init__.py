"""What generated cases are made of: matters with their values, and the grammar that lays them out."""
