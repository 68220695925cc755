"""Pure functions over numbers: intervals, tests, agreement, calibration."""
