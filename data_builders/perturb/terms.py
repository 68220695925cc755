"""Word classes for invented details (P4): things of one kind, any of which a case may have or not have.

`word=other name/other name` lists names of the same thing: where the case has any of them, the thing is not invented.
Words of a class are of one grammatical kind, and each class says in which slot of a sentence its words are exchanged:
`ITEM` (an entry of a list, or all that follows a preposition), `NOUN` (after a determiner), `FREE` (anywhere), or before one
of the nouns that its adjectives go with.
"""

from data_builders.perturb.swap import SwapClass

_END = (
    r"\**\s*(?:[,.;:)/]|$|(?:and|or|nor|was|were|is|are|has|had|did|does|in|on|at|with|without|by|during|due|after"
    r"|before|from"
    r"|through|via|as|that|which|who|because|but|while|showed|revealed|confirmed|demonstrated|suggested|supported|ruled"
    r"|excluded|remained|would|could|to|for|against|about)\b)"
)
_SLOTS = {
    "ITEM": (
        r"(?:^|[,;(:/]\s*|\b(?:and|or|nor|with|without|including|like|as|no|for|by|via|against|from|despite|through"
        r"|(?:absence|presence|lack|evidence|history|sign|signs|symptoms|risk|cause|causes|development|diagnosis"
        r"|suspicion"
        r"|possibility|prevention|management|control|treatment|episodes|onset|findings|diagnoses|exclusion|use"
        r"|initiation"
        r"|combination|course|means|effect|effects|levels|degree|amount|question|issue|acts|accused|victim"
        r"|convicted)\s+of"
        r"|due\s+to|related\s+to|secondary\s+to|(?:not|only|both|either|also)|such\s+as)\s+)\**",
        _END,
    ),
    "NOUN": (
        r"\b(?:a|an|the|this|that|any|no|her|his|their|its|another|one|each|every|\w+['’]s|\w+s['’])\s+\**",
        r"(?:\s+(?:of|entitled|concerning|relating|regarding|dated|issued|submitted|between)\b|" + _END + ")",
    ),
    "FREE": ("", ""),
    "NAME": (r"(?<![A-Z] )(?<!-)", r"(?!\s+[A-Z])"),
    "GERM": ("", r"(?!\**\s+[a-z]{5,}\*|\s+(?:tuberculosis|aureus|coli)\b)"),
    "DISEASE": (
        "",
        r"\s+(?:causes?|conditions?|etiolog\w+|diseases?|disorders?|process\w*|origin|changes|factors?|syndromes?"
        r"|mechanisms?"
        r"|abnormalit\w+|encephalopath\w+|myopath\w+|neuropath\w+|patholog\w+|insults?|events?|reactions?)\b",
    ),
    "SYSTEM": (
        "",
        r"\s+(?:symptoms?|signs?|status|findings|involvement|deficits?|diseases?|disorders?|causes|complications?"
        r"|functions?"
        r"|dysfunction|conditions?|examinations?|manifestations?|assessments?|evaluations?|abnormalit\w+|issues"
        r"|injur\w+)\b",
    ),
    "TISSUE": (
        "",
        r"\s+(?:mass|masses|lesions?|tissues?|components?|areas?|nodules?|tumou?rs?|neoplasms?|cells?|changes"
        r"|appearance|stroma"
        r"|structures?|formations?|proliferation|nodes?|patterns?|features|margins?|walls?|lumps?|swellings?"
        r"|infiltrat\w+)\b",
    ),
    "CARE": (
        "",
        r"\s+(?:therap\w+|treatments?|interventions?|management|approach\w*|excision|debridement|resection"
        r"|exploration|repair"
        r"|procedures?|removal|drainage|options?|agents?|care|techniques?|injections?|regimens?|strateg\w+|measures"
        r"|correction"
        r"|decompression|rehabilitation|support|surgery|medications?|biopsy|control|closure|reconstruction)\b",
    ),
    "MATTER": (
        "",
        r"\s+(?:activit\w+|information|reasons?|data|interests?|consequences|difficult\w+|situation|background"
        r"|matters?|ties"
        r"|relations\w*|damage|circumstances|problems?|needs|suffering|convictions|views|aspects?|examinations?"
        r"|treatment"
        r"|assistance|support|benefits?|development|experts?|evidence|assessments?|harm|conditions|purposes"
        r"|institutions?)\b",
    ),
    "ACT": (
        "",
        r"\s+(?:requests?|submissions?|hearings?|complaints?|statements?|examinations?|reports?|visits?|contacts?"
        r"|orders?|consent"
        r"|measures?|residence|decisions?|evidence|information|arrangements?|letters?|procedures?|investigations?"
        r"|access"
        r"|agreements?|permits?|supervision|surveillance|search\w*|warnings?|meetings?|placements?|medication"
        r"|applications?)\b",
    ),
    "STUDY": (
        "",
        r"\s+(?:analys[ei]s|models?|data|datasets?|features|methods?|approach\w*|stud(?:y|ies)|research|factors?"
        r"|findings|tests?"
        r"|software|tools?|aspects?|interpretation|significance|information|evidence|variables?|parameters|changes"
        r"|diversity"
        r"|characteristics|outcomes?|relevance|importance|implications|community|communities|specialists?|presentation"
        r"|examinations?|properties|process\w*|pathways?|questions?|specifications|literature|fields?|sciences?"
        r"|training"
        r"|practices?|settings?|patterns?|networks?|distributions?|variations?|validation|knowledge|assessments?"
        r"|problems?"
        r"|work|evaluations?|descriptions?|comparisons?|impact|effects?|systems?|resources?|perspectives?|issues?"
        r"|applications?"
        r"|measures?|scores?|images?|errors?|sequences?|structures?|styles?|functions?|regions?|sites?|samples?"
        r"|materials?"
        r"|terms?|journals?|papers?|articles?|publishing|publications?|education|policy|algorithms?|signs?|experts?)\b",
    ),
    "COURSE": (
        "",
        r"\s+(?:transmission|infections?|diseases?|cases?|symptoms?|disorders?|patients|episodes?|illness"
        r"|conditions?)\b",
    ),
}

_LEXICON: dict[str, dict[str, dict[str, tuple[str, str]]]] = {
    "medical": {
        "quality": {
            "cause": (
                "DISEASE",
                """infectious, autoimmune, metabolic, genetic, congenital, inflammatory, neoplastic, vascular, traumatic,
                toxic, degenerative, endocrine, hormonal, paraneoplastic, iatrogenic, idiopathic, psychogenic,
                nutritional, ischemic, thrombotic, embolic, allergic, granulomatous, hereditary, immunologic, septic,
                mechanical, obstructive, demyelinating, mitochondrial, neurodegenerative, viral, bacterial, fungal,
                parasitic, environmental""",
            ),
            "system": (
                "SYSTEM",
                """neurological, cardiovascular, cardiac, pulmonary, renal, hepatic, gastrointestinal, urological,
                muscular, respiratory, lymphatic, cutaneous, ocular, skeletal, dental, gynecological, sensory, motor,
                cognitive, visual, psychiatric, hematologic, rheumatologic, ophthalmologic, dermatologic, vestibular,
                auditory, urinary, articular, oral, nasal""",
            ),
            "texture": (
                "TISSUE",
                """cystic, lobulated, calcified, ulcerated, hemorrhagic, necrotic, fibrous, fatty, mucinous,
                encapsulated, infiltrative, nodular, polypoid, papillary, epithelioid, pigmented, sclerotic, lytic,
                homogeneous, heterogeneous, hypervascular, pedunculated, firm, soft, tender, mobile, edematous,
                fibrotic, friable, purulent, serous, septate, enhancing, enlarged, dilated, thickened, atrophic,
                inflamed, swollen, spindle, giant, squamous, glandular, stromal, mesenchymal, epithelial, endothelial,
                neuroendocrine, melanocytic, lymphoid, adipocytic, vesicular""",
            ),
            "manner": (
                "CARE",
                """surgical, endoscopic, conservative, laparoscopic, systemic, topical, palliative, adjuvant,
                neoadjuvant, intravenous, prophylactic, empirical, targeted, supportive, immunosuppressive,
                antimicrobial, antiviral, antifungal, antibiotic, antithrombotic, antihypertensive, hormonal,
                percutaneous, robotic, radiological, intensive, multidisciplinary, outpatient, nutritional,
                psychological, orthodontic, prosthetic, regenerative, intrathecal, intra-articular, transdermal,
                enteral, parenteral, minimally invasive, combined, staged""",
            ),
            "germ": (
                "GERM",
                """Staphylococcus aureus=Staphylococcus, Staphylococcus=staphylococc, Escherichia coli=E. coli,
                Pseudomonas, Klebsiella, Streptococcus=streptococc, Enterococcus=enterococc, Salmonella, Candida,
                Aspergillus, Mycobacterium=mycobacteri, Cryptococcus, Histoplasma, Nocardia, Brucella, Listeria,
                Legionella, Mycoplasma, Chlamydia, Acinetobacter, Burkholderia, Toxoplasma, Echinococcus, Entamoeba,
                Rickettsia, Bartonella, Actinomyces, Clostridium, rubella""",
            ),
        },
        "finding": {
            "symptom": (
                "ITEM",
                """fever=febrile/pyrexia, fatigue, nausea, vomiting=emesis, diarrhea=diarrhoea, cough,
                dyspnea=dyspnoea/shortness of breath, dizziness, vertigo, weakness, numbness, swelling,
                jaundice=icterus, weight loss=lost weight, malaise, anorexia, hemoptysis, syncope, constipation,
                confusion, hearing loss, blurred vision, diplopia, ptosis, ataxia, dysarthria, dysphagia, aphasia,
                photophobia, arthralgia, myalgia, pruritus=itching, night sweats, pallor, cyanosis, headache,
                seizures, tinnitus, rash, abdominal pain, chest pain, back pain, neck pain, chills, edema=oedema,
                erythema, insomnia, polyuria, polydipsia, lethargy, pain=painful, palpitations, hematuria, dysuria,
                hoarseness""",
            ),
            "laboratory": (
                "ITEM",
                """anemia=anaemia, leukocytosis, leukopenia, thrombocytopenia, neutropenia, eosinophilia, proteinuria,
                hyponatremia, hyperkalemia, hypokalemia, hypercalcemia, hypocalcemia, hypoglycemia, hyperglycemia,
                acidosis, hypoalbuminemia, hypoxia=hypoxemia, hypotension, hypertension=hypertensive, tachycardia,
                bradycardia, coagulopathy, lymphocytosis, pancytopenia, hyperbilirubinemia, dehydration, malnutrition,
                hypothermia""",
            ),
            "pathology": (
                "ITEM",
                """hemorrhage=haemorrhage/bleeding, bleeding=hemorrhage, necrosis=necrotic, fibrosis=fibrotic,
                atrophy=atrophic, stenosis=stenotic, thrombosis=thrombus, ischemia=ischemic, perforation,
                ulceration=ulcer, calcification=calcified, infection=infected, obstruction,
                dilation=dilatation/dilated, hypertrophy, hyperplasia, dysplasia, invasion,
                metastasis=metastatic/metastases, trauma, sepsis=septic, infarction=infarct, lymphadenopathy,
                hepatomegaly, splenomegaly, ascites, pleural effusion, pericardial effusion, hydronephrosis,
                atypia=atypical, pleomorphism=pleomorphic, mitotic activity=mitoses/mitotic figures,
                inflammation=inflammatory, rupture, embolism, torsion, dissection, aneurysm, shock, arrhythmia, heart
                failure, renal failure, malformation, compression, edema=oedema, malignancy=malignant""",
            ),
            "lesion": (
                "ITEM",
                """calcification, cyst, fracture, adhesion, nodule, effusion, abscess=abscesses, fistula, ulcer, polyp,
                hematoma, aneurysm, stricture, hernia, infarct, thrombus, plaque, vesicle, granuloma, pseudocyst,
                hemorrhage, tumor, scar, erosion""",
            ),
        },
        "investigation": {
            "imaging": (
                "NAME",
                """CT=computed tomography/tomographic, MRI=magnetic resonance, PET=positron, CTA=CT angiography, SPECT,
                PET-CT=PET/CT, ultrasound=ultrasonography/sonography/ultrasonographic,
                angiography=angiogram/angiographic, X-ray=radiograph, radiography=radiograph/x-ray, mammography,
                scintigraphy, echocardiography=echocardiogram/echocardiographic, MRA, DSA""",
            ),
            "scope": (
                "FREE",
                """endoscopy=endoscopic, colonoscopy=colonoscopic, bronchoscopy=bronchoscopic, cystoscopy,
                laparoscopy=laparoscopic, arthroscopy=arthroscopic, hysteroscopy, gastroscopy, laryngoscopy,
                thoracoscopy, sigmoidoscopy, mediastinoscopy""",
            ),
            "tissue test": (
                "FREE",
                """histopathology=histopathological/pathology, immunohistochemistry=immunohistochemical,
                cytology=cytological, histology=histological, electron microscopy, autopsy, biopsy=biopsies/bioptic,
                immunofluorescence, flow cytometry""",
            ),
            "laboratory test": (
                "ITEM",
                """PCR=polymerase chain, serology=serological, cultures=culture, culture=cultured, urinalysis, genetic
                testing=genetic test, sequencing=sequenced, karyotyping=karyotype, FISH, spirometry, audiometry,
                manometry, EEG=electroencephalogra, ECG=electrocardiogra, EMG=electromyography, lumbar
                puncture=cerebrospinal fluid/CSF, blood smear, tonometry""",
            ),
            "marker": (
                "NAME",
                """CD3, CD4, CD5, CD8, CD10, CD20, CD30, CD31, CD34, CD38, CD45, CD56, CD68, CD79a, CD99, CD117, CD138,
                S-100, S100, SMA, EMA, CK7, CK20, CK5/6, TTF-1, p63, p40, p53, p16, HMB-45, HMB45, SOX10, SOX-10,
                Melan-A, Ki-67, HER2, GATA3, PAX8, WT1, STAT6, ERG, MDM2, CDK4, BCL2, BCL6, DOG1, ALK, GFAP, NSE,
                desmin, vimentin, actin, myogenin, caldesmon, calponin, synaptophysin, chromogranin, cytokeratin,
                calretinin, inhibin, mesothelin""",
            ),
            "gene": ("NAME",
                     "BRAF, KRAS, NRAS, EGFR, TP53, PIK3CA, BRCA1, BRCA2, RET, MET, NF1, IDH1, PTEN, TERT, JAK2, NOTCH1, COL4A1, RHOA"),
            "antibody": ("NAME",
                         "ANCA, ANA, IgG, IgA, IgM, IgG4, IgE, anti-dsDNA, cANCA, pANCA, AMA, ASMA, AChR, MOG, NMDA"),
            "virus": ("NAME", "CMV, EBV, HIV, HSV, HPV, VZV, HHV-6, HBV, HCV, RSV, HTLV-1, JCV, SARS-CoV-2"),
            "substance": (
                "NAME",
                """ACTH, TSH, LH, FSH, PTH, CEA, AFP, PSA, HCG, LDH, CRP, BNP, CK, calcitonin, thyroglobulin, ferritin,
                troponin, procalcitonin, lactate, amylase, lipase, bilirubin, albumin, cortisol, aldosterone, renin,
                prolactin, testosterone, calcium, potassium, sodium, magnesium, phosphate, creatinine,
                hemoglobin=haemoglobin, estrogen, progesterone, insulin, glucose, ammonia, copper, zinc, homocysteine,
                urea, bicarbonate""",
            ),
        },
        "disease or treatment": {
            "inflammation": (
                "ITEM",
                """tuberculosis=tuberculous, sarcoidosis, vasculitis=vasculitic, meningitis, encephalitis, pneumonia,
                sepsis, cellulitis, osteomyelitis, endocarditis, myocarditis, pericarditis, pancreatitis, hepatitis,
                cholecystitis, appendicitis, peritonitis, colitis, gastritis, nephritis, cystitis, dermatitis,
                arthritis, myositis, neuritis, keratitis, uveitis, scleritis, thyroiditis, malaria, syphilis,
                toxoplasmosis, aspergillosis, candidiasis, histoplasmosis, cryptococcosis, brucellosis,
                echinococcosis=hydatid, leishmaniasis, endometriosis, diverticulitis, amyloidosis, lupus,
                diabetes=diabetic, asthma, cirrhosis, stroke, epilepsy, cardiomyopathy, multiple sclerosis, psoriasis,
                pemphigus, eczema, scleroderma, gout, osteoporosis, hemophilia, porphyria, preeclampsia, mucormycosis,
                actinomycosis""",
            ),
            "tumor": (
                "ITEM",
                """lymphoma, melanoma, sarcoma, leukemia, myeloma, mesothelioma, glioma, glioblastoma, schwannoma,
                meningioma, neurofibroma, lipoma, liposarcoma, leiomyoma, leiomyosarcoma, hemangioma, angiosarcoma,
                hamartoma, teratoma, adenoma, adenocarcinoma, papilloma, fibroma, fibrosarcoma, osteosarcoma,
                chondrosarcoma, chordoma, thymoma, carcinoid, cholangiocarcinoma, rhabdomyosarcoma, neuroblastoma,
                retinoblastoma, lymphangioma, paraganglioma, pheochromocytoma, metastasis=metastatic/metastases,
                squamous cell carcinoma, hepatocellular carcinoma, tumor""",
            ),
            "therapy": (
                "ITEM",
                """chemotherapy, radiotherapy=radiation, radiation=radiotherapy, immunotherapy, surgery=surgical,
                dialysis=hemodialysis, physiotherapy=physical therapy, physical therapy=physiotherapy,
                anticoagulation=anticoagulant, embolization=embolized, transplantation=transplant, thrombolysis,
                plasmapheresis=plasma exchange, drainage=drained, debridement, resection=resected, stenting=stent,
                reconstruction=reconstructed, rehabilitation, ventilation, transfusion, hydration, sclerotherapy,
                phototherapy, immunosuppression=immunosuppressive, hormone therapy, excision=excised, irrigation,
                ablation, grafting=graft, intubation=intubated, thrombectomy, sedation, observation, counseling,
                monitoring, decompression, fixation""",
            ),
            "drug group": (
                "ITEM",
                """corticosteroids=steroid, antibiotics=antibiotic, steroids=corticosteroid, diuretics, analgesics,
                antifungals, antivirals, anticoagulants, opioids, vasopressors, bisphosphonates, immunoglobulins=IVIG,
                vitamins, antihistamines, statins, antihypertensives, beta-blockers, supplements, antiemetics,
                laxatives, sedatives, anticonvulsants, chelators""",
            ),
            "drug": (
                "FREE",
                """prednisone, prednisolone, methylprednisolone, dexamethasone, hydrocortisone, methotrexate, rituximab,
                cyclophosphamide, azathioprine, mycophenolate, tacrolimus, cyclosporine, cisplatin, carboplatin,
                paclitaxel, doxorubicin, etoposide, vincristine, gemcitabine, pembrolizumab, nivolumab, bevacizumab,
                imatinib, heparin, warfarin, rivaroxaban, apixaban, enoxaparin, aspirin, clopidogrel, vancomycin,
                ceftriaxone, meropenem, metronidazole, ciprofloxacin, doxycycline, fluconazole, voriconazole,
                amphotericin B, acyclovir, ganciclovir, rifampicin, isoniazid, levetiracetam, carbamazepine,
                valproate, baclofen, gabapentin, propranolol, labetalol, bisoprolol, amiodarone, furosemide,
                spironolactone, metformin, levothyroxine, octreotide, omeprazole, ursodiol, tamoxifen, letrozole,
                denosumab, albendazole, praziquantel, colchicine, infliximab, adalimumab, tocilizumab, dupilumab,
                ibuprofen, morphine, ketamine, propofol, midazolam, magnesium sulfate, zoledronic acid, tranexamic
                acid, mannitol, digoxin, sorafenib, lenvatinib, lenalidomide, bortezomib, olanzapine, risperidone,
                quetiapine, sertraline, fluoxetine, lithium""",
            ),
        },
    },
    "legal": {
        "quality": {
            "sphere": (
                "MATTER",
                """personal, financial, commercial, professional, political, religious, sexual, military, scientific,
                artistic, journalistic, marital, economic, medical, psychological, psychiatric, emotional,
                educational, agricultural, diplomatic, social, cultural, biological, genetic, technical, industrial,
                clinical, ethnic, contractual, statistical, environmental, historical, linguistic, therapeutic,
                fiscal, electoral, intellectual, physical, moral, residential, forensic, nutritional, occupational,
                academic""",
            ),
            "manner": (
                "ACT",
                """secret, anonymous, written, repeated, joint, preliminary, urgent, provisional, collective,
                handwritten, confidential, voluntary, compulsory, temporary, permanent, immediate, periodic, regular,
                annual, additional, independent, interim, unilateral, explicit, informal, detailed, exclusive,
                parallel, weekly, fortnightly, nocturnal, supervised, unsupervised, unannounced, telephonic,
                emergency, sealed, recorded""",
            ),
        },
        "document": {
            "paper": (
                "NOUN",
                """report, letter, certificate, contract, agreement, invoice, receipt, photograph, recording, transcript,
                diary, questionnaire, affidavit, declaration, memorandum, passport, permit, licence, map, expert
                opinion, deed, protocol, statement, written statement, record, notice, medical certificate, medical
                report, police report""",
            ),
            "medium": ("NOUN",
                       "article, book, film, interview, leaflet, newspaper, magazine, broadcast, programme, poster, photograph"),
            "order": (
                "NOUN",
                """warrant, summons, injunction, indictment, subpoena, expulsion order, care order, eviction order,
                detention order, deportation order, confiscation order, access order, arrest warrant, search warrant,
                restraining order""",
            ),
            "modifier": (
                "medical, psychiatric, psychological, forensic, social, financial, genetic, technical, graphological, toxicological, "
                "ballistic, dental, anthropological, gynaecological, neurological, statistical, linguistic",
                r"\s+(?:reports?|opinions?|examinations?|evidence|experts?|assessments?|certificates?|tests?"
                r"|findings)\b",
            ),
        },
        "body": {
            "body": (
                "NOUN",
                """hospital, school, clinic, police station, ministry, municipality, bank, embassy, consulate,
                parliament, orphanage, kindergarten, youth office, employment office, registry, tax office, newspaper,
                company, association, union, university, institute, agency, ombudsman, foundation, laboratory,
                council, commission, committee, prosecution service, land registry, social services, health authority,
                insurance company, housing office""",
            ),
            "place": (
                "NOUN",
                """flat=apartment, house, garage, office, cell, garden, farm, shop, vehicle, cellar, warehouse, hotel,
                car, van, apartment=flat, courtroom, corridor, playground, factory, workshop, restaurant, dormitory,
                kitchen, prison, home""",
            ),
        },
        "person or act": {
            "woman": ("NOUN",
                      "grandmother, aunt, stepmother, niece, sister, daughter, wife, mother, foster mother, mother-in-law, goddaughter"),
            "man": ("NOUN",
                    "grandfather, uncle, stepfather, nephew, brother, son, husband, father, foster father, father-in-law, godson"),
            "professional": (
                "NOUN",
                """lawyer=counsel/solicitor, psychologist, psychiatrist, doctor=physician, nurse, teacher, neighbour,
                social worker, landlord, employer, journalist, notary, mediator, interpreter, translator, priest,
                colleague, friend, accountant, surgeon, editor, publisher, paediatrician, headmaster, caretaker,
                expert, witness, midwife, architect, therapist""",
            ),
            "official": (
                "NOUN",
                """prosecutor, judge, policeman=police officer, police officer, bailiff, mayor, governor, minister,
                inspector, investigator, public prosecutor, investigating judge, prison governor, court bailiff,
                ombudsman, registrar, customs officer""",
            ),
            "inquiry": (
                "NOUN",
                """search, hearing, interview, visit, inspection, seizure, raid, interrogation, confrontation, autopsy,
                meeting, paternity test, blood test, DNA test, examination, interception, surveillance, inquiry,
                trial, mediation, reconstruction""",
            ),
            "crime": ("NOUN",
                      "accident, fire, robbery, burglary, assault, murder, rape, theft, shooting, brawl, explosion, suicide, abduction"),
            "removal": (
                "NOUN",
                """arrest, eviction, deportation, extradition, auction, sale, transfer, demolition, dismissal, promotion,
                expulsion, purchase, adoption, divorce, marriage, wedding, funeral, birth, abortion, operation,
                baptism, placement, separation""",
            ),
            "matter": (
                "ITEM",
                """violence, fraud, bribery, theft, negligence, defamation, blackmail, perjury, forgery, custody,
                maintenance, rape, inheritance, compensation, employment, housing, ownership, noise, pollution,
                surveillance, imprisonment, detention, adoption, alcohol, drugs, money, evidence, testimony,
                medication, treatment, insurance, education, publicity, correspondence, supervision, enforcement,
                guardianship, paternity, murder, manslaughter, robbery, burglary, assault, extortion, embezzlement,
                arson, incest, slander, libel, drug trafficking, tax evasion""",
            ),
        },
    },
    "academic": {
        "quality": {
            "sphere": (
                "STUDY",
                """clinical, genetic, molecular, statistical, computational, epidemiological, demographic, environmental,
                economic, educational, pharmacological, immunological, biochemical, histological, radiological,
                behavioural, ecological, evolutionary, structural, metabolic, neurological, cardiac, renal, pulmonary,
                hepatic, cerebral, arterial, venous, visual, surgical, bacterial, genomic, transcriptomic, proteomic,
                phylogenetic, microbial, hormonal, cognitive, psychological, geographical, temporal, spatial,
                seasonal, financial, ethical, legal, technical, experimental, mathematical, theoretical, empirical,
                medical, academic, scientific, biological, chemical, physical, social, political, cultural,
                historical, commercial, industrial, agricultural, veterinary, pediatric, obstetric, dental""",
            ),
            "manner": (
                "STUDY",
                """raw, longitudinal, simulated, synthetic, pooled, weighted, random, automated, manual, interactive,
                graphical, online, digital, parallel, hierarchical, bipartite, linear, nonlinear, multivariate,
                univariate, unsupervised, supervised, anonymous, collaborative, retrospective, prospective,
                systematic, narrative, comparative, descriptive, pilot, controlled, blinded, crossover, multicentre,
                qualitative, quantitative, iterative, modular, dynamic, static, international, regional, rural, urban,
                domestic, interdisciplinary, peer-reviewed, preliminary, exploratory""",
            ),
            "course": (
                "COURSE",
                """mosquito-borne, sexual, vertical, airborne, asymptomatic, severe, fatal, recurrent, congenital,
                imported, hospitalised, chronic, neonatal, paediatric, nosocomial, zoonotic, sporadic, autochthonous,
                epidemic, endemic, refractory""",
            ),
        },
        "result": {
            "statistic": (
                "ITEM",
                """standard deviation, standard error, odds ratio, hazard ratio, regression=regressed, ANOVA, t-test,
                incidence, prevalence, mortality, morbidity, sensitivity, specificity, accuracy, precision, recall,
                effect size, sample size, heterogeneity, robustness, bias, significance, reliability, validity,
                coverage, nestedness, modularity, randomization, normalization, regression analysis, confidence
                intervals, p-values, cost, speed, stability""",
            ),
            "section": (
                "NOUN",
                """appendix, caption, legend, glossary, footnote, figure, table, graph, plot, histogram, heatmap,
                diagram, map, video, flowchart, dendrogram, equation, formula, matrix, checklist""",
            ),
        },
        "method": {
            "language": ("NAME",
                         "Python, Java, Perl, MATLAB, Ruby, JavaScript, Fortran, SQL, XML, JSON, Excel, STATA, SPSS, SAS, LaTeX"),
            "resource": (
                "NAME",
                """PubMed, Medline=MEDLINE, Embase, Scopus, Ensembl, UniProt=Uniprot, NCBI, GenBank, KEGG, Galaxy,
                Cytoscape, Bioconductor, CRAN, Docker, GitHub, Zenodo, Figshare, Twitter, Wikipedia, ImageJ, arXiv,
                bioRxiv, Facebook, Dryad, Google Scholar, Web of Science, BLAST, Gephi, Graphviz, Bowtie, TopHat,
                Cufflinks, DESeq, edgeR, GROMACS, AutoDock""",
            ),
            "laboratory": ("NAME",
                           "PCR, qPCR, ELISA, RNA-seq=RNA-Seq, GWAS, MALDI, NMR, ChIP-seq, serology, histology, sequencing, microscopy, cytometry"),
            "clinic": (
                "NAME",
                """MRI, CT, EEG, ECG, EMG, PET, ultrasound, echocardiography=echocardiogram, angiography=angiogram,
                biopsy, endoscopy, spirometry, radiography, laparoscopy, scintigraphy, mammography, tonometry,
                colonoscopy""",
            ),
            "statistics": ("NAME",
                           "SVM, ROC, MCMC, PCA, ANOVA, LASSO, t-SNE, UMAP, GLM, AUC, AIC, BIC, FDR, RMSD, RMSF, k-means"),
            "agent": ("NAME",
                      "HIV, HPV, MRSA, CMV, EBV, HSV, Zika, dengue, chikungunya, Ebola, influenza, malaria, measles, rabies, SARS, rubella"),
            "organisation": ("NAME",
                             "WHO, NIH, CDC, FDA, EMA, UNESCO, NASA, ELIXIR, EMBL, UNICEF, PAHO, NHS, ICMJE, COPE, DORA, ORCID"),
            "tool": (
                "NOUN",
                """database, algorithm, package, script, pipeline, plugin, interface, workflow, questionnaire, survey,
                interview, registry, repository, server, website, tutorial, vignette, manual, browser, dataset,
                library, network, model, simulation, protocol, assay, microarray, workshop, blog, wiki, platform,
                framework, web service, tool, app""",
            ),
            "procedure": (
                "ITEM",
                """dialysis, surgery, chemotherapy, radiotherapy, antibiotics, steroids, corticosteroids, anesthesia,
                anticoagulation, transfusion, craniotomy, embolization, immunotherapy, physiotherapy, vaccination,
                ventilation, hydration""",
            ),
            "technique": (
                "ITEM",
                """imaging, crystallography, docking, spectroscopy, chromatography, electrophoresis, simulations,
                simulation, interviews, questionnaires, surveys, randomisation, meta-analysis, clustering, alignment,
                annotation, normalisation, sampling, sequencing, genotyping, staining, mapping, modelling,
                visualization, indexing, bootstrapping, imputation""",
            ),
        },
        "material": {
            "people": (
                "ITEM",
                """patients, children, adults, infants, women, men, students, nurses, physicians, researchers,
                librarians, editors, reviewers, publishers, funders, volunteers, athletes, farmers, users, developers,
                clinicians, surgeons, pharmacists, scientists, neonates, donors, twins, caregivers, travellers,
                veterans, prisoners, teachers, policymakers, readers, authors, institutions, universities, hospitals,
                societies, companies, governments""",
            ),
            "organism": (
                "ITEM",
                """mice, rats, humans, monkeys, rabbits, mosquitoes, viruses, bacteria, parasites, fungi, cells, genes,
                proteins, enzymes, receptors, antibodies, peptides, plasmids, ligands, inhibitors, hormones,
                mutations, vaccines, antibiotics, neurons, plants, insects, fish, birds, bats, yeast, zebrafish, pigs,
                dogs, cats, macrophages, platelets""",
            ),
            "illness": (
                "ITEM",
                """infection, inflammation, fever, pain, diabetes, obesity, hypertension, cancer, asthma, stroke,
                malaria, influenza, tuberculosis, pneumonia, sepsis, malnutrition, pregnancy, depression, anxiety,
                dementia, epilepsy, ischemia, hypoxia, hypotension, hemorrhage, edema, headache, thrombosis, embolism,
                anemia, seizures, vomiting, syncope""",
            ),
            "process": (
                "ITEM",
                """apoptosis, transcription, translation, methylation, phosphorylation, metabolism, evolution,
                transmission, mutation, replication, recombination, splicing, glycosylation, migration, proliferation,
                differentiation, signalling""",
            ),
            "matter": (
                "ITEM",
                """surveillance, funding, plagiarism, authorship, citation, reproducibility, transparency, education,
                teaching, climate, rainfall, temperature, humidity, poverty, sanitation, travel, trade, publishing,
                mentoring, licensing, privacy, documentation, installation, archiving, reuse, storage, data sharing,
                peer review, open access, training""",
            ),
        },
    },
}  # fmt: skip


def _class(name: str, first: str, second: str) -> SwapClass:
    """A class of words with the name of its slot, or with what must follow its words."""
    if first in _SLOTS:
        left, right = _SLOTS[first]
        return SwapClass.parse(name, second, left=left, right=right)
    return SwapClass.parse(name, first, right=second)


INVENTED: dict[str, dict[str, tuple[SwapClass, ...]]] = {
    domain: {group: tuple(_class(name, *entry) for name, entry in classes.items()) for group, classes in groups.items()}
    for domain, groups in _LEXICON.items()
}
"""Domain → group → classes."""

OTHERS_OF_THE_CASE: dict[str, tuple[SwapClass, ...]] = {
    domain: tuple(
        SwapClass(f"{klass.name} of the case", klass.terms, klass.left, klass.right)
        for group, classes in groups.items()
        if group not in ("quality", "finding", "result")
        for klass in classes
    )
    for domain, groups in INVENTED.items()
}
"""Domain → the classes of named things again, with weights of their own: for P2, which swaps two things of one case."""
