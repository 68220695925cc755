"""What the `builtin` cases are made of: scenarios written by hand or generated, and the grammar that lays them out."""
