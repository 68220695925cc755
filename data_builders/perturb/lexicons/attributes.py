"""Word classes for wrong facts (P2): attributes that exclude each other, so that a case with one denies the others."""

from data_builders.perturb.rules.balanced_swap import SwapClass
from data_builders.perturb.rules.slot_grammar import classes

_SHARED = """
    number word: two, three, four, five, six, seven, eight, nine, ten, twelve
    ordinal: first, second, third, fourth
    unit: hour, day, week, month, year
    sex: male, female
    kin: mother, father
    change: increase, decrease
    changed: increased, decreased
    compare: higher, lower
    level: high, low
    large: large, small
    size: larger, smaller
    sign: positive, negative
    begin: initial, final
    time: early, late
    compass: north, south, east, west
    compass2: northern, southern, eastern, western
    weekday: Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
    share: majority, minority
    extent: partial, complete
    length: short, long
    speed: rapid, slow
    quantity: minimal, extensive
"""
_BY_DOMAIN = {
    "medical": """
        side: left, right
        order: before, after
        sides: bilateral, unilateral
        height: upper, lower
        front: anterior, posterior
        middle: medial, lateral
        reach: proximal, distal
        pole: superior, inferior
        depth: superficial, deep
        lobe: frontal, parietal, temporal, occipital
        spine: cervical, thoracic, lumbar, sacral
        nature: benign, malignant
        course: acute, chronic
        trend: progressive, stable
        severity: mild, moderate, severe
        raised: elevated, reduced, normal
        norm: normal, abnormal
        count: single, multiple
        zygosity: homozygous, heterozygous
        heredity: dominant, recessive
        density: hyperintense, hypointense, isointense
        echo: hyperechoic, hypoechoic, anechoic
        content: solid, cystic
        age: infant, child, adolescent, adult
        rank RANK: primary, secondary
        cover: focal, diffuse
        pain: painful, painless
        margin: well-defined, ill-defined
        vessel: arterial, venous
        germ: bacterial, viral, fungal, parasitic
        part PART: renal, hepatic, pulmonary, cardiac, cerebral, splenic, pancreatic, gastric, ovarian, intestinal,
            cutaneous, ocular, spinal, adrenal, vascular, neurological, gastrointestinal, respiratory, urinary
        onset: sudden, gradual
        route: oral, intravenous, subcutaneous, intramuscular, topical
        joint: knee, hip, shoulder, elbow, wrist, ankle
        chamber: atrial, ventricular
        valve: mitral, aortic, tricuspid
        when: preoperative, postoperative, intraoperative
        worse: improved, worsened
        degree: partially, completely
        regular: persistent, intermittent, transient
        spread: localized, disseminated, metastatic
        differentiation: well-differentiated, poorly differentiated
    """,
    "legal": """
        outcome: granted, dismissed
        outcome2: upheld, quashed
        outcome3: allowed, rejected
        verdict: convicted, acquitted
        court COURT: District, Regional, Supreme, Constitutional, Municipal, Administrative, High, Federal, City,
            County
        instance: first-instance, appellate
        field LAW: criminal, civil, administrative, disciplinary
        party: plaintiff, defendant
        form: oral, written
        hold: tenant, owner, landlord
        care CUSTODY: custody, access, adoption, guardianship
        move: lodged, withdrew
        stage: opened, closed, discontinued, reopened
        state: temporary, permanent
        speak: confirmed, denied
        wed: married, divorced
        health: physical, mental
        begin verb: began, ended
        sanction: fine, imprisonment, warning, reprimand
        country STATE: Turkish, Polish, Russian, German, French, Italian, Austrian, Romanian, Bulgarian, Ukrainian,
            Greek, Croatian, Hungarian, Finnish, Swedish, Lithuanian, Latvian, Slovenian, Slovak, Czech, Swiss,
            Dutch, Belgian, Spanish, Portuguese, Norwegian, Danish, Irish, British, Moldovan, Serbian, Armenian,
            Georgian, Azerbaijani
        state name: Turkey, Poland, Russia, Germany, France, Italy, Austria, Romania, Bulgaria, Ukraine, Greece,
            Croatia, Hungary, Finland, Sweden, Lithuania, Latvia, Slovenia, Slovakia, Switzerland, Belgium, Spain,
            Portugal, Norway, Denmark, Ireland, Moldova, Serbia, Armenia, Georgia, Azerbaijan, Iraq, Iran, Syria,
            Algeria, Morocco
    """,
    "academic": """
        side: left, right
        order: before, after
        direction: forward, backward, upward, downward
        height: upper, lower
        design: prospective, retrospective, cross-sectional
        data kind: qualitative, quantitative
        setting: vitro, vivo, silico
        course: acute, chronic
        severity: mild, moderate, severe
        norm: normal, abnormal
        average: mean, median
        reach: local, national, global, regional, international
        tail: minimum, maximum
        frequency: rare, common
        frequency2: daily, weekly, monthly, annual
        acid: DNA, RNA
        animal ANIMAL: mouse, rat, human, monkey, rabbit
        age: infant, child, adolescent, adult
        count: single, multiple
        linear: linear, nonlinear, non-linear, logistic, exponential
        fix: static, dynamic
        outcome: successful, unsuccessful
        supply: free, commercial, proprietary
        rank RANK: primary, secondary
        test: sensitivity, specificity
        route: oral, intravenous, subcutaneous, topical, inhaled
        germ: bacterial, viral, fungal, parasitic
        strength: strong, weak
        front: anterior, posterior, frontal, temporal
        vessel: arterial, venous
        country: Brazil, China, India, Mexico, Colombia, Peru, Thailand, Vietnam, Indonesia, Malaysia, Kenya,
            Uganda, Nigeria, Ghana, Italy, Spain, France, Germany, Japan, Australia, Canada, Chile, Argentina,
            Pakistan, Bangladesh, Nepal, Iran, Turkey, Egypt, Ethiopia, Tanzania, Myanmar, Cambodia, Portugal,
            Sweden, Norway, Denmark, Finland
        continent: Africa, Asia, Europe, America, Australia
    """,
}

MONTHS = SwapClass.parse(
    "month", "January, February, March, April, May, June, July, August, September, October, November, December"
)
YEARS = SwapClass.parse("year", ", ".join(map(str, range(1950, 2030))), near=4)
DAYS = SwapClass.parse("day", ", ".join(map(str, range(1, 32))))
DIGITS = SwapClass.parse("digit", ", ".join(map(str, range(1, 10))))

ATTRIBUTES: dict[str, tuple[SwapClass, ...]] = {
    domain: (*classes(_SHARED), *classes(lexicon)) for domain, lexicon in _BY_DOMAIN.items()
}
"""Domain → classes of attributes."""
