"""Rewards for other people's trainers: groups of rollouts are compared by a judge, at a cost that grows with the group.

`group` is the engine: a schedule of comparisons, and scores from them. A thin module per trainer calls it. A judgment
that failed is never a number: it is None, an exception or an HTTP error, whichever the trainer has room for.
"""
