"""The analyses of the paper's appendices G and H, on evaluations and run folders.

No analysis runs a judge. `global_index` measures an index over many cases as a baseline; an import contract keeps
judges from using it (promise 1).
"""
