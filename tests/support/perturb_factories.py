"""Short cases. Every text operator applies somewhere in `CASES` or in `FRAGMENTS`."""

from data_builders.perturb.rules.engine import operators
from data_builders.perturb.rules.operators import Operator
from data_builders.text_units.steps import Step, split_steps
from judge_r1.core.records import Case


def case_of(domain: str, context: str, reference: str) -> Case:
    return Case.of(
        domain=domain, context=context, decision="as written", reference=reference, source="toy", license="Apache-2.0"
    )


MEDICAL = case_of(
    "medical",
    "A 47-year-old woman came in with fever, cough and left flank pain. Blood pressure was 132 mmHg. CT showed a "
    "cystic mass of 36 mm in the left kidney and a normal liver. Laboratory tests showed anemia and elevated "
    "creatinine. An infectious disease was ruled out by cultures. Desmin was negative. She was given ceftriaxone. "
    "The course was acute. Biopsy was done in March 2019. The serum sodium was 132 mmol/L on the second day. The "
    "uterus was small and the ovaries were not enlarged on ultrasound. Amoxicillin was given at home for a short "
    "time. The urologist found blood, protein and glucose in the urine. Dr Osei was on duty when the pain was at its "
    "worst. Dr Lund was called to the ward at noon. She had no known allergies.",
    "1. **Presentation:** The patient has fever, cough and flank pain, which may point to an infectious disease.\n"
    "2. **Imaging:** CT showed a mass of 36 mm in the left kidney, so a renal origin is likely.\n"
    "3. **Laboratory:** Anemia and creatinine were abnormal due to the chronic loss of blood through the kidney.\n"
    "4. **Exclusion:** Infection was excluded because cultures were negative, therefore ceftriaxone should be stopped "
    "after the second dose and the kidney function should be checked.\n"
    "5. **Histology:** Biopsy in March 2019 was needed to confirm the diagnosis, although the risk was high.\n"
    "6. **Plan:** Remove the mass to prevent bleeding and to preserve the other kidney (e.g., partial nephrectomy).",
)
LEGAL = case_of(
    "legal",
    "On 14 May 2003 the Warsaw District Court granted the applicant's request. Mr Nowak, a neighbour, gave a "
    "statement. Mr Kowal wrote a letter on 2 June 2004. The hospital issued a report. The applicant was detained for "
    "45 days. In 1999 the search of the flat took place. The Polish authorities opened criminal proceedings. The "
    "applicant is a farmer. Mr Zielinski met nobody. The letter was read by Mr Kowal at noon. The witness was "
    "arrested at the station with 25 parcels in a car of the school. The Regional Court dismissed the appeal of the "
    "owner in autumn. The hearing was public, while the visit of the parties was private. The lorry was full of "
    "timber, gravel and cement from the yard. The prosecutor was not present when the bags were opened. He was "
    "married.",
    "1. The Court notes that on 14 May 2003 the District Court granted the applicant's request.\n"
    "2. It further observes that Mr Nowak, as a neighbour, gave a statement, and that it was therefore reasonable to "
    "hear him.\n"
    "3. In these circumstances, the applicant was detained for 45 days, which was not justified because the hospital "
    "had issued a report.\n"
    "4. The Court considers that the search of the flat in 1999 may have been necessary, but that the authorities "
    "should have informed the owner in time.\n"
    "5. The Polish authorities opened criminal proceedings in order to establish the truth about the events.\n"
    "6. The request of the applicant had been granted before the hospital issued its report.\n"
    "7. There has accordingly been a violation of Article 8 of the Convention.",
)
ACADEMIC = case_of(
    "academic",
    "We enrolled 58 patients in a retrospective study. Figure 2 shows the mean survival. Statistical analysis was "
    "done in Python. Figure 1 shows the left artery. We used PubMed for the literature. The disease is rare in "
    "Brazil. A low dose was given to patients and nurses. The mean age was 43 years, while the median weight was 71 "
    "kg at baseline. The samples were stored in Lima until 2014 for later use. The second author was responsible for "
    "blinded reading of the slides. The questionnaire was sent to dentists, surgeons and midwives by post. The data "
    "were not shared with the sponsor of the trial. The figures were drawn in Stata by a student.",
    "1. The authors report a retrospective study of 58 patients from Brazil, and it is clearly written.\n"
    "2. Figure 2 shows the mean survival, which suggests that the low dose is effective.\n"
    "3. Statistical analysis was done in Python, so the results are reproducible for most readers.\n"
    "4. The authors should explain why PubMed alone was searched, because sources such as trial registers matter.\n"
    "5. However, the discussion is balanced, although some of the claims are strong.\n"
    "6. Please add a list to describe the patients in more detail before the next version.",
)
FRAGMENTS = case_of(
    "medical",
    "A farmer of 62 had a dry cough and a nodule in the left lung. Cultures were negative. The hearing in the left "
    "ear was reduced for a short time after a blast. The second dog was treated at home in March for worms. A small "
    "skin graft was placed on the left forearm 15 years earlier. Blood was found in a swollen knee at a follow-up "
    "visit.",
    "- **Tuberculosis:** Excluded by negative cultures and the absence of cavities on the chest scan.\n"
    "- **Sarcoidosis:** Considered due to the enlarged lymph nodes, but the biopsy showed no granulomas.\n"
    "- **Lung cancer:** The nodule in the left lung was suspicious because of its spiculated margin.\n"
    "- Absence of fever and night sweats during the stay.\n"
    "- **Decision:** The left nodule needs a biopsy before treatment, which the surgeon can do in one session.\n"
    "- **Rationale:** A biopsy of the nodule is safe, because the lung function is normal.\n"
    "- **Imaging:** The scan showed a single nodule in the left lung. The right lung was clear on the same scan.\n"
    "- **Follow-up:** The biopsy of the nodule was taken in one visit. The lung function was measured at that visit.\n"
    "- **Treatment:** The surgeon offered the patient a resection of the nodule. A second scan was planned for May.\n"
    "- **Laboratory:** The serum calcium was normal in the first week. The blood count was normal as well.",
)
FAMILY = case_of(
    "legal",
    "The mother lived in Warsaw. The father moved to Lublin with their son. The request for access was lodged within "
    "one month. The District Court refused the request without a hearing. The son was not heard by the judge. The keys "
    "of the flat were returned to the owner in winter. He liked piano, school and "
    "football. A social worker spoke with him about school. The flat was near a school, hospital and station of the "
    "line. The mother was employed by a bakery, whereas the father was unemployed. Mr Wrona was heard as a witness on "
    "11 May 2006. The appeal was read by Mr Sowa on 3 June 2006. The rent of the flat was paid for 18 days by "
    "the owner of the bakery. The appeal was dismissed because of a missing signature. He was ill.",
    "1. The Court notes that the mother lived in Warsaw and that the father moved to Lublin (see paragraph 4 above).\n"
    "2. The request for access had been lodged in time (within the statutory period of one month). It was refused by "
    "the District Court without a hearing of the parties. The son was not heard by the judge, although he was able to "
    "express his views. The keys of the flat were returned to the owner in winter.\n"
    "3. A social worker spoke with the boy about school, which was reasonable because the teachers knew the boy. "
    "The visit was justified because the boy had been absent.",
)
CASES = MEDICAL, LEGAL, ACADEMIC, FAMILY


def rule(name: str) -> Operator:
    return next(o for rules in operators("text").values() for o in rules if o.name == name)


def steps_of(case: Case) -> list[Step]:
    return split_steps(case.reference)
