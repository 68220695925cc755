"""How often each word of a swap class is drawn, by domain and class. Written by `balance.py`."""

WEIGHTS: dict[tuple[str, str], dict[str, float]] = {
    ("academic", "acid"): {
        "RNA": 4,
    },
    ("academic", "age"): {
        "adult": 9.1651, "child": 0.4364,
    },
    ("academic", "agent"): {
        "Ebola": 0.0924, "HIV": 1.104, "Zika": 301.967, "chikungunya": 0.3328, "dengue": 86.8886, "influenza": 0.0622,
        "malaria": 1.4072,
    },
    ("academic", "animal"): {
        "human": 2,
    },
    ("academic", "average"): {
        "mean": 3,
    },
    ("academic", "begin"): {
        "final": 0.8686, "initial": 4.6049,
    },
    ("academic", "change"): {
        "decrease": 0.2582, "increase": 19.365,
    },
    ("academic", "changed"): {
        "decreased": 2, "increased": 4,
    },
    ("academic", "clinic"): {
        "CT": 3.0132, "MRI": 0.1925, "biopsy": 2.5695, "ultrasound": 0.1491,
    },
    ("academic", "compare"): {
        "higher": 1, "lower": 45,
    },
    ("academic", "compass"): {
        "north": 5.3733, "south": 2.7916,
    },
    ("academic", "continent"): {
        "Africa": 1.9998, "America": 56.7944, "Asia": 0.2981, "Europe": 3.4641,
    },
    ("academic", "count"): {
        "multiple": 0.2334, "single": 128.546,
    },
    ("academic", "country"): {
        "Brazil": 0.2981, "Colombia": 0.5774, "France": 0.5774, "Japan": 0.5774, "Myanmar": 88.7414, "Vietnam": 2,
    },
    ("academic", "course"): {
        "acute": 1.5287, "chronic": 1.6857, "fatal": 5.1386, "hospitalised": 0.0385, "imported": 0.4466,
        "severe": 44.3954,
    },
    ("academic", "data kind"): {
        "qualitative": 0.2582, "quantitative": 7.746,
    },
    ("academic", "day"): {
        "1": 49, "10": 4, "11": 13.4165, "12": 33.5419, "15": 0.6667, "16": 1.1547, "18": 27.1113, "19": 0.3334,
        "2": 0.2681, "20": 60, "21": 0.3849, "25": 3.0001, "3": 76.7758, "30": 0.0667, "4": 17.9257, "5": 55.9318,
        "6": 0.5466, "7": 1.7321, "8": 191.855, "9": 1.7321,
    },
    ("academic", "design"): {
        "prospective": 1,
    },
    ("academic", "digit"): {
        "1": 37.4591, "2": 0.2681, "3": 76.7758, "4": 40.0832, "5": 55.9318, "6": 0.5466, "7": 1.7321, "8": 162.147,
        "9": 1,
    },
    ("academic", "extent"): {
        "complete": 0.2475, "partial": 12.1245,
    },
    ("academic", "fix"): {
        "dynamic": 2,
    },
    ("academic", "frequency"): {
        "common": 3.4136, "frequent": 5.118, "rare": 5.7112,
    },
    ("academic", "frequency2"): {
        "daily": 1,
    },
    ("academic", "front"): {
        "frontal": 15.5886, "temporal": 0.1925,
    },
    ("academic", "germ"): {
        "viral": 2,
    },
    ("academic", "height"): {
        "lower": 27.0001, "upper": 0.6667,
    },
    ("academic", "illness"): {
        "edema": 0.4364, "embolism": 27.9285, "ischemia": 0.338,
    },
    ("academic", "laboratory"): {
        "ChIP-seq": 0.4444, "RNA-seq": 0.4472, "cytometry": 68.7399, "sequencing": 1,
    },
    ("academic", "language"): {
        "Python": 3,
    },
    ("academic", "large"): {
        "large": 14.6362, "small": 5.7393,
    },
    ("academic", "length"): {
        "long": 41.5692, "short": 0.1925,
    },
    ("academic", "level"): {
        "high": 10.5124, "low": 10.8444,
    },
    ("academic", "manner"): {
        "bipartite": 0.1005, "descriptive": 1.3609, "interactive": 1.2398, "online": 1.2884, "qualitative": 1.2684,
        "quantitative": 2.1669, "raw": 2.5303, "urban": 1.8881,
    },
    ("academic", "matter"): {
        "citation": 4.6014, "funding": 0.5774, "reproducibility": 0.1005, "teaching": 3.049, "temperature": 1.7122,
    },
    ("academic", "month"): {
        "August": 2,
    },
    ("academic", "norm"): {
        "normal": 6,
    },
    ("academic", "number word"): {
        "ten": 1.0889, "three": 4.8353, "two": 65.3958,
    },
    ("academic", "order"): {
        "after": 103.923, "before": 0.7698,
    },
    ("academic", "ordinal"): {
        "first": 15.5699, "fourth": 1.2843, "second": 10.2405, "third": 6.5514,
    },
    ("academic", "organisation"): {
        "ELIXIR": 0.3039, "NIH": 6.3268, "WHO": 2.0864,
    },
    ("academic", "organism"): {
        "plants": 1, "vaccines": 1,
    },
    ("academic", "outcome"): {
        "successful": 2,
    },
    ("academic", "people"): {
        "authors": 4.0378, "patients": 0.0055, "researchers": 0.1925, "users": 6.2059,
    },
    ("academic", "rank"): {
        "primary": 1.4907, "secondary": 1.3416,
    },
    ("academic", "reach"): {
        "global": 10.1187, "local": 2.8566, "national": 4.4047,
    },
    ("academic", "resource"): {
        "Bioconductor": 8.8204, "Bowtie": 3.4645, "Cufflinks": 1.5492, "Cytoscape": 0.4147, "Docker": 0.126,
        "Ensembl": 0.1925, "Galaxy": 0.7746, "GitHub": 9.0601, "Graphviz": 0.126, "Scopus": 0.3334, "TopHat": 4.8995,
        "Web of Science": 33.4738, "Zenodo": 38.1118, "arXiv": 5.1445,
    },
    ("academic", "route"): {
        "inhaled": 5.0724, "intravenous": 0.6667, "oral": 2.2079,
    },
    ("academic", "section"): {
        "appendix": 96.2352, "checklist": 19.4451, "matrix": 0.0006,
    },
    ("academic", "setting"): {
        "silico": 10.2472, "vitro": 0.3903,
    },
    ("academic", "severity"): {
        "mild": 0.2582, "severe": 27.1109,
    },
    ("academic", "sex"): {
        "female": 3, "male": 1,
    },
    ("academic", "share"): {
        "majority": 2,
    },
    ("academic", "side"): {
        "left": 3.133, "right": 10.2146,
    },
    ("academic", "sign"): {
        "negative": 26.8329, "positive": 0.4472,
    },
    ("academic", "size"): {
        "larger": 0.252, "smaller": 7.9375,
    },
    ("academic", "sphere"): {
        "academic": 1.0541, "biological": 3.9155, "clinical": 12.0523, "computational": 1.3445, "genetic": 5.3223,
        "mathematical": 1.0021, "medical": 1.7642, "scientific": 3.6915, "statistical": 2.959, "structural": 1.4252,
        "technical": 1.4848, "visual": 0.086,
    },
    ("academic", "statistic"): {
        "speed": 1,
    },
    ("academic", "statistics"): {
        "RMSD": 0.3464, "RMSF": 1.0656, "UMAP": 14.8723,
    },
    ("academic", "supply"): {
        "free": 4,
    },
    ("academic", "tail"): {
        "maximum": 1,
    },
    ("academic", "technique"): {
        "docking": 0.1155, "imaging": 2.1516, "simulations": 0.6547, "visualization": 4.7821,
    },
    ("academic", "test"): {
        "sensitivity": 3,
    },
    ("academic", "time"): {
        "early": 1.0328, "late": 11.6189,
    },
    ("academic", "tool"): {
        "algorithm": 2.5127, "app": 0.0445, "interface": 3.7193, "library": 1.9053, "model": 18.5202,
        "network": 0.1111, "package": 4.4444, "pipeline": 0.0519, "platform": 1.7286, "protocol": 1.9122,
        "script": 66.0092, "server": 0.0563, "simulation": 3.9686, "tool": 35.1544, "workflow": 1.3839,
        "workshop": 2.0813,
    },
    ("academic", "unit"): {
        "day": 3.7721, "month": 4.4964, "week": 2.6061, "year": 10.4111,
    },
    ("academic", "vessel"): {
        "arterial": 2.3712, "venous": 2.5303,
    },
    ("academic", "year"): {
        "1968": 1, "2002": 1, "2006": 1, "2009": 2, "2014": 6, "2016": 1, "2017": 1, "2018": 1, "2019": 1,
    },
    ("legal", "begin"): {
        "final": 62.3538, "initial": 0.5774,
    },
    ("legal", "begin verb"): {
        "began": 1,
    },
    ("legal", "body"): {
        "commission": 5.3155, "council": 2.8731, "hospital": 2.5013, "institute": 0.1315, "ministry": 9.4137,
        "university": 2.7488,
    },
    ("legal", "care"): {
        "access": 494.98, "adoption": 0.0318, "custody": 78.7806, "guardianship": 0.0025,
    },
    ("legal", "changed"): {
        "increased": 2,
    },
    ("legal", "compare"): {
        "higher": 0.3334, "lower": 3.0001,
    },
    ("legal", "compass2"): {
        "northern": 2,
    },
    ("legal", "country"): {
        "Austrian": 0.252, "British": 3.9189, "Croatian": 3.9384, "Finnish": 0.1602, "Hungarian": 4.9062,
        "Irish": 6.4419, "Moldovan": 0.2, "Polish": 14.0615, "Russian": 0.1741, "Serbian": 0.1455, "Swiss": 0.63,
        "Turkish": 8.9543,
    },
    ("legal", "court"): {
        "Administrative": 3.4674, "City": 1.4429, "Constitutional": 5.7947, "County": 1.1729, "District": 28.715,
        "High": 12.5719, "Municipal": 3.4138, "Regional": 13.5444, "Supreme": 18.9221,
    },
    ("legal", "crime"): {
        "assault": 1, "rape": 0.1649, "robbery": 12.1245,
    },
    ("legal", "day"): {
        "1": 50.1454, "10": 12.3582, "11": 7.9372, "12": 53.8677, "13": 30.339, "14": 14.2871, "15": 19.1917,
        "16": 14.8188, "17": 51.962, "18": 25.8201, "19": 8.6602, "2": 53.2119, "20": 31.6011, "21": 3.2199,
        "22": 3.3566, "23": 40.3873, "24": 18.4395, "25": 41.3308, "26": 18.3304, "27": 3.0792, "28": 50.0573,
        "29": 5.5319, "3": 0.9659, "30": 19.0527, "31": 19.8126, "4": 120.094, "5": 24.9457, "6": 36.9787,
        "7": 131.961, "8": 3.4395, "9": 56.7112,
    },
    ("legal", "digit"): {
        "1": 50.1454, "2": 53.2119, "3": 0.9659, "4": 120.094, "5": 24.9457, "6": 36.9787, "7": 131.961, "8": 3.4395,
        "9": 56.7112,
    },
    ("legal", "field"): {
        "administrative": 0.3294, "civil": 16.1771, "criminal": 30.6278,
    },
    ("legal", "form"): {
        "written": 9,
    },
    ("legal", "health"): {
        "mental": 3.7211, "physical": 19.3494,
    },
    ("legal", "hold"): {
        "owner": 2.1429, "tenant": 2.8,
    },
    ("legal", "inquiry"): {
        "examination": 5.1063, "hearing": 8.6742, "meeting": 0.2497, "search": 30.5922, "seizure": 0.0145,
        "trial": 3.0357,
    },
    ("legal", "instance"): {
        "appellate": 1.4743, "first-instance": 6.7829,
    },
    ("legal", "kin"): {
        "father": 32.5675, "mother": 14.8308,
    },
    ("legal", "length"): {
        "long": 3, "short": 2,
    },
    ("legal", "level"): {
        "high": 14,
    },
    ("legal", "man"): {
        "father": 1061.01, "husband": 0.0976, "son": 86.7227,
    },
    ("legal", "manner"): {
        "additional": 1.2398, "confidential": 0.9849, "emergency": 0.6093, "immediate": 1.3839, "interim": 4.2503,
        "preliminary": 0.8686, "regular": 2.6538, "secret": 0.042, "supervised": 1.4811, "temporary": 7.9016,
        "written": 7.1285,
    },
    ("legal", "matter"): {
        "adoption": 0.0308, "compensation": 2.983, "correspondence": 1.1575, "drug trafficking": 2.2682,
        "evidence": 5.8016, "housing": 3.1262, "imprisonment": 2.925, "money": 2.2926, "pollution": 1.0764,
        "rape": 0.953,
    },
    ("legal", "medium"): {
        "article": 8,
    },
    ("legal", "modifier"): {
        "forensic": 2.406, "genetic": 0.0503, "medical": 40.0717, "psychiatric": 0.2286, "psychological": 39.7184,
    },
    ("legal", "month"): {
        "April": 11.7625, "August": 23.7832, "December": 3.5109, "February": 25.6905, "January": 29.3349,
        "July": 40.5931, "June": 22.8715, "March": 18.6862, "May": 19.0563, "November": 9.453, "October": 29.892,
        "September": 12.9883,
    },
    ("legal", "move"): {
        "lodged": 17,
    },
    ("legal", "number word"): {
        "eight": 0.1155, "five": 1.2423, "four": 3.2204, "seven": 1.9122, "six": 17.3538, "ten": 5.8008,
        "three": 12.3722, "two": 38.7281,
    },
    ("legal", "official"): {
        "bailiff": 0.576, "investigating judge": 60.4115, "investigator": 29.4951, "judge": 25.6315, "mayor": 0.2274,
        "minister": 16.6889, "prosecutor": 0.126, "public prosecutor": 1235.38,
    },
    ("legal", "order"): {
        "care order": 1571.84, "deportation order": 1, "eviction order": 6962.65, "restraining order": 4,
        "search warrant": 0.0011, "warrant": 0.0014,
    },
    ("legal", "ordinal"): {
        "first": 23687.3, "fourth": 0, "second": 6336.79, "third": 0,
    },
    ("legal", "outcome"): {
        "dismissed": 11.0117, "granted": 8.9905,
    },
    ("legal", "outcome2"): {
        "quashed": 7.6518, "upheld": 3.2673,
    },
    ("legal", "outcome3"): {
        "allowed": 0.7746, "rejected": 30.9839,
    },
    ("legal", "paper"): {
        "agreement": 0.6452, "certificate": 1.0389, "letter": 10.7143, "medical certificate": 0.7677,
        "passport": 0.4439, "record": 0.0563, "recording": 4.1619, "report": 3.0833, "statement": 49.5853,
        "written statement": 30.8042,
    },
    ("legal", "party"): {
        "defendant": 2,
    },
    ("legal", "place"): {
        "apartment": 3.7336, "flat": 4.1946, "home": 165.732, "house": 11.2399, "office": 13.6629,
    },
    ("legal", "professional"): {
        "expert": 2.9728, "lawyer": 3.6851, "witness": 3.0061,
    },
    ("legal", "removal"): {
        "adoption": 0.906, "arrest": 0.4304, "auction": 7.1134, "birth": 6.8675, "deportation": 3.9184,
        "dismissal": 3.8038, "divorce": 1.6863, "eviction": 14.5063, "expulsion": 4.4399, "marriage": 10.0164,
        "operation": 3.5521, "placement": 1.617, "separation": 3.8532,
    },
    ("legal", "sanction"): {
        "fine": 6.5475, "imprisonment": 6.8727,
    },
    ("legal", "sign"): {
        "positive": 2,
    },
    ("legal", "speak"): {
        "confirmed": 0.1111, "denied": 18,
    },
    ("legal", "sphere"): {
        "financial": 2.5701, "forensic": 1.9767, "genetic": 0.0777, "medical": 25.452, "personal": 12.54,
        "physical": 3.4087, "professional": 1.7874, "psychiatric": 1.2604, "psychological": 8.6726,
        "scientific": 0.3473,
    },
    ("legal", "stage"): {
        "discontinued": 2.2361, "opened": 2.6833,
    },
    ("legal", "state"): {
        "permanent": 1.1678, "temporary": 6.8507,
    },
    ("legal", "state name"): {
        "Croatia": 3, "Germany": 2, "Ireland": 0.7746, "Norway": 1, "Poland": 1.5119, "Russia": 1.1547,
        "Serbia": 0.5774, "Switzerland": 177.988, "Turkey": 2.8868,
    },
    ("legal", "unit"): {
        "day": 9.6544, "hour": 15.2965, "month": 5.3524, "week": 0.2, "year": 42.3776,
    },
    ("legal", "verdict"): {
        "convicted": 13,
    },
    ("legal", "weekday"): {
        "Saturday": 1,
    },
    ("legal", "woman"): {
        "daughter": 44.0424, "grandmother": 1.4003, "mother": 66.1607, "wife": 2.9256,
    },
    ("legal", "year"): {
        "1956": 2, "1974": 5, "1976": 1.7321, "1980": 60.3744, "1982": 36.5239, "1986": 0.0001, "1989": 0.4364,
        "1990": 14.1296, "1991": 12.8584, "1992": 7.256, "1993": 16.4773, "1994": 1.8735, "1995": 18.212,
        "1996": 3.4033, "1997": 40.8526, "1998": 13.6908, "1999": 8.8603, "2000": 18.6002, "2001": 8.4424,
        "2002": 22.3025, "2003": 8.3551, "2004": 7.0994, "2005": 28.5088, "2006": 34.0631, "2007": 22.8567,
        "2008": 34.8682, "2009": 10.6394, "2010": 2.381, "2011": 6.7952, "2012": 5.6114, "2013": 11.3286,
        "2014": 9.7011, "2015": 24.7399, "2016": 5.4083, "2018": 3.0001,
    },
    ("medical", "antibody"): {
        "ANA": 2, "IgG": 0.8704, "IgM": 3.8297,
    },
    ("medical", "begin"): {
        "final": 5.1178, "initial": 11.1374,
    },
    ("medical", "cause"): {
        "autoimmune": 12.3036, "demyelinating": 1.5902, "genetic": 1.389, "idiopathic": 1.09, "infectious": 3.4067,
        "inflammatory": 5.1242, "ischemic": 2.6852, "metabolic": 1.355, "thrombotic": 3.2852, "vascular": 9.9191,
        "viral": 1.6153,
    },
    ("medical", "chamber"): {
        "atrial": 4.2077, "ventricular": 2.1387,
    },
    ("medical", "change"): {
        "increase": 1,
    },
    ("medical", "changed"): {
        "decreased": 0.252, "increased": 23.8119,
    },
    ("medical", "compare"): {
        "lower": 14,
    },
    ("medical", "content"): {
        "cystic": 14,
    },
    ("medical", "count"): {
        "multiple": 9,
    },
    ("medical", "course"): {
        "acute": 19.674, "chronic": 12.5547,
    },
    ("medical", "day"): {
        "1": 1.2599, "10": 6.7082, "13": 2, "16": 0.1155, "17": 0.3849, "18": 81.0006, "19": 60.3758, "2": 5.8139,
        "20": 1.9721, "21": 1031.09, "29": 1.7321, "3": 476.235, "30": 0.6178, "4": 4.3916, "5": 0.5774, "6": 1,
        "7": 0.5164, "8": 4.0989,
    },
    ("medical", "degree"): {
        "completely": 1,
    },
    ("medical", "depth"): {
        "deep": 0.9999, "superficial": 1.0001,
    },
    ("medical", "digit"): {
        "1": 1.2599, "2": 5.8139, "3": 476.235, "4": 4.3916, "5": 0.5774, "6": 1, "7": 0.5164, "8": 4.0989,
    },
    ("medical", "drug"): {
        "acyclovir": 2.4802, "albendazole": 1.7513, "aspirin": 1.5514, "baclofen": 3.7414, "bevacizumab": 0.2,
        "bortezomib": 1.3415, "carboplatin": 0.9851, "ciprofloxacin": 2.5994, "cisplatin": 3.7436,
        "cyclophosphamide": 1.5491, "cyclosporine": 1.7866, "dexamethasone": 3.6001, "doxorubicin": 2.1472,
        "doxycycline": 2.3105, "ganciclovir": 3.2799, "heparin": 1.6633, "hydrocortisone": 3.0169, "ketamine": 2.1183,
        "lenalidomide": 5.5051, "levothyroxine": 1.7874, "magnesium sulfate": 3.7042, "methylprednisolone": 4.4396,
        "paclitaxel": 2.0537, "pembrolizumab": 2.1588, "risperidone": 1.7355, "rituximab": 4.0643,
        "zoledronic acid": 2.967,
    },
    ("medical", "drug group"): {
        "steroids": 2,
    },
    ("medical", "extent"): {
        "complete": 6.6886, "partial": 4.7843,
    },
    ("medical", "front"): {
        "anterior": 0.169, "posterior": 17.7483,
    },
    ("medical", "gene"): {
        "COL4A1": 139.642, "EGFR": 3.2247, "NRAS": 0.9603, "RHOA": 0.8198, "TERT": 0.0747,
    },
    ("medical", "germ"): {
        "Burkholderia": 2.7217, "Chlamydia": 2.1679, "Nocardia": 1.6442, "Staphylococcus": 2.4651,
        "Streptococcus": 1.7567, "bacterial": 6, "fungal": 0.1155, "rubella": 2.1191, "viral": 181.866,
    },
    ("medical", "height"): {
        "lower": 17.2574, "upper": 4.0563,
    },
    ("medical", "heredity"): {
        "dominant": 1,
    },
    ("medical", "imaging"): {
        "CT": 50.0532, "CTA": 19.8609, "DSA": 0.2179, "MRI": 38.6138, "PET": 0.0452, "angiography": 2.44,
        "echocardiography": 1.0665, "ultrasound": 4.7723,
    },
    ("medical", "inflammation"): {
        "appendicitis": 1.5493, "cardiomyopathy": 2.576, "diabetes": 3.8043, "meningitis": 1.0456,
        "myocarditis": 3.5611, "osteomyelitis": 1.8742, "pancreatitis": 1.7059, "pericarditis": 2.8594,
        "peritonitis": 1.8401, "pneumonia": 3.2799, "sepsis": 5.1213, "stroke": 3.2801, "syphilis": 2.3336,
        "tuberculosis": 4.6774,
    },
    ("medical", "joint"): {
        "ankle": 6.6194, "elbow": 0.0002, "hip": 43.8119, "knee": 15.1589,
    },
    ("medical", "laboratory"): {
        "bradycardia": 3.043, "coagulopathy": 2.4685, "dehydration": 2.5423, "hyperkalemia": 0.63,
        "hypertension": 7.0371, "hypoglycemia": 0.7746, "hyponatremia": 0.5071, "hypotension": 3.3353,
        "malnutrition": 1.3839, "pancytopenia": 3.3476, "proteinuria": 1.5054, "tachycardia": 1.0912,
    },
    ("medical", "laboratory test"): {
        "EEG": 0.3849, "genetic testing": 15.5885,
    },
    ("medical", "large"): {
        "large": 4.4587, "small": 3.3642,
    },
    ("medical", "length"): {
        "short": 2,
    },
    ("medical", "lesion"): {
        "abscess": 2.9312, "calcification": 5.2867, "cyst": 1.968, "fracture": 3.7125, "hemorrhage": 2.0992,
        "infarct": 0.5536, "tumor": 11.3423,
    },
    ("medical", "level"): {
        "high": 6.6749, "low": 14.8318,
    },
    ("medical", "lobe"): {
        "frontal": 0.2864, "occipital": 27.9285,
    },
    ("medical", "manner"): {
        "adjuvant": 1.0333, "antibiotic": 1.9283, "antihypertensive": 1.1215, "antithrombotic": 1.8631,
        "conservative": 11.5026, "hormonal": 0.8474, "immunosuppressive": 0.6753, "intra-articular": 2.787,
        "multidisciplinary": 1.1498, "orthodontic": 0.8229, "palliative": 1.956, "prosthetic": 0.7582,
        "surgical": 190.581, "systemic": 7.7088,
    },
    ("medical", "margin"): {
        "well-defined": 1,
    },
    ("medical", "marker"): {
        "CD117": 1.732, "CD20": 30.8675, "CD34": 11.6484, "CD38": 21.3717, "CD99": 0.7454, "CK20": 1.1654,
        "CK7": 1.1044, "ERG": 0.8408, "HMB-45": 1.4642, "PAX8": 1.9462, "S-100": 0.882, "S100": 7.7215, "SMA": 2.6196,
        "STAT6": 7.8658, "TTF-1": 77.9425, "actin": 0.3208, "caldesmon": 0.8354, "desmin": 0.8724,
        "synaptophysin": 2.3312, "vimentin": 0.3928,
    },
    ("medical", "middle"): {
        "lateral": 3.3448, "medial": 2.3917,
    },
    ("medical", "nature"): {
        "benign": 7.9274, "malignant": 27.7517,
    },
    ("medical", "norm"): {
        "abnormal": 1, "normal": 72,
    },
    ("medical", "number word"): {
        "ten": 2, "two": 1,
    },
    ("medical", "onset"): {
        "sudden": 2,
    },
    ("medical", "order"): {
        "after": 2.9078, "before": 4.4708,
    },
    ("medical", "ordinal"): {
        "first": 3, "second": 2,
    },
    ("medical", "pain"): {
        "painful": 7.9375, "painless": 0.252,
    },
    ("medical", "part"): {
        "adrenal": 8.918, "cardiac": 1.5424, "gastric": 7.9759, "gastrointestinal": 3.6992, "hepatic": 3.1631,
        "intestinal": 8.3271, "neurological": 6.4928, "ocular": 8.2743, "pancreatic": 8.2601, "pulmonary": 1.4547,
        "renal": 23.1879, "respiratory": 1.4163, "splenic": 4.0897, "vascular": 0.0385,
    },
    ("medical", "pathology"): {
        "arrhythmia": 0.8486, "bleeding": 1.9717, "calcification": 3.1581, "dysplasia": 0.3944, "fibrosis": 2.446,
        "hemorrhage": 1.5535, "hypertrophy": 1.6228, "infection": 5.1811, "inflammation": 4.8268,
        "malignancy": 10.3696, "necrosis": 1.5493, "perforation": 2.4559, "sepsis": 5.2009, "stenosis": 1.3268,
        "trauma": 4.3857,
    },
    ("medical", "pole"): {
        "inferior": 0.507, "superior": 1.972,
    },
    ("medical", "quantity"): {
        "extensive": 4,
    },
    ("medical", "raised"): {
        "elevated": 48.0773, "normal": 42.0543, "reduced": 0.4118,
    },
    ("medical", "rank"): {
        "primary": 23.3495, "secondary": 6.8952,
    },
    ("medical", "reach"): {
        "distal": 3.0793, "proximal": 2.598,
    },
    ("medical", "regular"): {
        "persistent": 13,
    },
    ("medical", "route"): {
        "intravenous": 4.1856, "oral": 6.3473, "subcutaneous": 1.5321, "topical": 1.7047,
    },
    ("medical", "scope"): {
        "endoscopy": 1,
    },
    ("medical", "severity"): {
        "mild": 0.1491, "severe": 174.413,
    },
    ("medical", "side"): {
        "left": 9.5632, "right": 17.7762,
    },
    ("medical", "sides"): {
        "bilateral": 12,
    },
    ("medical", "sign"): {
        "negative": 33.2048, "positive": 16.2627,
    },
    ("medical", "speed"): {
        "rapid": 0.378, "slow": 7.9375,
    },
    ("medical", "spine"): {
        "cervical": 8,
    },
    ("medical", "spread"): {
        "disseminated": 0.1924, "localized": 0.2582, "metastatic": 173.066,
    },
    ("medical", "substance"): {
        "ACTH": 5.7277, "AFP": 0.1722, "CEA": 3.7485, "CRP": 6.7389, "PSA": 3.5234, "TSH": 3.928, "albumin": 1.968,
        "aldosterone": 0.0939, "calcitonin": 0.8341, "calcium": 12.1832, "copper": 4.134, "cortisol": 1.5314,
        "creatinine": 3.221, "estrogen": 1.7286, "glucose": 5.8477, "insulin": 3.252, "magnesium": 2.8479,
        "potassium": 4.0332, "renin": 0.4647, "troponin": 2.7587, "urea": 3.5104, "zinc": 0.11,
    },
    ("medical", "symptom"): {
        "abdominal pain": 1.2372, "ataxia": 0.8324, "back pain": 1.616, "cough": 1.6477, "diplopia": 2.1719,
        "dyspnea": 4.1353, "dysuria": 0.3196, "fatigue": 0.9909, "fever": 31.8303, "hematuria": 1.2206,
        "lethargy": 0.7645, "nausea": 0.3928, "pain": 6.5825, "seizures": 1.3005, "swelling": 2.713,
        "vomiting": 2.8734, "weight loss": 9.6212,
    },
    ("medical", "system"): {
        "cardiac": 2.0882, "cardiovascular": 2.1395, "gastrointestinal": 1.2231, "motor": 1.2748,
        "neurological": 22.0491, "ocular": 11.1481, "ophthalmologic": 1.134, "psychiatric": 1.9946,
        "pulmonary": 3.4996, "renal": 6.8225, "respiratory": 1.5932, "skeletal": 0.9003, "visual": 3.4096,
    },
    ("medical", "texture"): {
        "cystic": 3.1411, "endothelial": 1.0413, "enhancing": 1.1859, "fibrous": 3.7193, "infiltrative": 1.104,
        "lobulated": 1.5246, "mesenchymal": 2.6187, "mucinous": 1.0534, "neuroendocrine": 1.5494, "nodular": 0.906,
        "soft": 5.2756, "spindle": 5.8151, "squamous": 7.4212, "stromal": 1.1364,
    },
    ("medical", "therapy"): {
        "anticoagulation": 0.4744, "chemotherapy": 4.4287, "drainage": 0.3049, "physical therapy": 45.0013,
        "radiation": 7.9626, "radiotherapy": 10.7828, "rehabilitation": 0.1769, "surgery": 32.9885,
    },
    ("medical", "time"): {
        "early": 6, "late": 0.3334,
    },
    ("medical", "tissue test"): {
        "autopsy": 0.0992, "biopsy": 19.1019, "cytology": 0.1096, "histopathology": 17.5211,
        "immunohistochemistry": 8.3714,
    },
    ("medical", "trend"): {
        "progressive": 11,
    },
    ("medical", "tumor"): {
        "glioblastoma": 0.2607, "leiomyosarcoma": 6.629, "lymphoma": 0.8802, "melanoma": 1.152, "tumor": 10.5031,
    },
    ("medical", "unit"): {
        "day": 0.2982, "hour": 15.6527, "week": 0.6667, "year": 1,
    },
    ("medical", "valve"): {
        "aortic": 2.6614, "mitral": 3.3816,
    },
    ("medical", "vessel"): {
        "arterial": 2.791, "venous": 6.4492,
    },
    ("medical", "virus"): {
        "CMV": 0.2182, "EBV": 0.1155, "HHV-6": 33.166,
    },
    ("medical", "when"): {
        "intraoperative": 0.378, "postoperative": 12.2517, "preoperative": 4.5488,
    },
    ("medical", "worse"): {
        "improved": 23.2379, "worsened": 0.2582,
    },
    ("medical", "year"): {
        "2021": 1,
    },
    ("medical", "zygosity"): {
        "heterozygous": 1.4, "homozygous": 1.4286,
    },
}  # fmt: skip
