"""Blind annotation: people choose the better reasoning of each pair without seeing its label.

There are two rounds (LRBench, section 2.3). In the second round, an annotator sees again the pairs in which their
choice differed from the label.
"""
