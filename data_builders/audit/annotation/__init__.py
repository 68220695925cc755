"""The human audit: people choose between the two reasonings of a pair without being told which one the label prefers.

Two rounds, as in LRBench, section 2.3: in the second one each annotator sees the pairs again in which his choice and
the label differed.
"""
