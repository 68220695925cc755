"""Creates flawed reasonings: reference reasonings broken at a known position, in a known way."""
