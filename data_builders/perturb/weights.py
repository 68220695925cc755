"""How often each word of a swap class is drawn, by domain and class. Written by `balance.py`."""

WEIGHTS: dict[tuple[str, str], dict[str, float]] = {
    ("academic", "age"): {
        "adult": 1,
    },
    ("academic", "agent"): {
        "Zika": 1, "dengue": 0.00797,
    },
    ("academic", "agent of the case"): {
        "Zika": 1, "chikungunya": 0.312,
    },
    ("academic", "animal"): {
        "human": 1,
    },
    ("academic", "average"): {
        "mean": 1,
    },
    ("academic", "begin"): {
        "final": 0.333, "initial": 1,
    },
    ("academic", "change"): {
        "increase": 1,
    },
    ("academic", "clinic"): {
        "CT": 1, "biopsy": 1,
    },
    ("academic", "clinic of the case"): {
        "biopsy": 1,
    },
    ("academic", "compare"): {
        "lower": 1,
    },
    ("academic", "compass"): {
        "north": 0.5, "south": 1,
    },
    ("academic", "continent"): {
        "America": 1, "Europe": 0.00881,
    },
    ("academic", "count"): {
        "single": 1,
    },
    ("academic", "country"): {
        "Myanmar": 1,
    },
    ("academic", "course"): {
        "acute": 0.837, "chronic": 0.194, "fatal": 0.000131, "severe": 1,
    },
    ("academic", "data kind"): {
        "quantitative": 1,
    },
    ("academic", "design"): {
        "prospective": 1,
    },
    ("academic", "digit"): {
        "1": 1, "2": 0.529, "3": 0.471, "4": 0.471, "5": 0.353, "6": 0.235, "7": 0.0588, "8": 0.176, "9": 0.0588,
    },
    ("academic", "exhibit"): {
        "Figure": 1, "Table": 0.333,
    },
    ("academic", "extent"): {
        "partial": 1,
    },
    ("academic", "frequency"): {
        "common": 0.714, "frequent": 0.429, "rare": 1,
    },
    ("academic", "frequency2"): {
        "daily": 1,
    },
    ("academic", "front"): {
        "frontal": 1,
    },
    ("academic", "germ"): {
        "viral": 1,
    },
    ("academic", "height"): {
        "lower": 1,
    },
    ("academic", "illness"): {
        "embolism": 1,
    },
    ("academic", "illness of the case"): {
        "edema": 1,
    },
    ("academic", "laboratory"): {
        "cytometry": 1,
    },
    ("academic", "laboratory of the case"): {
        "ChIP-seq": 1,
    },
    ("academic", "language"): {
        "Python": 1,
    },
    ("academic", "large"): {
        "large": 1, "small": 1,
    },
    ("academic", "length"): {
        "long": 1,
    },
    ("academic", "level"): {
        "high": 1, "low": 1,
    },
    ("academic", "manner"): {
        "descriptive": 0.403, "interactive": 0.443, "online": 0.498, "peer-reviewed": 1, "qualitative": 0.572,
        "quantitative": 0.574, "raw": 0.736, "urban": 0.433,
    },
    ("academic", "matter"): {
        "citation": 1, "teaching": 0.58, "temperature": 0.29,
    },
    ("academic", "matter of the case"): {
        "reproducibility": 1, "teaching": 0.00554,
    },
    ("academic", "norm"): {
        "normal": 1,
    },
    ("academic", "number word"): {
        "ten": 0.00939, "three": 0.0939, "two": 1,
    },
    ("academic", "order"): {
        "after": 1,
    },
    ("academic", "ordinal"): {
        "first": 1, "fourth": 0.515, "second": 0.54, "third": 0.835,
    },
    ("academic", "organisation"): {
        "NIH": 1, "WHO": 0.5,
    },
    ("academic", "organisation of the case"): {
        "ELIXIR": 1,
    },
    ("academic", "organism"): {
        "plants": 1, "vaccines": 1,
    },
    ("academic", "organism of the case"): {
        "vaccines": 1,
    },
    ("academic", "outcome"): {
        "successful": 1,
    },
    ("academic", "people"): {
        "authors": 1, "users": 1,
    },
    ("academic", "people of the case"): {
        "patients": 1, "users": 0.0215,
    },
    ("academic", "rank"): {
        "primary": 1, "secondary": 1,
    },
    ("academic", "reach"): {
        "global": 1, "local": 0.5, "national": 0.5,
    },
    ("academic", "resource"): {
        "Bioconductor": 0.0616, "Bowtie": 0.0563, "Cufflinks": 0.226, "GitHub": 0.124, "TopHat": 0.226,
        "Web of Science": 1, "Zenodo": 0.354, "arXiv": 0.1,
    },
    ("academic", "resource of the case"): {
        "Bowtie": 0.00409, "Cytoscape": 1, "Docker": 0.127, "Galaxy": 0.0116, "Graphviz": 0.00797, "arXiv": 0.000129,
    },
    ("academic", "route"): {
        "inhaled": 1, "oral": 0.25,
    },
    ("academic", "section"): {
        "appendix": 1,
    },
    ("academic", "setting"): {
        "silico": 1,
    },
    ("academic", "severity"): {
        "severe": 1,
    },
    ("academic", "side"): {
        "left": 0.167, "right": 1,
    },
    ("academic", "sign"): {
        "negative": 1,
    },
    ("academic", "size"): {
        "smaller": 1,
    },
    ("academic", "sphere"): {
        "academic": 0.109, "biological": 0.397, "clinical": 1, "computational": 0.226, "genetic": 0.25,
        "hepatic": 0.0834, "mathematical": 0.0855, "medical": 0.19, "scientific": 0.433, "statistical": 0.265,
        "structural": 0.152, "technical": 0.102,
    },
    ("academic", "statistic"): {
        "speed": 1,
    },
    ("academic", "statistics"): {
        "RMSD": 0.304, "RMSF": 0.522, "UMAP": 1,
    },
    ("academic", "statistics of the case"): {
        "RMSF": 1,
    },
    ("academic", "supply"): {
        "free": 1,
    },
    ("academic", "tail"): {
        "maximum": 1,
    },
    ("academic", "technique"): {
        "imaging": 0.29, "simulations": 0.58, "visualization": 1,
    },
    ("academic", "technique of the case"): {
        "docking": 1,
    },
    ("academic", "test"): {
        "sensitivity": 1,
    },
    ("academic", "time"): {
        "late": 1,
    },
    ("academic", "tool"): {
        "algorithm": 0.0246, "interface": 0.0451, "library": 0.0172, "model": 0.198, "package": 0.0428,
        "platform": 0.0121, "protocol": 0.00967, "script": 1, "simulation": 0.0238, "tool": 0.685, "workflow": 0.0125,
        "workshop": 0.00826,
    },
    ("academic", "tool of the case"): {
        "app": 1, "pipeline": 1,
    },
    ("academic", "unit"): {
        "day": 0.481, "month": 0.55, "week": 0.277, "year": 1,
    },
    ("academic", "vessel"): {
        "arterial": 1, "venous": 0.5,
    },
    ("academic", "year"): {
        "1957": 1, "1999": 1, "2014": 1,
    },
    ("legal", "begin"): {
        "final": 1,
    },
    ("legal", "body"): {
        "commission": 0.673, "council": 0.404, "hospital": 0.215, "ministry": 1, "university": 0.36,
    },
    ("legal", "body of the case"): {
        "university": 1,
    },
    ("legal", "care"): {
        "access": 1, "custody": 0.283,
    },
    ("legal", "changed"): {
        "increased": 1,
    },
    ("legal", "compare"): {
        "lower": 1,
    },
    ("legal", "compass2"): {
        "northern": 1,
    },
    ("legal", "country"): {
        "British": 0.104, "Croatian": 0.103, "Hungarian": 0.207, "Irish": 0.2, "Polish": 1, "Swiss": 0.104,
        "Turkish": 0.31,
    },
    ("legal", "court"): {
        "Administrative": 0.118, "City": 0.0314, "Constitutional": 0.182, "County": 0.0883, "District": 1,
        "High": 0.429, "Municipal": 0.118, "Regional": 0.808, "Supreme": 0.736,
    },
    ("legal", "crime"): {
        "assault": 1,
    },
    ("legal", "crime of the case"): {
        "assault": 0.5, "rape": 1,
    },
    ("legal", "day"): {
        "1": 0.371, "10": 0.403, "11": 0.399, "12": 0.955, "14": 0.456, "15": 0.399, "17": 0.399, "18": 0.399,
        "19": 0.453, "2": 1, "20": 0.403, "24": 0.439, "30": 0.399, "4": 0.804, "5": 0.804, "7": 0.858,
    },
    ("legal", "digit"): {
        "1": 1, "3": 0.333, "4": 1, "7": 0.333, "8": 0.667, "9": 0.333,
    },
    ("legal", "field"): {
        "civil": 0.358, "criminal": 1,
    },
    ("legal", "form"): {
        "written": 1,
    },
    ("legal", "health"): {
        "mental": 0.2, "physical": 1,
    },
    ("legal", "hold"): {
        "owner": 1, "tenant": 1,
    },
    ("legal", "inquiry"): {
        "examination": 0.217, "hearing": 0.165, "search": 1, "trial": 0.109,
    },
    ("legal", "inquiry of the case"): {
        "hearing": 0.0999, "search": 1, "trial": 0.15,
    },
    ("legal", "instance"): {
        "appellate": 0.2, "first-instance": 1,
    },
    ("legal", "kin"): {
        "father": 1, "mother": 0.333,
    },
    ("legal", "level"): {
        "high": 1,
    },
    ("legal", "man"): {
        "father": 1, "son": 0.138,
    },
    ("legal", "man of the case"): {
        "father": 1, "husband": 0.0538,
    },
    ("legal", "manner"): {
        "additional": 0.0671, "confidential": 0.0716, "emergency": 0.0681, "immediate": 0.131, "interim": 0.415,
        "preliminary": 0.0716, "regular": 0.458, "supervised": 0.0868, "temporary": 1, "written": 0.813,
    },
    ("legal", "matter"): {
        "adoption": 0.134, "compensation": 0.263, "correspondence": 0.154, "drug trafficking": 0.148, "evidence": 1,
        "housing": 0.139, "imprisonment": 0.199, "money": 0.171, "pollution": 0.143, "rape": 0.157,
    },
    ("legal", "matter of the case"): {
        "housing": 1, "pollution": 1,
    },
    ("legal", "medium"): {
        "article": 1,
    },
    ("legal", "medium of the case"): {
        "article": 1,
    },
    ("legal", "modifier"): {
        "medical": 0.557, "psychological": 1,
    },
    ("legal", "modifier of the case"): {
        "medical": 1, "psychiatric": 0.143,
    },
    ("legal", "month"): {
        "April": 0.347, "August": 0.367, "December": 0.203, "February": 0.378, "January": 0.647, "July": 0.898,
        "June": 0.691, "March": 0.689, "May": 0.497, "November": 0.288, "October": 1, "September": 0.295,
    },
    ("legal", "move"): {
        "lodged": 1,
    },
    ("legal", "number word"): {
        "five": 0.0464, "four": 0.0968, "seven": 0.0462, "six": 0.386, "ten": 0.18, "three": 0.295, "two": 1,
    },
    ("legal", "official"): {
        "public prosecutor": 1,
    },
    ("legal", "official of the case"): {
        "bailiff": 0.00103, "investigator": 1, "mayor": 0.0114,
    },
    ("legal", "order"): {
        "care order": 0.112, "deportation order": 0.00353, "eviction order": 1,
    },
    ("legal", "order of the case"): {
        "search warrant": 1, "warrant": 1,
    },
    ("legal", "ordinal"): {
        "first": 1, "second": 0.182,
    },
    ("legal", "outcome"): {
        "dismissed": 0.571, "granted": 1,
    },
    ("legal", "outcome2"): {
        "quashed": 0.5, "upheld": 1,
    },
    ("legal", "outcome3"): {
        "rejected": 1,
    },
    ("legal", "paper"): {
        "agreement": 0.0144, "certificate": 0.026, "letter": 0.345, "medical certificate": 0.0279, "passport": 0.0187,
        "recording": 0.076, "report": 0.0383, "statement": 1, "written statement": 0.507,
    },
    ("legal", "paper of the case"): {
        "passport": 0.000247, "recording": 1, "written statement": 0.00267,
    },
    ("legal", "party"): {
        "defendant": 1,
    },
    ("legal", "place"): {
        "apartment": 0.0252, "flat": 0.014, "home": 1, "house": 0.0787, "office": 0.0897,
    },
    ("legal", "place of the case"): {
        "apartment": 0.14, "flat": 1,
    },
    ("legal", "professional"): {
        "expert": 0.647, "lawyer": 1, "witness": 0.412,
    },
    ("legal", "professional of the case"): {
        "expert": 1, "lawyer": 0.5, "witness": 0.5,
    },
    ("legal", "removal"): {
        "adoption": 0.0961, "arrest": 0.128, "auction": 0.674, "birth": 0.502, "deportation": 0.188,
        "dismissal": 0.281, "divorce": 0.13, "eviction": 1, "expulsion": 0.314, "marriage": 0.435, "operation": 0.287,
        "placement": 0.114, "separation": 0.388,
    },
    ("legal", "removal of the case"): {
        "deportation": 0.00105, "eviction": 0.00367, "placement": 1,
    },
    ("legal", "sanction"): {
        "fine": 0.5, "imprisonment": 1,
    },
    ("legal", "speak"): {
        "denied": 1,
    },
    ("legal", "sphere"): {
        "financial": 0.0856, "forensic": 0.168, "medical": 0.531, "personal": 1, "physical": 0.196,
        "professional": 0.0635, "psychiatric": 0.192, "psychological": 0.156,
    },
    ("legal", "stage"): {
        "discontinued": 1, "opened": 1,
    },
    ("legal", "state"): {
        "permanent": 0.333, "temporary": 1,
    },
    ("legal", "state name"): {
        "Switzerland": 1,
    },
    ("legal", "unit"): {
        "day": 0.303, "hour": 0.41, "month": 0.245, "year": 1,
    },
    ("legal", "verdict"): {
        "convicted": 1,
    },
    ("legal", "weekday"): {
        "Saturday": 1,
    },
    ("legal", "woman"): {
        "daughter": 0.0135, "mother": 1,
    },
    ("legal", "woman of the case"): {
        "daughter": 0.316, "grandmother": 1, "mother": 1, "wife": 0.109,
    },
    ("legal", "year"): {
        "1982": 0.0152, "2002": 0.00492, "2003": 0.00229, "2005": 0.0564, "2006": 0.285, "2007": 0.107, "2008": 1,
        "2011": 0.169, "2012": 0.157, "2013": 0.23, "2014": 0.222, "2015": 0.261, "2016": 0.263, "2018": 0.105,
    },
    ("medical", "antibody"): {
        "ANA": 0.333, "IgG": 0.667, "IgM": 1,
    },
    ("medical", "begin"): {
        "final": 0.333, "initial": 1,
    },
    ("medical", "cause"): {
        "autoimmune": 1, "demyelinating": 0.155, "genetic": 0.17, "idiopathic": 0.0782, "infectious": 0.336,
        "inflammatory": 0.289, "ischemic": 0.166, "metabolic": 0.172, "thrombotic": 0.296, "vascular": 0.992,
        "viral": 0.117,
    },
    ("medical", "chamber"): {
        "atrial": 1, "ventricular": 0.5,
    },
    ("medical", "change"): {
        "increase": 1,
    },
    ("medical", "changed"): {
        "increased": 1,
    },
    ("medical", "compare"): {
        "lower": 1,
    },
    ("medical", "content"): {
        "cystic": 1,
    },
    ("medical", "count"): {
        "multiple": 1,
    },
    ("medical", "course"): {
        "acute": 1, "chronic": 0.556,
    },
    ("medical", "depth"): {
        "deep": 1, "superficial": 1,
    },
    ("medical", "digit"): {
        "1": 0.25, "2": 1, "3": 1, "4": 0.25, "5": 0.5, "7": 0.25, "8": 0.25,
    },
    ("medical", "drug"): {
        "acyclovir": 0.222, "albendazole": 0.222, "aspirin": 0.228, "baclofen": 0.456, "bevacizumab": 0.229,
        "bortezomib": 0.234, "carboplatin": 0.256, "ciprofloxacin": 0.233, "cisplatin": 1, "cyclophosphamide": 0.516,
        "cyclosporine": 0.235, "dexamethasone": 0.603, "doxorubicin": 0.241, "doxycycline": 0.228,
        "ganciclovir": 0.228, "heparin": 0.227, "hydrocortisone": 0.457, "ketamine": 0.222, "lenalidomide": 0.447,
        "levothyroxine": 0.457, "magnesium sulfate": 0.227, "methylprednisolone": 0.471, "paclitaxel": 0.484,
        "pembrolizumab": 0.235, "risperidone": 0.222, "rituximab": 0.708, "zoledronic acid": 0.246,
    },
    ("medical", "drug group"): {
        "steroids": 1,
    },
    ("medical", "drug of the case"): {
        "aspirin": 0.000334, "bevacizumab": 0.000334, "hydrocortisone": 0.547, "lenalidomide": 1,
        "levothyroxine": 0.547, "magnesium sulfate": 0.000334, "methylprednisolone": 0.000668,
        "pembrolizumab": 0.000334, "risperidone": 0.000334,
    },
    ("medical", "extent"): {
        "complete": 1, "partial": 0.667,
    },
    ("medical", "front"): {
        "posterior": 1,
    },
    ("medical", "gene"): {
        "COL4A1": 1,
    },
    ("medical", "germ"): {
        "Burkholderia": 0.975, "Chlamydia": 0.975, "Nocardia": 0.488, "Staphylococcus": 1, "Streptococcus": 0.571,
        "rubella": 0.558, "viral": 0.506,
    },
    ("medical", "height"): {
        "lower": 1, "upper": 0.333,
    },
    ("medical", "heredity"): {
        "dominant": 1,
    },
    ("medical", "imaging"): {
        "CT": 1, "CTA": 0.13, "MRI": 0.835, "angiography": 0.0277, "echocardiography": 0.00424, "ultrasound": 0.0381,
    },
    ("medical", "imaging of the case"): {
        "CT": 1, "ultrasound": 0.2,
    },
    ("medical", "inflammation"): {
        "appendicitis": 0.26, "cardiomyopathy": 0.276, "diabetes": 0.519, "meningitis": 0.287, "myocarditis": 0.527,
        "osteomyelitis": 0.259, "pancreatitis": 0.262, "pericarditis": 0.527, "peritonitis": 0.288,
        "pneumonia": 0.323, "sepsis": 0.944, "stroke": 0.328, "syphilis": 0.293, "tuberculosis": 1,
    },
    ("medical", "inflammation of the case"): {
        "cardiomyopathy": 0.721, "pancreatitis": 0.0268, "tuberculosis": 1,
    },
    ("medical", "joint"): {
        "ankle": 0.333, "hip": 1, "knee": 0.333,
    },
    ("medical", "laboratory"): {
        "bradycardia": 0.288, "coagulopathy": 0.282, "dehydration": 0.37, "hyperkalemia": 0.333, "hypertension": 1,
        "hypoglycemia": 0.366, "hyponatremia": 0.37, "hypotension": 0.66, "malnutrition": 0.329,
        "pancytopenia": 0.564, "proteinuria": 0.286, "tachycardia": 0.352,
    },
    ("medical", "laboratory test"): {
        "EEG": 1,
    },
    ("medical", "laboratory test of the case"): {
        "EEG": 1,
    },
    ("medical", "large"): {
        "large": 1, "small": 0.333,
    },
    ("medical", "length"): {
        "short": 1,
    },
    ("medical", "lesion"): {
        "abscess": 0.264, "calcification": 1, "cyst": 0.144, "fracture": 0.102, "hemorrhage": 0.381, "infarct": 0.103,
        "tumor": 0.613,
    },
    ("medical", "level"): {
        "high": 0.429, "low": 1,
    },
    ("medical", "lobe"): {
        "occipital": 1,
    },
    ("medical", "manner"): {
        "adjuvant": 0.00419, "antibiotic": 0.00877, "antihypertensive": 0.00706, "antithrombotic": 0.00724,
        "conservative": 0.0511, "hormonal": 0.00385, "immunosuppressive": 0.00345, "intra-articular": 0.00704,
        "multidisciplinary": 0.0083, "orthodontic": 0.00345, "palliative": 0.00989, "prosthetic": 0.00335,
        "surgical": 1, "systemic": 0.0415,
    },
    ("medical", "marker"): {
        "TTF-1": 1,
    },
    ("medical", "marker of the case"): {
        "CK20": 1, "CK7": 1,
    },
    ("medical", "middle"): {
        "lateral": 1, "medial": 0.667,
    },
    ("medical", "nature"): {
        "benign": 0.25, "malignant": 1,
    },
    ("medical", "norm"): {
        "normal": 1,
    },
    ("medical", "onset"): {
        "sudden": 1,
    },
    ("medical", "order"): {
        "after": 1, "before": 0.5,
    },
    ("medical", "ordinal"): {
        "first": 1, "second": 1,
    },
    ("medical", "pain"): {
        "painful": 1,
    },
    ("medical", "part"): {
        "adrenal": 0.481, "cardiac": 0.069, "gastric": 0.219, "gastrointestinal": 0.225, "hepatic": 0.138,
        "intestinal": 0.308, "neurological": 0.278, "ocular": 0.394, "pancreatic": 0.274, "renal": 1,
        "respiratory": 0.0744, "splenic": 0.137,
    },
    ("medical", "pathology"): {
        "arrhythmia": 0.145, "bleeding": 0.237, "calcification": 0.699, "dysplasia": 0.149, "fibrosis": 0.295,
        "hemorrhage": 0.663, "hypertrophy": 0.151, "infection": 0.655, "inflammation": 0.658, "malignancy": 1,
        "necrosis": 0.157, "perforation": 0.326, "sepsis": 0.463, "stenosis": 0.152, "trauma": 0.625,
    },
    ("medical", "pole"): {
        "inferior": 1, "superior": 1,
    },
    ("medical", "quantity"): {
        "extensive": 1,
    },
    ("medical", "raised"): {
        "elevated": 1, "normal": 0.741,
    },
    ("medical", "rank"): {
        "primary": 1, "secondary": 0.375,
    },
    ("medical", "reach"): {
        "distal": 1, "proximal": 1,
    },
    ("medical", "regular"): {
        "persistent": 1,
    },
    ("medical", "route"): {
        "intravenous": 0.817, "oral": 1, "subcutaneous": 0.27, "topical": 0.593,
    },
    ("medical", "scope"): {
        "endoscopy": 1,
    },
    ("medical", "severity"): {
        "severe": 1,
    },
    ("medical", "side"): {
        "left": 0.833, "right": 1,
    },
    ("medical", "sides"): {
        "bilateral": 1,
    },
    ("medical", "sign"): {
        "negative": 1, "positive": 0.364,
    },
    ("medical", "speed"): {
        "slow": 1,
    },
    ("medical", "spine"): {
        "cervical": 1,
    },
    ("medical", "spread"): {
        "metastatic": 1,
    },
    ("medical", "substance"): {
        "ACTH": 0.506, "CEA": 0.264, "CRP": 0.405, "PSA": 0.263, "TSH": 0.311, "albumin": 0.132, "aldosterone": 0.172,
        "calcitonin": 0.151, "calcium": 1, "copper": 0.395, "cortisol": 0.349, "creatinine": 0.517, "estrogen": 0.133,
        "glucose": 0.62, "insulin": 0.318, "magnesium": 0.132, "potassium": 0.196, "renin": 0.172, "troponin": 0.271,
        "urea": 0.182,
    },
    ("medical", "substance of the case"): {
        "ACTH": 1, "aldosterone": 0.00808, "estrogen": 0.244, "renin": 0.00808, "troponin": 0.243,
    },
    ("medical", "symptom"): {
        "abdominal pain": 0.111, "ataxia": 0.0338, "back pain": 0.0819, "cough": 0.044, "diplopia": 0.0658,
        "dyspnea": 0.13, "dysuria": 0.0355, "fatigue": 0.0386, "fever": 1, "hematuria": 0.0431, "lethargy": 0.0354,
        "nausea": 0.041, "pain": 0.287, "seizures": 0.0346, "swelling": 0.103, "vomiting": 0.126,
        "weight loss": 0.313,
    },
    ("medical", "system"): {
        "cardiac": 0.0932, "cardiovascular": 0.0901, "gastrointestinal": 0.0449, "motor": 0.0533, "neurological": 1,
        "ocular": 0.42, "ophthalmologic": 0.0616, "psychiatric": 0.0865, "pulmonary": 0.143, "renal": 0.333,
        "respiratory": 0.0695, "skeletal": 0.0429, "visual": 0.108,
    },
    ("medical", "texture"): {
        "cystic": 0.264, "endothelial": 0.155, "enhancing": 0.211, "fibrous": 0.154, "infiltrative": 0.149,
        "lobulated": 0.126, "mesenchymal": 0.255, "mucinous": 0.125, "neuroendocrine": 0.152, "nodular": 0.125,
        "soft": 0.436, "spindle": 0.575, "squamous": 1, "stromal": 0.143,
    },
    ("medical", "therapy"): {
        "physical therapy": 1,
    },
    ("medical", "therapy of the case"): {
        "anticoagulation": 0.5, "chemotherapy": 1, "physical therapy": 0.5, "radiation": 0.5, "radiotherapy": 1,
    },
    ("medical", "time"): {
        "early": 1,
    },
    ("medical", "tissue test"): {
        "biopsy": 1, "histopathology": 0.695, "immunohistochemistry": 0.239,
    },
    ("medical", "tissue test of the case"): {
        "biopsy": 1,
    },
    ("medical", "trend"): {
        "progressive": 1,
    },
    ("medical", "tumor"): {
        "glioblastoma": 0.0523, "leiomyosarcoma": 0.165, "lymphoma": 0.0455, "melanoma": 0.0523, "tumor": 1,
    },
    ("medical", "tumor of the case"): {
        "glioblastoma": 1, "melanoma": 1, "tumor": 1,
    },
    ("medical", "unit"): {
        "hour": 1,
    },
    ("medical", "valve"): {
        "aortic": 0.5, "mitral": 1,
    },
    ("medical", "vessel"): {
        "arterial": 0.25, "venous": 1,
    },
    ("medical", "virus"): {
        "HHV-6": 1,
    },
    ("medical", "when"): {
        "postoperative": 1, "preoperative": 0.5,
    },
    ("medical", "worse"): {
        "improved": 1,
    },
    ("medical", "zygosity"): {
        "heterozygous": 1, "homozygous": 1,
    },
}  # fmt: skip
