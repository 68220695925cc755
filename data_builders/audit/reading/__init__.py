"""Reading sheets: readers say of sampled pairs whether the named principle is violated and the flaw reads naturally."""
