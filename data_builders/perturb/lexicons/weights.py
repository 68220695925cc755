"""How often each word of a swap class is drawn, by corpus and class. Written by `balance.py`."""

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
