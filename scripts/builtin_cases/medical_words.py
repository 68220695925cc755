"""What belongs to no illness: normal results, silent organs, observations and ward life of the medical cases."""

from scripts.builtin_cases.grammar import table

ANALYTES = table("""
    liver: alanine aminotransferase {14..34} U/L
    liver: aspartate aminotransferase {15..33} U/L
    liver: alkaline phosphatase {52..104} U/L
    liver: total bilirubin {6..16} µmol/L
    clotting: prothrombin time {11.2..12.9} s
    clotting: activated partial thromboplastin time {27..34} s
    clotting: fibrinogen {2.3..3.7} g/L
    calcium: corrected calcium {2.26..2.48} mmol/L
    calcium: phosphate {0.92..1.36} mmol/L
    magnesium: magnesium {0.76..0.97} mmol/L
    renal: creatinine {58..88} µmol/L
    renal: urea {3.4..6.6} mmol/L
    salts: sodium {137..143} mmol/L
    salts: potassium {3.8..4.7} mmol/L
    salts: chloride {99..106} mmol/L
    blood: hemoglobin {132..148} g/L
    blood: mean corpuscular volume {84..94} fL
    blood: white cells {5.1..8.8} × 10⁹/L
    platelets: platelets {188..334} × 10⁹/L
    thyroid: thyrotropin {0.9..3.1} mIU/L
    thyroid: free thyroxine {12.4..18.1} pmol/L
    sugar: fasting glucose {4.4..5.5} mmol/L
    sugar: glycated hemoglobin {33..39} mmol/mol
    lipids: total cholesterol {3.9..5.1} mmol/L
    lipids: triglycerides {0.8..1.6} mmol/L
    iron: ferritin {48..142} µg/L
    iron: transferrin saturation {22..36} %
    vitamins: vitamin B12 {262..488} pmol/L
    vitamins: folate {12..29} nmol/L
    protein: total protein {66..76} g/L
    protein: albumin {39..45} g/L
    enzymes: lactate dehydrogenase {142..208} U/L
    enzymes: creatine kinase {62..148} U/L
    pancreas: lipase {18..46} U/L
    crp: C-reactive protein {1..4} mg/L
    uric: uric acid {212..338} µmol/L
    urine: urine specific gravity {1.012..1.022}
""")
"""Panel → results in a healthy adult; a scenario names the panels that its illness leaves alone."""

ALIASES = {
    "thyrotropin": ["tsh"],
    "total bilirubin": ["bilirubin"],
    "corrected calcium": ["calcium"],
    "total protein": ["total protein"],
    "prothrombin time": ["inr"],
    "white cells": ["leukocyte"],
    "fasting glucose": ["glucose"],
    "transferrin saturation": ["transferrin"],
}

QUIET = table("""
    chest: [Breath sounds were|The lungs were resonant and the breath sounds were] [equal on both sides|vesicular throughout|clear to both bases][| and there was no wheeze|, without added sounds].
    chest: [Percussion and auscultation of the chest|The chest examination] gave [nothing of note|no abnormal sign].
    heart: The heart sounds were [regular, and no murmur was heard in any position|normal without a rub or an added sound].
    heart: [No murmur was heard|There was no murmur], the jugular veins were [flat at 45 degrees|not distended], and the ankles were [free of swelling|not swollen].
    abdomen: The abdomen was [soft throughout|flat and soft], [bowel sounds were present|with audible bowel sounds], and neither liver nor spleen could be felt.
    abdomen: [Nothing tender was found in the abdomen|Abdominal palpation met no tenderness or mass]; the hernial orifices were [closed|unremarkable].
    nerves: [Cranial nerves, power, reflexes and sensation were intact|Power was full in all four limbs, and the plantar responses were flexor].
    nerves: [Gait, coordination and speech were unremarkable|The neurologist on call found no deficit and saw no need to come back].
    skin: [The skin was free of rashes, bruises and ulcers|No rash, bruise or wound was seen on the skin].
    skin: [Nails, scalp and mucous membranes|Skin and nails] looked [healthy|ordinary].
    joints: [All large joints moved freely|No joint was swollen or warm], and the spine was [not tender to percussion|straight and painless].
    joints: [Grip was strong, fist closure complete|Both hands closed to a full fist], and [squatting caused no discomfort|the hips rotated freely].
    ears: [Ear drums and throat were normal|The throat was not red and both ear drums were pale].
    ears: [Teeth and gums were in good repair|The mouth was moist, with sound teeth].
    nodes: [No lymph node larger than a pea was found in neck, axillae or groins|The neck, axillae and groins held no enlarged nodes].
    eyes: [Visual fields were full to confrontation and the fundi looked normal|The optic discs were sharp, the eye movements full].
    thyroid: The thyroid was [not enlarged|of normal size and moved on swallowing].
    breasts: [Both breasts were examined with consent and were normal|The breasts were soft, without a lump].
    legs: [The calves were soft and of equal girth|Both calves measured the same], and the foot pulses were [easily felt|present on both sides].
""")
"""Organ → what is found where nothing is wrong with it; a scenario names the organs that it leaves alone."""

BACKGROUND = table("""
    travel: [There had been no journey abroad in the past {2..6} years|The last holiday abroad lay {3..7} years back].
    travel: [Travel outside the region was denied|No one in the household had been out of the country lately].
    allergy: No allergy to [any drug or food|medicines, latex or contrast agents] was known.
    allergy: [A skin test for pollen, years ago, had shown nothing|The allergy page of the chart was empty].
    pets: [Two cats lived in the house|A dog, regularly wormed, lived in the house|There were no animals at home].
    pets: [Contact with farm animals, birds or rodents was denied|The neighbors kept hens, but there was no close contact with them].
    vaccines: [Vaccinations were complete according to the booklet|The last tetanus booster had been given {2..8} years earlier].
    vaccines: An influenza vaccine had been given [in the autumn|at the workplace|by the family doctor] {2..6} months before.
    surgery: [The only operation had been the removal of {2..4} wisdom teeth|The tonsils had been taken out in childhood|There had been no operation before].
    sleep: [Sleep was usually sound, about {6..8} hours a night|Snoring had never been remarked on].
    diet: [Meals were mixed and regular|The diet was mixed, with meat about {2..4} times a week]; [no supplement was taken|herbal products were denied].
    home: [Home was a second-floor flat with an elevator|Home was a small house with a garden|Home was a rented flat near the hospital]; [help was at hand if needed|the stairs had never been a problem].
    screening: [The last dental check had been {4..11} months before|Screening invitations had been answered as they came].
    family_far: [Grandparents had died of old age as far as was known|The grandparents' illnesses were not known].
""")
"""Topic → what was asked and turned out to be of no importance."""

WARD = table("""
    score: On admission the nurses filled in the usual scores and [a care plan of one page|the care plan]; [a copy went into the chart|it was reviewed after two days].
    consent: [Consent to share the findings at the teaching round|Permission to use the anonymous findings for teaching] was given [in writing|orally and noted].
    kin: [A next of kin was named and a telephone number recorded|A contact person was written into the chart], and [questions about cost went to the social service|visiting hours were explained].
    meal: [The kitchen was told of a dislike of fish|Soft cheese was wished for and noted|Black tea was asked for instead of coffee], [which found its way to the ward on the second day|and the diet card was filled in].
    line: A [20|22]-gauge cannula was placed in the [non-dominant forearm|back of the hand] and [changed after {60..80} hours|flushed with saline at every shift].
    swab: [Screening swabs of nose and groin|The routine admission swabs] for resistant bacteria were negative after [two|three] days.
    pharmacist: The ward pharmacist went through the list of medicines [within a day of admission|on the first working day] and [signed it|filed a copy].
    physio: [A physiotherapist introduced herself on the second day|The physiotherapist left a card] and [will return on request|noted that a plan would follow].
    bed: [The bed was moved to the window side|The first night was spent in a room with {2..3} others|The room looks out on the parking deck]; [noise was complained of once|the call bell was tested].
    phone: The family doctor was reached by telephone and [sent copies of earlier letters|had nothing to add|faxed a list of check-ups, the last one {9..20} months old].
    weigh: [Weight was to be taken every morning in night clothes|Fluid in and out was charted], and [both sheets are kept with the notes|the chart shows no gaps].
    clothes: [Valuables were locked away and listed|Glasses and telephone stayed at the bedside|A bag of clothes was handed to a relative].
    student: [Two students|A student] took the history a second time as an exercise and [it did not differ|came to the same account].
    chaplain: The chaplain's visit was [offered and declined|offered and accepted for Sunday]; [a newspaper was asked for|the television did not work].
    pressure: The cuff of the monitor was changed to [the large|the medium] size after a first false alarm, and [the alarm limits were set by the night team|the limits were written on the board].
""")
"""Ward life: true, recorded and beside the point."""

CHART = """
    {when}: temperature {temp} °C, pulse {pulse}, blood pressure {sys}/{dia} mm Hg, breathing rate {resp}, saturation {spo2} %
"""
CHART_PROSE = [
    "{when} the chart shows {temp} °C, a pulse of {pulse}, {sys}/{dia} mm Hg, {resp} breaths a minute and {spo2} % saturation",
    "{when} the nurses wrote down: temperature {temp} °C, pulse {pulse}, pressure {sys}/{dia} mm Hg, respiration {resp}, oxygen saturation {spo2} %",
    "{when}, readings were {pulse} beats and {resp} breaths a minute, {sys}/{dia} mm Hg, {temp} °C and {spo2} % on the finger clip",
]
DAYS = [
    ["On the first evening", "On the second morning", "On the third day"],
    ["At noon of the first day", "At midnight", "On the following evening"],
    ["Day 1 at 18:00", "Day 2 at 08:00", "Day 3 at 14:00"],
    ["Day 1 at 20:00", "Day 2 at 10:00", "Day 2 at 22:00"],
]
"""When the chart was read, where a scenario does not say it (field `times`)."""

NORMAL_LEADS = [
    "Within the reference range were {list}.",
    "The following were normal: {list}.",
    "Nothing abnormal was found in {list}.",
    "Unremarkable results, for completeness: {list}.",
    "The rest of the panel gave {list}, all of them as expected in health.",
    "Also measured and normal: {list}.",
    "Results that called for no action were {list}.",
]
BODY = [
    "Height was {height} cm and weight {weight} kg.",
    "The scales showed {weight} kg at a height of {height} cm.",
    "Body weight was {weight} kg, height {height} cm.",
    "The chart gives {height} cm and {weight} kg as measured on admission.",
]
