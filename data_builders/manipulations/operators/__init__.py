"""The manipulations by metric, each registered under its name."""
