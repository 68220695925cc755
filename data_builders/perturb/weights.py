"""How often each word of a swap class is drawn, by corpus and class. Written by `balance.py`."""

WEIGHTS: dict[tuple[str, str], dict[str, float]] = {
    ("academic", "age"): {},
    ("academic", "agent"): {
        "Zika": 1, "dengue": 0.326,
    },
    ("academic", "agent of the case"): {
        "Zika": 1, "chikungunya": 0.302,
    },
    ("academic", "animal"): {},
    ("academic", "average"): {},
    ("academic", "begin"): {
        "final": 0.333, "initial": 1,
    },
    ("academic", "case"): {
        "fatal": 0.197, "severe": 1,
    },
    ("academic", "change"): {},
    ("academic", "clinic"): {
        "CT": 1, "biopsy": 1,
    },
    ("academic", "clinic of the case"): {},
    ("academic", "compare"): {},
    ("academic", "compass"): {
        "north": 0.5, "south": 1,
    },
    ("academic", "continent"): {
        "America": 1, "Europe": 0.183,
    },
    ("academic", "count"): {},
    ("academic", "country"): {},
    ("academic", "course"): {
        "acute": 1, "chronic": 0.333,
    },
    ("academic", "data kind"): {},
    ("academic", "design"): {},
    ("academic", "digit"): {
        "1": 1, "2": 0.5, "3": 0.5, "4": 0.5, "5": 0.375, "6": 0.25, "7": 0.0625, "8": 0.188, "9": 0.0625,
    },
    ("academic", "exhibit"): {
        "Figure": 1, "Table": 0.333,
    },
    ("academic", "extent"): {},
    ("academic", "frequency"): {
        "common": 0.5, "rare": 1,
    },
    ("academic", "frequency2"): {},
    ("academic", "front"): {},
    ("academic", "germ"): {},
    ("academic", "height"): {},
    ("academic", "illness"): {},
    ("academic", "illness of the case"): {},
    ("academic", "laboratory"): {},
    ("academic", "laboratory of the case"): {},
    ("academic", "language"): {},
    ("academic", "large"): {
        "large": 1, "small": 1,
    },
    ("academic", "length"): {},
    ("academic", "level"): {
        "high": 1, "low": 1,
    },
    ("academic", "manner"): {
        "descriptive": 0.403, "interactive": 0.443, "online": 0.498, "peer-reviewed": 1, "qualitative": 0.572,
        "quantitative": 0.574, "raw": 0.736, "urban": 0.433,
    },
    ("academic", "matter"): {},
    ("academic", "matter of the case"): {},
    ("academic", "measured"): {},
    ("academic", "norm"): {},
    ("academic", "number word"): {
        "ten": 0.00939, "three": 0.0939, "two": 1,
    },
    ("academic", "order"): {},
    ("academic", "ordinal"): {
        "first": 1, "fourth": 0.515, "second": 0.54, "third": 0.835,
    },
    ("academic", "organisation"): {
        "NIH": 1, "WHO": 0.5,
    },
    ("academic", "organisation of the case"): {},
    ("academic", "organism"): {
        "plants": 1, "vaccines": 1,
    },
    ("academic", "organism of the case"): {},
    ("academic", "outcome"): {},
    ("academic", "people"): {
        "authors": 1, "users": 1,
    },
    ("academic", "people of the case"): {
        "patients": 1, "users": 0.67,
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
    ("academic", "resource of the case"): {},
    ("academic", "route"): {
        "inhaled": 1, "oral": 0.25,
    },
    ("academic", "section"): {},
    ("academic", "setting"): {},
    ("academic", "severity"): {},
    ("academic", "side"): {
        "left": 0.167, "right": 1,
    },
    ("academic", "sign"): {},
    ("academic", "size"): {},
    ("academic", "sphere"): {
        "academic": 0.109, "biological": 0.397, "clinical": 1, "computational": 0.226, "genetic": 0.25,
        "hepatic": 0.0834, "mathematical": 0.0855, "medical": 0.19, "scientific": 0.433, "statistical": 0.265,
        "structural": 0.152, "technical": 0.102,
    },
    ("academic", "statistic"): {},
    ("academic", "statistics"): {
        "RMSD": 0.304, "RMSF": 0.522, "UMAP": 1,
    },
    ("academic", "statistics of the case"): {},
    ("academic", "supply"): {},
    ("academic", "tail"): {},
    ("academic", "technique"): {
        "imaging": 0.29, "simulations": 0.58, "visualization": 1,
    },
    ("academic", "technique of the case"): {},
    ("academic", "test"): {},
    ("academic", "time"): {},
    ("academic", "tool"): {
        "algorithm": 0.182, "interface": 0.132, "library": 0.0737, "model": 0.556, "package": 0.16,
        "platform": 0.0471, "protocol": 0.0405, "script": 1, "simulation": 0.0953, "workflow": 0.0502,
        "workshop": 0.0363,
    },
    ("academic", "tool of the case"): {
        "package": 1, "protocol": 0.0288, "workflow": 0.345,
    },
    ("academic", "unit"): {
        "day": 0.481, "month": 0.55, "week": 0.277, "year": 1,
    },
    ("academic", "vessel"): {
        "arterial": 1, "venous": 0.5,
    },
    ("academic", "year"): {},
    ("builtin academic", "average"): {},
    ("builtin academic", "compare"): {
        "higher": 1, "lower": 0.5,
    },
    ("builtin academic", "count"): {},
    ("builtin academic", "course"): {},
    ("builtin academic", "design"): {},
    ("builtin academic", "digit"): {
        "1": 0.4, "2": 0.1, "3": 0.6, "4": 1, "5": 0.6, "6": 0.5, "7": 0.2, "8": 0.2, "9": 0.8,
    },
    ("builtin academic", "exhibit"): {
        "Figure": 1, "Table": 0.118,
    },
    ("builtin academic", "extent"): {},
    ("builtin academic", "frequency"): {},
    ("builtin academic", "frequency2"): {},
    ("builtin academic", "height"): {
        "lower": 1, "upper": 0.25,
    },
    ("builtin academic", "illness"): {
        "depression": 1, "embolism": 1,
    },
    ("builtin academic", "illness of the case"): {},
    ("builtin academic", "laboratory"): {},
    ("builtin academic", "large"): {},
    ("builtin academic", "length"): {},
    ("builtin academic", "level"): {},
    ("builtin academic", "linear"): {},
    ("builtin academic", "manner"): {
        "linear": 0.495, "pilot": 0.355, "pooled": 0.439, "prospective": 0.439, "raw": 1,
    },
    ("builtin academic", "matter"): {},
    ("builtin academic", "matter of the case"): {},
    ("builtin academic", "measured"): {},
    ("builtin academic", "month"): {},
    ("builtin academic", "number word"): {
        "eight": 0.0198, "five": 0.256, "four": 0.204, "nine": 0.126, "seven": 0.0292, "six": 0.2, "three": 0.32,
        "twelve": 0.0283, "two": 1,
    },
    ("builtin academic", "order"): {
        "after": 0.667, "before": 1,
    },
    ("builtin academic", "ordinal"): {
        "first": 1, "second": 0.645, "third": 0.118,
    },
    ("builtin academic", "organism"): {
        "antibiotics": 1, "cells": 0.842, "fish": 0.963, "macrophages": 0.538, "mice": 0.314, "mutations": 0.842,
    },
    ("builtin academic", "organism of the case"): {
        "antibiotics": 1, "mice": 1,
    },
    ("builtin academic", "people"): {
        "adults": 0.305, "children": 0.223, "farmers": 0.47, "hospitals": 0.282, "men": 0.236, "nurses": 0.264,
        "patients": 1, "students": 0.268, "teachers": 0.251, "users": 0.67, "volunteers": 0.239, "women": 0.27,
    },
    ("builtin academic", "people of the case"): {},
    ("builtin academic", "procedure"): {
        "antibiotics": 1, "chemotherapy": 0.333,
    },
    ("builtin academic", "process"): {},
    ("builtin academic", "rank"): {},
    ("builtin academic", "section"): {
        "checklist": 1, "footnote": 0.813, "graph": 0.356, "video": 0.328,
    },
    ("builtin academic", "share"): {},
    ("builtin academic", "side"): {
        "left": 1, "right": 0.5,
    },
    ("builtin academic", "sign"): {
        "negative": 0.5, "positive": 1,
    },
    ("builtin academic", "sphere"): {
        "clinical": 1, "statistical": 1,
    },
    ("builtin academic", "statistic"): {
        "accuracy": 0.498, "bias": 0.483, "mortality": 0.498, "sample size": 0.832, "sensitivity": 0.566,
        "specificity": 0.566, "speed": 1,
    },
    ("builtin academic", "tail"): {},
    ("builtin academic", "technique"): {
        "clustering": 1, "sequencing": 1, "simulations": 1,
    },
    ("builtin academic", "test"): {},
    ("builtin academic", "time"): {},
    ("builtin academic", "tool"): {
        "algorithm": 0.0125, "manual": 0.0116, "model": 1, "package": 0.0159, "protocol": 0.128,
        "questionnaire": 0.0304, "script": 0.0645, "simulation": 0.0208, "survey": 0.0248,
    },
    ("builtin academic", "tool of the case"): {
        "model": 1, "package": 0.998, "protocol": 0.00584,
    },
    ("builtin academic", "unit"): {
        "day": 0.609, "hour": 0.545, "month": 0.234, "week": 0.251, "year": 1,
    },
    ("builtin academic", "year"): {
        "2018": 0.656, "2019": 0.764, "2020": 0.412, "2021": 1,
    },
    ("builtin legal", "begin"): {},
    ("builtin legal", "begin verb"): {},
    ("builtin legal", "body"): {
        "bank": 0.126, "commission": 0.126, "committee": 0.15, "company": 1, "council": 0.17, "foundation": 0.172,
        "hospital": 0.424, "ministry": 0.191, "municipality": 0.119, "ombudsman": 0.17, "registry": 0.412,
        "union": 0.194,
    },
    ("builtin legal", "body of the case"): {
        "bank": 0.985, "commission": 0.613, "committee": 0.199, "foundation": 0.0907, "hospital": 1,
        "ministry": 0.354, "ombudsman": 0.228,
    },
    ("builtin legal", "compare"): {},
    ("builtin legal", "compass2"): {},
    ("builtin legal", "court"): {
        "Administrative": 0.0474, "City": 0.0158, "Constitutional": 0.0511, "County": 0.0157, "District": 0.631,
        "High": 0.016, "Regional": 1, "Supreme": 0.262,
    },
    ("builtin legal", "day"): {
        "10": 0.333, "11": 0.667, "12": 0.333, "15": 0.333, "17": 0.333, "19": 0.673, "20": 0.72, "22": 0.333,
        "24": 0.667, "30": 1,
    },
    ("builtin legal", "digit"): {
        "3": 0.333, "4": 1, "6": 0.667, "7": 0.333, "8": 0.333, "9": 0.667,
    },
    ("builtin legal", "field"): {
        "civil": 1, "criminal": 1,
    },
    ("builtin legal", "form"): {},
    ("builtin legal", "health"): {},
    ("builtin legal", "inquiry"): {
        "confrontation": 0.00655, "examination": 0.263, "hearing": 1, "inquiry": 0.316, "search": 0.27,
        "trial": 0.116, "visit": 0.00652,
    },
    ("builtin legal", "inquiry of the case"): {
        "examination": 0.707, "inquiry": 1,
    },
    ("builtin legal", "kin"): {},
    ("builtin legal", "large"): {
        "large": 0.5, "small": 1,
    },
    ("builtin legal", "length"): {},
    ("builtin legal", "level"): {
        "high": 1, "low": 0.333,
    },
    ("builtin legal", "man"): {},
    ("builtin legal", "man of the case"): {},
    ("builtin legal", "manner"): {},
    ("builtin legal", "matter"): {
        "compensation": 0.491, "detention": 0.491, "violence": 1,
    },
    ("builtin legal", "medium"): {
        "book": 0.5, "broadcast": 0.5, "film": 0.5, "photograph": 1, "poster": 0.5,
    },
    ("builtin legal", "medium of the case"): {},
    ("builtin legal", "modifier"): {
        "forensic": 0.5, "medical": 1,
    },
    ("builtin legal", "modifier of the case"): {
        "forensic": 1, "medical": 1,
    },
    ("builtin legal", "month"): {
        "April": 0.505, "August": 0.489, "December": 0.223, "February": 0.364, "January": 0.793, "July": 0.629,
        "June": 0.977, "March": 1, "May": 0.942, "November": 0.428, "October": 0.794, "September": 0.419,
    },
    ("builtin legal", "number word"): {
        "eight": 0.0857, "five": 0.392, "four": 0.218, "nine": 0.0766, "seven": 0.0619, "six": 0.196, "ten": 0.0403,
        "three": 0.457, "twelve": 0.0572, "two": 1,
    },
    ("builtin legal", "official"): {
        "bailiff": 0.115, "judge": 1, "mayor": 0.0185, "ombudsman": 0.00978, "prosecutor": 0.294,
    },
    ("builtin legal", "official of the case"): {
        "judge": 1, "prosecutor": 1,
    },
    ("builtin legal", "order"): {
        "indictment": 0.29, "injunction": 0.58, "warrant": 1,
    },
    ("builtin legal", "ordinal"): {
        "first": 1, "fourth": 0.0327, "second": 0.373, "third": 0.0654,
    },
    ("builtin legal", "outcome"): {
        "dismissed": 1, "granted": 0.5,
    },
    ("builtin legal", "outcome3"): {},
    ("builtin legal", "paper"): {
        "certificate": 0.0658, "contract": 0.0555, "diary": 0.0472, "letter": 1, "licence": 0.0414,
        "medical report": 0.161, "notice": 0.115, "passport": 0.0178, "permit": 0.0195, "photograph": 0.0369,
        "receipt": 0.0322, "record": 0.101, "recording": 0.0503, "report": 0.836, "statement": 0.301,
    },
    ("builtin legal", "paper of the case"): {
        "certificate": 0.0154, "diary": 0.369, "letter": 0.0354, "licence": 0.174, "medical report": 0.0165,
        "passport": 0.226, "permit": 1.78e-06, "photograph": 1, "recording": 0.147, "report": 0.00963,
        "statement": 0.0124,
    },
    ("builtin legal", "place"): {
        "cell": 0.0992, "corridor": 0.134, "flat": 0.182, "hotel": 0.0521, "office": 1, "shop": 0.0521,
        "workshop": 0.134,
    },
    ("builtin legal", "place of the case"): {},
    ("builtin legal", "professional"): {
        "colleague": 0.0607, "doctor": 0.277, "employer": 0.0433, "expert": 0.0363, "friend": 0.0469,
        "journalist": 0.0206, "lawyer": 1, "neighbour": 0.0223, "nurse": 0.0752, "psychiatrist": 0.0229,
        "psychologist": 0.0264, "publisher": 0.0219, "teacher": 0.0223, "witness": 0.026,
    },
    ("builtin legal", "professional of the case"): {},
    ("builtin legal", "removal"): {
        "arrest": 1, "auction": 0.333, "sale": 0.667, "wedding": 0.333,
    },
    ("builtin legal", "sanction"): {
        "fine": 1, "imprisonment": 0.5,
    },
    ("builtin legal", "sphere"): {
        "economic": 1, "financial": 0.58, "forensic": 0.29,
    },
    ("builtin legal", "stage"): {
        "closed": 1, "discontinued": 0.667,
    },
    ("builtin legal", "state"): {},
    ("builtin legal", "unit"): {
        "day": 1, "hour": 0.335, "month": 0.778, "week": 0.709, "year": 0.924,
    },
    ("builtin legal", "verdict"): {
        "acquitted": 1, "convicted": 1,
    },
    ("builtin legal", "woman"): {
        "mother": 1, "sister": 0.167, "wife": 0.234,
    },
    ("builtin legal", "woman of the case"): {
        "mother": 1, "wife": 1,
    },
    ("builtin legal", "year"): {
        "1999": 0.381, "2001": 0.325, "2002": 0.315, "2003": 0.489, "2004": 1, "2005": 0.842, "2006": 0.803,
        "2007": 0.444, "2008": 0.393, "2009": 0.519, "2010": 0.00362, "2011": 0.0104, "2013": 0.00149,
        "2014": 0.000103, "2015": 7.94e-05,
    },
    ("builtin medical", "age"): {},
    ("builtin medical", "antibody"): {
        "IgA": 1, "IgG": 0.729, "IgM": 0.432,
    },
    ("builtin medical", "antibody of the case"): {},
    ("builtin medical", "cause"): {},
    ("builtin medical", "chamber"): {},
    ("builtin medical", "compare"): {},
    ("builtin medical", "count"): {
        "multiple": 1, "single": 1,
    },
    ("builtin medical", "depth"): {},
    ("builtin medical", "digit"): {
        "1": 0.619, "2": 1, "3": 0.476, "4": 0.238, "5": 0.381, "6": 0.333, "7": 0.19, "8": 0.238, "9": 0.0952,
    },
    ("builtin medical", "drug"): {
        "acyclovir": 0.493, "apixaban": 0.221, "aspirin": 0.649, "azathioprine": 0.238, "bisoprolol": 0.114,
        "bortezomib": 0.236, "ceftriaxone": 0.746, "ciprofloxacin": 0.109, "cyclophosphamide": 0.378,
        "denosumab": 0.112, "dexamethasone": 0.495, "digoxin": 0.114, "doxycycline": 0.109, "enoxaparin": 0.487,
        "etoposide": 0.111, "furosemide": 0.357, "gabapentin": 0.113, "heparin": 0.694, "hydrocortisone": 0.223,
        "ibuprofen": 0.231, "infliximab": 0.111, "isoniazid": 0.231, "labetalol": 0.11, "levetiracetam": 0.115,
        "levothyroxine": 0.109, "lithium": 0.577, "magnesium sulfate": 0.12, "mannitol": 0.109, "meropenem": 0.111,
        "metformin": 0.114, "methotrexate": 0.108, "methylprednisolone": 1, "midazolam": 0.11, "morphine": 0.227,
        "mycophenolate": 0.353, "prednisolone": 0.494, "prednisone": 0.529, "propranolol": 0.114, "rifampicin": 0.231,
        "rituximab": 0.221, "tocilizumab": 0.224, "valproate": 0.25, "vancomycin": 0.225, "warfarin": 0.235,
        "zoledronic acid": 0.12,
    },
    ("builtin medical", "drug of the case"): {
        "acyclovir": 0.303, "isoniazid": 1, "rifampicin": 1,
    },
    ("builtin medical", "extent"): {
        "complete": 1, "partial": 0.25,
    },
    ("builtin medical", "front"): {
        "anterior": 1, "posterior": 1,
    },
    ("builtin medical", "height"): {
        "lower": 0.5, "upper": 1,
    },
    ("builtin medical", "imaging"): {
        "CT": 1, "MRI": 0.171, "PET-CT": 0.155, "X-ray": 0.0129, "echocardiography": 0.0829, "mammography": 0.00397,
        "scintigraphy": 0.0111, "ultrasound": 0.00746,
    },
    ("builtin medical", "imaging of the case"): {},
    ("builtin medical", "inflammation"): {
        "cirrhosis": 0.335, "multiple sclerosis": 0.642, "sepsis": 0.551, "syphilis": 0.321, "tuberculosis": 1,
    },
    ("builtin medical", "inflammation of the case"): {},
    ("builtin medical", "joint"): {
        "ankle": 1, "elbow": 0.284, "hip": 0.656, "knee": 0.334, "shoulder": 0.651, "wrist": 0.291,
    },
    ("builtin medical", "kin"): {},
    ("builtin medical", "laboratory test"): {
        "PCR": 1, "serology": 0.333,
    },
    ("builtin medical", "laboratory test of the case"): {},
    ("builtin medical", "large"): {
        "large": 1, "small": 1,
    },
    ("builtin medical", "length"): {},
    ("builtin medical", "lesion"): {
        "abscess": 0.108, "aneurysm": 0.101, "calcification": 0.0739, "fracture": 0.0469, "hemorrhage": 1,
        "tumor": 0.67,
    },
    ("builtin medical", "level"): {
        "high": 1, "low": 1,
    },
    ("builtin medical", "lobe"): {},
    ("builtin medical", "manner"): {},
    ("builtin medical", "nature"): {},
    ("builtin medical", "norm"): {},
    ("builtin medical", "number word"): {
        "eight": 0.0232, "five": 0.141, "four": 0.317, "nine": 0.0984, "seven": 0.00779, "six": 0.341, "ten": 0.146,
        "three": 0.507, "two": 1,
    },
    ("builtin medical", "order"): {
        "after": 1, "before": 0.357,
    },
    ("builtin medical", "ordinal"): {
        "first": 1, "second": 1, "third": 0.167,
    },
    ("builtin medical", "organism"): {
        "Legionella": 0.863, "Mycoplasma": 0.435, "Streptococcus": 1,
    },
    ("builtin medical", "pathology"): {
        "aneurysm": 0.0477, "bleeding": 1, "calcification": 0.0467, "compression": 0.0406, "edema": 0.0539,
        "hemorrhage": 0.499, "metastasis": 0.0524, "necrosis": 0.0479, "perforation": 0.0406, "rupture": 0.0489,
        "sepsis": 0.0815, "thrombosis": 0.0468,
    },
    ("builtin medical", "raised"): {},
    ("builtin medical", "reach"): {},
    ("builtin medical", "route"): {
        "intravenous": 1, "oral": 1,
    },
    ("builtin medical", "scope"): {
        "bronchoscopy": 0.333, "colonoscopy": 1, "laparoscopy": 0.333,
    },
    ("builtin medical", "severity"): {},
    ("builtin medical", "side"): {
        "left": 1, "right": 0.545,
    },
    ("builtin medical", "sign"): {
        "negative": 1, "positive": 0.125,
    },
    ("builtin medical", "spine"): {
        "cervical": 1, "thoracic": 1,
    },
    ("builtin medical", "substance"): {
        "ACTH": 0.017, "TSH": 0.0233, "albumin": 0.0512, "aldosterone": 0.0172, "ammonia": 0.00536,
        "bicarbonate": 0.0215, "bilirubin": 0.0251, "calcium": 0.667, "copper": 0.0379, "cortisol": 0.0419,
        "creatinine": 0.709, "estrogen": 0.0147, "ferritin": 0.0254, "glucose": 1, "hemoglobin": 0.126,
        "homocysteine": 0.00952, "insulin": 0.0237, "lactate": 0.0884, "lipase": 0.00745, "magnesium": 0.0318,
        "phosphate": 0.0936, "potassium": 0.256, "procalcitonin": 0.0098, "renin": 0.0056, "sodium": 0.911,
        "troponin": 0.0317, "urea": 0.0207, "zinc": 0.00493,
    },
    ("builtin medical", "substance of the case"): {
        "ACTH": 1, "aldosterone": 1, "renin": 1,
    },
    ("builtin medical", "symptom"): {
        "constipation": 0.177, "diarrhea": 0.277, "edema": 0.203, "fever": 1, "headache": 0.502, "pain": 0.443,
        "seizures": 0.191, "vomiting": 0.32, "weakness": 0.189,
    },
    ("builtin medical", "system"): {},
    ("builtin medical", "therapy"): {
        "radiation": 1, "surgery": 1,
    },
    ("builtin medical", "time"): {},
    ("builtin medical", "tissue test"): {},
    ("builtin medical", "tumor"): {
        "lymphoma": 1, "metastasis": 1,
    },
    ("builtin medical", "unit"): {
        "day": 1, "hour": 0.095, "month": 0.0295, "week": 0.272, "year": 0.0453,
    },
    ("builtin medical", "valve"): {},
    ("builtin medical", "vessel"): {},
    ("builtin medical", "virus"): {},
    ("builtin medical", "year"): {
        "2011": 1, "2012": 1, "2015": 1, "2016": 1, "2019": 1,
    },
    ("legal", "begin"): {},
    ("legal", "body"): {
        "commission": 0.673, "council": 0.404, "hospital": 0.215, "ministry": 1, "university": 0.36,
    },
    ("legal", "body of the case"): {
        "commission": 0.114, "council": 0.729, "institute": 4.44e-08, "ministry": 1,
    },
    ("legal", "care"): {},
    ("legal", "changed"): {},
    ("legal", "compare"): {},
    ("legal", "compass2"): {},
    ("legal", "country"): {
        "British": 0.104, "Croatian": 0.103, "Hungarian": 0.207, "Irish": 0.2, "Polish": 1, "Swiss": 0.104,
        "Turkish": 0.31,
    },
    ("legal", "court"): {
        "Administrative": 0.118, "City": 0.0314, "Constitutional": 0.182, "County": 0.0883, "District": 1,
        "High": 0.429, "Municipal": 0.118, "Regional": 0.808, "Supreme": 0.736,
    },
    ("legal", "crime"): {},
    ("legal", "crime of the case"): {
        "assault": 0.5, "rape": 1,
    },
    ("legal", "day"): {
        "10": 0.447, "11": 0.443, "12": 1, "14": 0.503, "15": 0.443, "17": 0.443, "18": 0.443, "19": 0.5, "20": 0.447,
        "24": 0.486, "30": 0.443,
    },
    ("legal", "digit"): {},
    ("legal", "field"): {
        "civil": 0.432, "criminal": 1,
    },
    ("legal", "form"): {},
    ("legal", "health"): {
        "mental": 0.2, "physical": 1,
    },
    ("legal", "hold"): {
        "owner": 1, "tenant": 1,
    },
    ("legal", "inquiry"): {
        "examination": 0.201, "hearing": 0.274, "search": 1, "trial": 0.0899,
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
    ("legal", "level"): {},
    ("legal", "man"): {
        "father": 1, "son": 0.359,
    },
    ("legal", "man of the case"): {
        "father": 1, "husband": 0.873,
    },
    ("legal", "manner"): {
        "additional": 0.125, "confidential": 0.107, "emergency": 0.0147, "immediate": 0.21, "preliminary": 0.107,
        "regular": 0.431, "supervised": 0.122, "written": 1,
    },
    ("legal", "matter"): {
        "adoption": 0.616, "compensation": 0.95, "drug trafficking": 0.674, "housing": 0.616, "imprisonment": 1,
        "pollution": 0.635, "rape": 0.749,
    },
    ("legal", "matter of the case"): {
        "imprisonment": 0.333, "rape": 1,
    },
    ("legal", "medium"): {},
    ("legal", "medium of the case"): {},
    ("legal", "modifier"): {
        "medical": 1, "psychological": 0.725,
    },
    ("legal", "modifier of the case"): {
        "medical": 1, "psychiatric": 0.143,
    },
    ("legal", "month"): {
        "April": 0.347, "August": 0.367, "December": 0.203, "February": 0.378, "January": 0.647, "July": 0.898,
        "June": 0.691, "March": 0.689, "May": 0.497, "November": 0.288, "October": 1, "September": 0.295,
    },
    ("legal", "move"): {},
    ("legal", "number word"): {
        "five": 0.0464, "four": 0.0968, "seven": 0.0462, "six": 0.386, "ten": 0.18, "three": 0.295, "two": 1,
    },
    ("legal", "official"): {
        "investigating judge": 1, "investigator": 0.81, "judge": 0.307, "minister": 0.437,
    },
    ("legal", "official of the case"): {},
    ("legal", "order"): {},
    ("legal", "order of the case"): {},
    ("legal", "ordinal"): {
        "first": 1, "second": 0.577,
    },
    ("legal", "outcome"): {
        "dismissed": 0.571, "granted": 1,
    },
    ("legal", "outcome2"): {
        "quashed": 0.5, "upheld": 1,
    },
    ("legal", "outcome3"): {},
    ("legal", "paper"): {
        "agreement": 0.0144, "certificate": 0.026, "letter": 0.345, "medical certificate": 0.0279, "passport": 0.0187,
        "recording": 0.076, "report": 0.0383, "statement": 1, "written statement": 0.507,
    },
    ("legal", "paper of the case"): {
        "medical certificate": 0.509, "record": 0.0484, "statement": 1,
    },
    ("legal", "party"): {},
    ("legal", "place"): {},
    ("legal", "place of the case"): {},
    ("legal", "professional"): {
        "expert": 0.647, "lawyer": 1, "witness": 0.412,
    },
    ("legal", "professional of the case"): {},
    ("legal", "removal"): {
        "adoption": 0.0961, "arrest": 0.128, "auction": 0.674, "birth": 0.502, "deportation": 0.188,
        "dismissal": 0.281, "divorce": 0.13, "eviction": 1, "expulsion": 0.314, "marriage": 0.435, "operation": 0.287,
        "placement": 0.114, "separation": 0.388,
    },
    ("legal", "removal of the case"): {
        "expulsion": 0.25, "marriage": 0.25, "separation": 1,
    },
    ("legal", "sanction"): {
        "fine": 0.5, "imprisonment": 1,
    },
    ("legal", "speak"): {},
    ("legal", "sphere"): {
        "financial": 0.0781, "forensic": 0.162, "genetic": 5.21e-05, "medical": 0.838, "personal": 1,
        "physical": 0.184, "professional": 0.0468, "psychiatric": 0.178, "psychological": 0.113,
        "scientific": 5.21e-05,
    },
    ("legal", "stage"): {
        "discontinued": 1, "opened": 1,
    },
    ("legal", "state"): {
        "permanent": 0.333, "temporary": 1,
    },
    ("legal", "state name"): {},
    ("legal", "unit"): {
        "day": 0.303, "hour": 0.41, "month": 0.245, "year": 1,
    },
    ("legal", "verdict"): {},
    ("legal", "weekday"): {},
    ("legal", "woman"): {
        "daughter": 0.538, "mother": 1,
    },
    ("legal", "woman of the case"): {
        "daughter": 0.333, "grandmother": 1, "mother": 1,
    },
    ("legal", "year"): {
        "1997": 0.0052, "1999": 0.0373, "2002": 0.136, "2003": 0.117, "2005": 0.242, "2006": 0.456, "2007": 0.192,
        "2008": 1, "2011": 0.0453, "2012": 0.0481, "2013": 0.0295, "2014": 0.0314, "2015": 0.0391, "2016": 0.0418,
        "2018": 0.0156,
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
    ("medical", "change"): {},
    ("medical", "changed"): {},
    ("medical", "compare"): {},
    ("medical", "content"): {},
    ("medical", "count"): {},
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
    ("medical", "drug group"): {},
    ("medical", "drug of the case"): {
        "baclofen": 1, "dexamethasone": 1,
    },
    ("medical", "extent"): {
        "complete": 1, "partial": 0.667,
    },
    ("medical", "front"): {},
    ("medical", "gene"): {
        "EGFR": 1, "NRAS": 0.245, "RHOA": 0.245, "TERT": 0.473,
    },
    ("medical", "germ"): {},
    ("medical", "height"): {
        "lower": 1, "upper": 0.333,
    },
    ("medical", "heredity"): {},
    ("medical", "imaging"): {
        "CT": 1, "CTA": 0.415, "MRI": 0.759, "angiography": 0.00361, "echocardiography": 0.000562,
        "ultrasound": 0.00629,
    },
    ("medical", "imaging of the case"): {},
    ("medical", "inflammation"): {
        "appendicitis": 0.26, "cardiomyopathy": 0.276, "diabetes": 0.519, "meningitis": 0.287, "myocarditis": 0.527,
        "osteomyelitis": 0.259, "pancreatitis": 0.262, "pericarditis": 0.527, "peritonitis": 0.288,
        "pneumonia": 0.323, "sepsis": 0.944, "stroke": 0.328, "syphilis": 0.293, "tuberculosis": 1,
    },
    ("medical", "inflammation of the case"): {
        "stroke": 1, "syphilis": 1,
    },
    ("medical", "joint"): {
        "ankle": 0.333, "hip": 1, "knee": 0.333,
    },
    ("medical", "laboratory"): {
        "bradycardia": 0.288, "coagulopathy": 0.282, "dehydration": 0.37, "hyperkalemia": 0.333, "hypertension": 1,
        "hypoglycemia": 0.366, "hyponatremia": 0.37, "hypotension": 0.66, "malnutrition": 0.329,
        "pancytopenia": 0.564, "proteinuria": 0.286, "tachycardia": 0.352,
    },
    ("medical", "laboratory test"): {},
    ("medical", "laboratory test of the case"): {},
    ("medical", "large"): {
        "large": 1, "small": 0.333,
    },
    ("medical", "length"): {},
    ("medical", "lesion"): {
        "abscess": 0.264, "calcification": 1, "cyst": 0.144, "fracture": 0.102, "hemorrhage": 0.381, "infarct": 0.103,
        "tumor": 0.613,
    },
    ("medical", "level"): {
        "high": 0.429, "low": 1,
    },
    ("medical", "lobe"): {},
    ("medical", "manner"): {
        "adjuvant": 0.00419, "antibiotic": 0.00877, "antihypertensive": 0.00706, "antithrombotic": 0.00724,
        "conservative": 0.0511, "hormonal": 0.00385, "immunosuppressive": 0.00345, "intra-articular": 0.00704,
        "multidisciplinary": 0.0083, "orthodontic": 0.00345, "palliative": 0.00989, "prosthetic": 0.00335,
        "surgical": 1, "systemic": 0.0415,
    },
    ("medical", "marker"): {
        "CD117": 0.226, "CD20": 0.52, "CD34": 0.461, "CD38": 1, "CD99": 0.227, "CK20": 0.034, "CK7": 0.0671,
        "ERG": 0.0263, "HMB-45": 0.0365, "PAX8": 0.0403, "S-100": 0.114, "S100": 0.49, "SMA": 0.0742, "STAT6": 0.127,
        "actin": 0.0265, "caldesmon": 0.0265, "desmin": 0.0749, "synaptophysin": 0.106, "vimentin": 0.0448,
    },
    ("medical", "marker of the case"): {},
    ("medical", "middle"): {
        "lateral": 1, "medial": 0.667,
    },
    ("medical", "nature"): {
        "benign": 0.25, "malignant": 1,
    },
    ("medical", "norm"): {},
    ("medical", "onset"): {},
    ("medical", "order"): {
        "after": 1, "before": 0.5,
    },
    ("medical", "ordinal"): {},
    ("medical", "organism"): {
        "Burkholderia": 0.975, "Chlamydia": 0.975, "Nocardia": 0.488, "Staphylococcus": 1, "Streptococcus": 0.571,
        "rubella": 0.558,
    },
    ("medical", "pain"): {},
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
    ("medical", "quantity"): {},
    ("medical", "raised"): {
        "elevated": 1, "normal": 0.81,
    },
    ("medical", "rank"): {
        "primary": 1, "secondary": 0.375,
    },
    ("medical", "reach"): {
        "distal": 1, "proximal": 1,
    },
    ("medical", "regular"): {},
    ("medical", "route"): {
        "intravenous": 0.817, "oral": 1, "subcutaneous": 0.27, "topical": 0.593,
    },
    ("medical", "scope"): {},
    ("medical", "severity"): {},
    ("medical", "side"): {
        "left": 0.833, "right": 1,
    },
    ("medical", "sides"): {},
    ("medical", "sign"): {
        "negative": 1, "positive": 0.364,
    },
    ("medical", "speed"): {},
    ("medical", "spine"): {},
    ("medical", "spread"): {},
    ("medical", "substance"): {
        "ACTH": 0.506, "CEA": 0.264, "CRP": 0.405, "PSA": 0.263, "TSH": 0.311, "albumin": 0.132, "aldosterone": 0.172,
        "calcitonin": 0.151, "calcium": 1, "copper": 0.395, "cortisol": 0.349, "creatinine": 0.517, "estrogen": 0.133,
        "glucose": 0.62, "insulin": 0.318, "magnesium": 0.132, "potassium": 0.196, "renin": 0.172, "troponin": 0.271,
        "urea": 0.182,
    },
    ("medical", "substance of the case"): {
        "TSH": 1, "glucose": 1,
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
        "chemotherapy": 0.34, "radiation": 0.49, "radiotherapy": 0.525, "surgery": 1,
    },
    ("medical", "therapy of the case"): {},
    ("medical", "time"): {},
    ("medical", "tissue test"): {
        "biopsy": 1, "histopathology": 0.745, "immunohistochemistry": 0.403,
    },
    ("medical", "tissue test of the case"): {},
    ("medical", "trend"): {},
    ("medical", "tumor"): {
        "glioblastoma": 0.0523, "leiomyosarcoma": 0.165, "lymphoma": 0.0455, "melanoma": 0.0523, "tumor": 1,
    },
    ("medical", "tumor of the case"): {},
    ("medical", "unit"): {},
    ("medical", "valve"): {
        "aortic": 0.5, "mitral": 1,
    },
    ("medical", "vessel"): {
        "arterial": 0.25, "venous": 1,
    },
    ("medical", "virus"): {},
    ("medical", "when"): {
        "postoperative": 1, "preoperative": 0.5,
    },
    ("medical", "worse"): {},
    ("medical", "zygosity"): {
        "heterozygous": 1, "homozygous": 1,
    },
}  # fmt: skip
