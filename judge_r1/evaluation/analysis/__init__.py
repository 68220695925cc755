"""The analyses of the paper's appendices G and H, on evaluations and run folders. No analysis runs a judge."""
