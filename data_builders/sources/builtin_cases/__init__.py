"""What the `builtin` cases are made of: scenarios written by hand, and the grammar that lays them out."""
