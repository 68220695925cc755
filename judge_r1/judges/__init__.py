"""Ways of judging, one file each."""
