"""How often each word of a swap class is drawn, by domain and class. Written by `balance.py`."""

WEIGHTS: dict[tuple[str, str], dict[str, float]] = {
    ("academic", "agent"): {
        "HIV": 0.156, "Zika": 0.448, "dengue": 1, "malaria": 0.426,
    },
    ("academic", "agent of the case"): {
        "chikungunya": 1, "dengue": 1,
    },
    ("academic", "animal"): {},
    ("academic", "begin"): {
        "final": 0.5, "initial": 1,
    },
    ("academic", "case"): {},
    ("academic", "change"): {},
    ("academic", "clinic"): {},
    ("academic", "compare"): {},
    ("academic", "compass"): {
        "north": 0.5, "south": 1,
    },
    ("academic", "continent"): {
        "America": 1, "Europe": 0.707,
    },
    ("academic", "count"): {},
    ("academic", "country"): {},
    ("academic", "course"): {},
    ("academic", "data kind"): {},
    ("academic", "design"): {},
    ("academic", "digit"): {
        "1": 1, "2": 0.5, "3": 0.5, "4": 0.563, "5": 0.375, "6": 0.25, "7": 0.0625, "8": 0.188, "9": 0.0625,
    },
    ("academic", "exhibit"): {
        "Figure": 1, "Table": 0.143,
    },
    ("academic", "extent"): {},
    ("academic", "frequency"): {
        "common": 0.5, "rare": 1,
    },
    ("academic", "frequency2"): {},
    ("academic", "germ"): {},
    ("academic", "illness"): {},
    ("academic", "illness of the case"): {},
    ("academic", "laboratory"): {},
    ("academic", "length"): {},
    ("academic", "manner"): {
        "descriptive": 0.636, "interactive": 0.729, "online": 0.864, "qualitative": 0.992, "quantitative": 1,
        "raw": 0.931, "urban": 0.666,
    },
    ("academic", "matter"): {},
    ("academic", "matter of the case"): {},
    ("academic", "measured"): {},
    ("academic", "norm"): {},
    ("academic", "number word"): {},
    ("academic", "order"): {},
    ("academic", "ordinal"): {
        "fourth": 0.481, "third": 1,
    },
    ("academic", "organisation"): {},
    ("academic", "organisation of the case"): {},
    ("academic", "organism"): {},
    ("academic", "outcome"): {},
    ("academic", "people"): {},
    ("academic", "people of the case"): {},
    ("academic", "rank"): {
        "primary": 1, "secondary": 1,
    },
    ("academic", "reach"): {
        "global": 1, "local": 1, "national": 1,
    },
    ("academic", "resource"): {},
    ("academic", "resource of the case"): {},
    ("academic", "route"): {
        "inhaled": 1, "oral": 0.5,
    },
    ("academic", "section"): {},
    ("academic", "setting"): {},
    ("academic", "severity"): {},
    ("academic", "side"): {},
    ("academic", "sign"): {},
    ("academic", "size"): {},
    ("academic", "sphere"): {
        "academic": 0.0941, "biological": 0.101, "clinical": 1, "computational": 0.0889, "genetic": 0.225,
        "hepatic": 0.074, "mathematical": 0.0755, "medical": 0.188, "scientific": 0.0893, "statistical": 0.184,
        "structural": 0.123, "technical": 0.0802,
    },
    ("academic", "statistics"): {},
    ("academic", "statistics of the case"): {},
    ("academic", "supply"): {},
    ("academic", "tail"): {},
    ("academic", "technique"): {
        "imaging": 1, "visualization": 1,
    },
    ("academic", "technique of the case"): {},
    ("academic", "test"): {},
    ("academic", "time"): {},
    ("academic", "tool of the case"): {},
    ("academic", "unit"): {
        "month": 0.25, "week": 0.424, "year": 1,
    },
    ("academic", "vessel"): {
        "arterial": 1, "venous": 0.5,
    },
    ("academic", "year"): {},
    ("legal", "begin"): {},
    ("legal", "body"): {
        "commission": 1, "hospital": 0.25, "ministry": 0.424,
    },
    ("legal", "body of the case"): {},
    ("legal", "care"): {},
    ("legal", "compare"): {},
    ("legal", "country"): {
        "British": 1, "Polish": 1,
    },
    ("legal", "court"): {
        "City": 0.075, "Constitutional": 0.278, "County": 0.089, "District": 1, "High": 0.0978, "Municipal": 0.0837,
        "Regional": 0.609, "Supreme": 0.476,
    },
    ("legal", "crime"): {},
    ("legal", "crime of the case"): {},
    ("legal", "day"): {
        "10": 0.556, "11": 0.397, "12": 0.723, "14": 0.39, "15": 0.219, "17": 0.623, "18": 0.209, "19": 1,
        "20": 0.785, "24": 0.475, "30": 0.0879,
    },
    ("legal", "digit"): {},
    ("legal", "field"): {
        "administrative": 0.00162, "civil": 0.548, "criminal": 1,
    },
    ("legal", "form"): {},
    ("legal", "health"): {},
    ("legal", "hold"): {},
    ("legal", "inquiry"): {
        "examination": 1, "hearing": 0.784, "meeting": 0.212, "search": 0.105, "trial": 0.0269,
    },
    ("legal", "inquiry of the case"): {},
    ("legal", "instance"): {},
    ("legal", "kin"): {
        "father": 1, "mother": 1,
    },
    ("legal", "level"): {},
    ("legal", "man"): {},
    ("legal", "man of the case"): {
        "father": 1, "son": 0.5,
    },
    ("legal", "manner"): {
        "additional": 0.437, "emergency": 0.0674, "immediate": 0.393, "preliminary": 0.305, "supervised": 0.339,
        "written": 1,
    },
    ("legal", "matter"): {
        "housing": 0.5, "imprisonment": 1, "pollution": 0.5, "rape": 1,
    },
    ("legal", "matter of the case"): {},
    ("legal", "medium of the case"): {},
    ("legal", "modifier"): {
        "genetic": 0.00184, "medical": 1, "psychiatric": 0.414,
    },
    ("legal", "modifier of the case"): {
        "medical": 1, "psychiatric": 1,
    },
    ("legal", "month"): {
        "April": 0.434, "August": 0.273, "December": 0.16, "February": 0.332, "January": 0.715, "July": 0.905,
        "June": 0.67, "March": 0.503, "May": 0.518, "November": 0.222, "October": 1, "September": 0.279,
    },
    ("legal", "move"): {},
    ("legal", "number word"): {
        "four": 0.0227, "seven": 2.76e-07, "six": 0.316, "ten": 0.00294, "three": 0.341, "two": 1,
    },
    ("legal", "official"): {
        "bailiff": 1, "investigator": 1, "mayor": 1,
    },
    ("legal", "official of the case"): {},
    ("legal", "ordinal"): {
        "first": 1, "fourth": 1.2e-05, "second": 0.346, "third": 0.00037,
    },
    ("legal", "outcome"): {
        "dismissed": 1, "granted": 0.75,
    },
    ("legal", "outcome2"): {},
    ("legal", "outcome3"): {},
    ("legal", "paper"): {
        "agreement": 0.0279, "letter": 1, "recording": 0.186, "report": 0.534,
    },
    ("legal", "paper of the case"): {},
    ("legal", "party"): {},
    ("legal", "place"): {},
    ("legal", "place of the case"): {},
    ("legal", "professional"): {
        "expert": 1, "lawyer": 0.5,
    },
    ("legal", "professional of the case"): {},
    ("legal", "removal"): {
        "birth": 0.479, "dismissal": 0.034, "marriage": 1, "separation": 0.241,
    },
    ("legal", "removal of the case"): {},
    ("legal", "sanction"): {
        "fine": 0.5, "imprisonment": 1,
    },
    ("legal", "speak"): {},
    ("legal", "sphere"): {
        "financial": 0.473, "genetic": 0.245, "professional": 0.245, "psychiatric": 1,
    },
    ("legal", "stage"): {},
    ("legal", "state"): {},
    ("legal", "unit"): {
        "day": 0.195, "hour": 0.232, "month": 0.000586, "year": 1,
    },
    ("legal", "weekday"): {},
    ("legal", "woman"): {
        "daughter": 1, "mother": 0.905, "wife": 0.667,
    },
    ("legal", "woman of the case"): {
        "daughter": 0.667, "mother": 1,
    },
    ("legal", "year"): {
        "2005": 0.268, "2006": 0.00194, "2007": 0.0499, "2008": 1, "2012": 0.0277,
    },
    ("medical", "antibody"): {},
    ("medical", "begin"): {},
    ("medical", "cause"): {
        "autoimmune": 0.168, "idiopathic": 0.137, "infectious": 0.015, "inflammatory": 1, "metabolic": 0.423,
        "vascular": 0.974,
    },
    ("medical", "chamber"): {},
    ("medical", "change"): {},
    ("medical", "changed"): {},
    ("medical", "compare"): {},
    ("medical", "content"): {},
    ("medical", "count"): {},
    ("medical", "course"): {
        "acute": 1, "chronic": 0.5,
    },
    ("medical", "depth"): {
        "deep": 1, "superficial": 1,
    },
    ("medical", "digit"): {
        "1": 0.25, "2": 1, "3": 1, "4": 0.25, "5": 0.5, "7": 0.25, "8": 0.25,
    },
    ("medical", "drug"): {
        "acyclovir": 0.221, "albendazole": 0.221, "aspirin": 0.228, "bevacizumab": 0.23, "bortezomib": 0.238,
        "carboplatin": 0.269, "ciprofloxacin": 0.236, "cisplatin": 1, "cyclophosphamide": 0.497,
        "cyclosporine": 0.237, "dexamethasone": 0.515, "doxorubicin": 0.228, "doxycycline": 0.228,
        "ganciclovir": 0.228, "heparin": 0.221, "hydrocortisone": 0.459, "ketamine": 0.221, "levothyroxine": 0.46,
        "methylprednisolone": 0.476, "paclitaxel": 0.496, "risperidone": 0.221, "rituximab": 0.238,
    },
    ("medical", "drug group"): {},
    ("medical", "drug of the case"): {},
    ("medical", "extent"): {
        "complete": 0.5, "partial": 1,
    },
    ("medical", "gene"): {
        "EGFR": 1, "NRAS": 0.5, "RHOA": 0.5, "TERT": 1,
    },
    ("medical", "germ"): {},
    ("medical", "height"): {
        "lower": 1, "upper": 0.25,
    },
    ("medical", "heredity"): {},
    ("medical", "imaging"): {
        "PET": 3.02e-07, "angiography": 0.771, "ultrasound": 1,
    },
    ("medical", "imaging of the case"): {},
    ("medical", "inflammation"): {
        "diabetes": 0.401, "meningitis": 0.58, "peritonitis": 0.401, "sepsis": 0.973, "syphilis": 0.483,
        "tuberculosis": 1,
    },
    ("medical", "inflammation of the case"): {},
    ("medical", "joint"): {
        "ankle": 1, "knee": 1,
    },
    ("medical", "laboratory"): {
        "bradycardia": 0.384, "dehydration": 0.997, "hyperkalemia": 0.694, "hypertension": 0.926,
        "hypoglycemia": 0.811, "hyponatremia": 1, "malnutrition": 0.501,
    },
    ("medical", "laboratory test"): {},
    ("medical", "large"): {
        "large": 1, "small": 0.333,
    },
    ("medical", "lesion"): {
        "calcification": 0.649, "hemorrhage": 1, "infarct": 0.371, "tumor": 0.428,
    },
    ("medical", "level"): {
        "high": 1, "low": 0.333,
    },
    ("medical", "lobe"): {},
    ("medical", "manner"): {
        "antibiotic": 0.0117, "antihypertensive": 0.0217, "antithrombotic": 0.025, "conservative": 0.103,
        "hormonal": 0.00797, "immunosuppressive": 0.00973, "multidisciplinary": 0.0183, "orthodontic": 0.0102,
        "prosthetic": 0.00741, "surgical": 1,
    },
    ("medical", "marker"): {
        "CD117": 0.531, "CD20": 0.999, "CD34": 1, "CK20": 0.133, "CK7": 0.225, "HMB-45": 0.00548, "PAX8": 0.12,
        "S100": 0.0432, "STAT6": 0.42,
    },
    ("medical", "middle"): {
        "lateral": 1, "medial": 1,
    },
    ("medical", "nature"): {
        "benign": 0.222, "malignant": 1,
    },
    ("medical", "norm"): {},
    ("medical", "onset"): {},
    ("medical", "order"): {
        "after": 1, "before": 1,
    },
    ("medical", "ordinal"): {},
    ("medical", "organism"): {
        "Nocardia": 0.449, "Staphylococcus": 1, "Streptococcus": 0.692, "rubella": 0.586,
    },
    ("medical", "pain"): {},
    ("medical", "part"): {
        "neurological": 0.386, "ocular": 0.318, "renal": 1, "respiratory": 0.302,
    },
    ("medical", "pathology"): {
        "calcification": 0.401, "dysplasia": 0.313, "hemorrhage": 0.971, "inflammation": 0.924, "malignancy": 1,
        "necrosis": 0.378, "perforation": 0.368, "sepsis": 0.668, "stenosis": 0.326, "trauma": 0.483,
    },
    ("medical", "pole"): {
        "inferior": 1, "superior": 1,
    },
    ("medical", "quantity"): {},
    ("medical", "raised"): {
        "elevated": 1, "normal": 0.29, "reduced": 0.129,
    },
    ("medical", "rank"): {
        "primary": 1, "secondary": 1,
    },
    ("medical", "reach"): {
        "distal": 1, "proximal": 1,
    },
    ("medical", "regular"): {},
    ("medical", "route"): {
        "intravenous": 1, "oral": 0.25, "topical": 0.846,
    },
    ("medical", "scope"): {},
    ("medical", "severity"): {},
    ("medical", "side"): {
        "left": 1, "right": 0.8,
    },
    ("medical", "sides"): {},
    ("medical", "sign"): {
        "negative": 1, "positive": 0.444,
    },
    ("medical", "spine"): {},
    ("medical", "spread"): {},
    ("medical", "substance"): {
        "ACTH": 0.538, "CRP": 0.422, "TSH": 1, "albumin": 0.397, "aldosterone": 0.502, "calcitonin": 0.421,
        "calcium": 0.972, "estrogen": 0.405, "insulin": 0.917, "magnesium": 0.397, "potassium": 0.537, "renin": 0.502,
        "troponin": 0.857, "urea": 0.464,
    },
    ("medical", "substance of the case"): {},
    ("medical", "symptom"): {
        "ataxia": 0.0871, "cough": 0.106, "diplopia": 0.166, "dysuria": 0.0848, "fatigue": 0.105, "fever": 1,
        "hematuria": 0.091, "lethargy": 0.0969, "nausea": 0.113, "pain": 0.307, "seizures": 0.0915,
        "swelling": 0.0859, "vomiting": 0.359,
    },
    ("medical", "system"): {
        "cardiac": 0.139, "cardiovascular": 0.131, "motor": 0.144, "neurological": 1, "ocular": 0.13,
        "ophthalmologic": 0.135, "pulmonary": 0.306, "renal": 0.276, "respiratory": 0.24, "skeletal": 0.135,
        "visual": 0.119,
    },
    ("medical", "texture"): {
        "cystic": 1, "endothelial": 0.489, "enhancing": 0.605, "fibrous": 0.468, "infiltrative": 0.603,
        "lobulated": 0.436, "mesenchymal": 0.875, "nodular": 0.427, "spindle": 0.481, "squamous": 0.514,
    },
    ("medical", "therapy"): {
        "drainage": 0.00753, "radiation": 0.429, "radiotherapy": 1, "rehabilitation": 0.00753, "surgery": 0.909,
    },
    ("medical", "time"): {},
    ("medical", "tissue test"): {
        "autopsy": 6.9e-09, "biopsy": 0.598, "cytology": 1.38e-08, "histopathology": 1,
        "immunohistochemistry": 1.85e-08,
    },
    ("medical", "tissue test of the case"): {},
    ("medical", "trend"): {},
    ("medical", "tumor"): {
        "leiomyosarcoma": 0.58, "lymphoma": 0.29, "tumor": 1,
    },
    ("medical", "tumor of the case"): {},
    ("medical", "unit"): {},
    ("medical", "valve"): {},
    ("medical", "vessel"): {},
    ("medical", "virus"): {},
    ("medical", "when"): {
        "postoperative": 1, "preoperative": 1,
    },
    ("medical", "worse"): {},
    ("medical", "zygosity"): {
        "heterozygous": 1, "homozygous": 1,
    },
}  # fmt: skip
