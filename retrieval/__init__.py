"""Per-case retrieval: text -> passages -> vectors -> the top k passages of one case. There is no global search.

retriever = Retriever({"case-1": text}, method="bundled:e5-small")
[hits] = retriever.search([("case-1", "When was the applicant released?")], k=3)
"""
