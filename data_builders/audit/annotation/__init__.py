"""A local site on which people answer questions about pairs.

In blind annotation they choose the better reasoning in two rounds (LRBench, section 2.3). In the second round, an
annotator sees again the pairs in which their choice differed from the label.
"""
