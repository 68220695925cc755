"""What is behind a judge's accuracy: the analyses of the paper's appendices G and H, on evaluations and run folders.

Nothing here judges. The index over many cases in `global_index` is measured as a baseline and is out of every judge's
reach (promise 1: an import contract forbids it).
"""
