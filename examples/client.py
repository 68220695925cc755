"""Calls a judge behind an API: one judgment, many, scores of candidates, and the events of an episode.

judge-r1 serve --judge evidence
python client.py http://127.0.0.1:8000
"""

import sys

from judge_r1.client import Client

PAIR = {
    "decision": "Ben owes 34 crowns.",
    "reasoning_a": "1. Ana paid 34 crowns and Ben nothing. 2. So Ben owes 34 crowns.",
    "reasoning_b": "1. Ana paid 43 crowns on Friday. 2. So Ben owes 34 crowns.",
}


def main(url: str) -> None:
    with Client(url) as judge:  # key=..., or JUDGE_R1_KEY
        case = judge.put_case("Ana paid 34 crowns on Monday. Ben paid nothing.")  # stored once, judged many times
        found = judge.judge(case_id=case.case_id, **PAIR)
        print("winner:", found.winner, "principles:", found.violated_principles)
        print("read:", [passage.text for passage in found.evidence])
        for answer in judge.many([{"case_id": case.case_id, **PAIR}] * 4):  # in order, with progress on standard error
            print("many:", answer.winner)
        scored = judge.score("How much?", ["Ana paid 34 crowns.", "Ana paid 43 crowns."], case_id=case.case_id)
        print("scores:", scored.scores)  # None for a candidate without a valid judgment
        for event in judge.stream(case_id=case.case_id, **PAIR):  # searches and turns, then the judgment
            print("event:", type(event).__name__)


if __name__ == "__main__":
    main(sys.argv[1])
