"""P1, logical correctness: a step no longer follows from what stands before it, or contradicts it."""

import re
from random import Random

from data_builders.perturb.clauses import links
from data_builders.perturb.operators import Edit, Step, operator
from data_builders.perturb.steps import body_sentences, split_steps
from data_builders.perturb.wording import wording
from judge_r1.records import Case

_OPPOSITES = """excluded confirmed|ruled out|confirmed;likely unlikely;consistent inconsistent;supports refutes;supported contradicted;
supporting contradicting;favored disfavored;necessary unnecessary;appropriate inappropriate;justified unjustified;
sufficient insufficient;adequate inadequate;effective ineffective;proportionate disproportionate;reasonable unreasonable;
admissible inadmissible;compatible incompatible;relevant irrelevant;possible impossible;clear unclear;convincing unconvincing;
valid invalid;reliable unreliable;complete incomplete;plausible implausible;essential superfluous;feasible unfeasible;
well-founded ill-founded;satisfied unconvinced;foreseeable unforeseeable;useful useless;correct incorrect;strong weak;
suggests disproves;confirms disproves;indicates disproves;aligned conflicted;suitable unsuitable;well-written poorly-written;
accurate inaccurate;warranted unwarranted;interesting uninteresting;important unimportant;helpful unhelpful;fair unfair;
probable improbable;arbitrary well-reasoned;accept reject;accepts rejects;accepted rejected;agree disagree;agrees disagrees;
sound unsound;definitive doubtful;dismissed upheld;positive negative;benefit disadvantage;strengthens weakens;favorable unfavorable"""
_FLIPS: dict[str, list[str]] = {}
for _pair in _OPPOSITES.replace("\n", "").split(";"):
    _one, _other = _pair.split("|", 1) if "|" in _pair and " " in _pair.split("|")[0] else _pair.split(" ", 1)
    for _other_word in _other.split("|"):
        _FLIPS.setdefault(_one, []).append(_other_word)
        _FLIPS.setdefault(_other_word, []).append(_one)
