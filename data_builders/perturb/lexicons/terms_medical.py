"""Invented details of medical cases: groups of word classes, one a line (`slots.classes` reads them)."""

MEDICAL: dict[str, str] = {
    "quality": """
        cause DISEASE: infectious, autoimmune, metabolic, genetic, congenital, inflammatory, neoplastic, vascular,
            traumatic, toxic, degenerative, endocrine, hormonal, paraneoplastic, iatrogenic, idiopathic,
            psychogenic, nutritional, ischemic, thrombotic, embolic, allergic, granulomatous, hereditary,
            immunologic, septic, mechanical, obstructive, demyelinating, mitochondrial, neurodegenerative, viral,
            bacterial, fungal, parasitic, environmental
        system SYSTEM: neurological, cardiovascular, cardiac, pulmonary, renal, hepatic, gastrointestinal,
            urological, muscular, respiratory, lymphatic, cutaneous, ocular, skeletal, dental, gynecological,
            sensory, motor, cognitive, visual, psychiatric, hematologic, rheumatologic, ophthalmologic,
            dermatologic, vestibular, auditory, urinary, articular, oral, nasal
        texture TISSUE: cystic, lobulated, calcified, ulcerated, hemorrhagic, necrotic, fibrous, fatty, mucinous,
            encapsulated, infiltrative, nodular, polypoid, papillary, epithelioid, pigmented, sclerotic, lytic,
            homogeneous, heterogeneous, hypervascular, pedunculated, firm, soft, tender, mobile, edematous,
            fibrotic, friable, purulent, serous, septate, enhancing, enlarged, dilated, thickened, atrophic,
            inflamed, swollen, spindle, giant, squamous, glandular, stromal, mesenchymal, epithelial, endothelial,
            neuroendocrine, melanocytic, lymphoid, adipocytic, vesicular
        manner CARE: surgical, endoscopic, conservative, laparoscopic, systemic, topical, palliative, adjuvant,
            neoadjuvant, intravenous, prophylactic, empirical, targeted, supportive, immunosuppressive,
            antimicrobial, antiviral, antifungal, antibiotic, antithrombotic, antihypertensive, hormonal,
            percutaneous, robotic, radiological, intensive, multidisciplinary, outpatient, nutritional,
            psychological, orthodontic, prosthetic, regenerative, intrathecal, intra-articular, transdermal,
            enteral, parenteral, minimally invasive, combined, staged
        organism GERM: Staphylococcus aureus=Staphylococcus, Staphylococcus=staphylococc, Escherichia coli=E. coli,
            Pseudomonas, Klebsiella, Streptococcus=streptococc, Enterococcus=enterococc, Salmonella, Candida,
            Aspergillus, Mycobacterium=mycobacteri, Cryptococcus, Histoplasma, Nocardia, Brucella, Listeria,
            Legionella, Mycoplasma, Chlamydia, Acinetobacter, Burkholderia, Toxoplasma, Echinococcus, Entamoeba,
            Rickettsia, Bartonella, Actinomyces, Clostridium, rubella
    """,
    "finding": """
        symptom ITEM: fever=febrile/pyrexia, fatigue, nausea, vomiting=emesis, diarrhea=diarrhoea, cough,
            dyspnea=dyspnoea/shortness of breath, dizziness, vertigo, weakness, numbness, swelling,
            jaundice=icterus, weight loss=lost weight, malaise, anorexia, hemoptysis, syncope, constipation,
            confusion, hearing loss, blurred vision, diplopia, ptosis, ataxia, dysarthria, dysphagia, aphasia,
            photophobia, arthralgia, myalgia, pruritus=itching, night sweats, pallor, cyanosis, headache, seizures,
            tinnitus, rash, abdominal pain, chest pain, back pain, neck pain, chills, edema=oedema, erythema,
            insomnia, polyuria, polydipsia, lethargy, pain=painful, palpitations, hematuria, dysuria, hoarseness
        laboratory ITEM: anemia=anaemia, leukocytosis, leukopenia, thrombocytopenia, neutropenia, eosinophilia,
            proteinuria, hyponatremia, hyperkalemia, hypokalemia, hypercalcemia, hypocalcemia, hypoglycemia,
            hyperglycemia, acidosis, hypoalbuminemia, hypoxia=hypoxemia, hypotension, hypertension=hypertensive,
            tachycardia, bradycardia, coagulopathy, lymphocytosis, pancytopenia, hyperbilirubinemia, dehydration,
            malnutrition, hypothermia
        pathology ITEM: hemorrhage=haemorrhage/bleeding, bleeding=hemorrhage, necrosis=necrotic, fibrosis=fibrotic,
            atrophy=atrophic, stenosis=stenotic, thrombosis=thrombus, ischemia=ischemic, perforation,
            ulceration=ulcer, calcification=calcified, infection=infected, obstruction, dilation=dilatation/dilated,
            hypertrophy, hyperplasia, dysplasia, invasion, metastasis=metastatic/metastases, trauma, sepsis=septic,
            infarction=infarct, lymphadenopathy, hepatomegaly, splenomegaly, ascites, pleural effusion, pericardial
            effusion, hydronephrosis, atypia=atypical, pleomorphism=pleomorphic, mitotic activity=mitoses/mitotic
            figures, inflammation=inflammatory, rupture, embolism, torsion, dissection, aneurysm, shock, arrhythmia,
            heart failure, renal failure, malformation, compression, edema=oedema, malignancy=malignant
        lesion ITEM: calcification, cyst, fracture, adhesion, nodule, effusion, abscess=abscesses, fistula, ulcer,
            polyp, hematoma, aneurysm, stricture, hernia, infarct, thrombus, plaque, vesicle, granuloma, pseudocyst,
            hemorrhage, tumor, scar, erosion
    """,
    "investigation": """
        imaging NAME: CT=computed tomography/tomographic, MRI=magnetic resonance, PET=positron, CTA=CT angiography,
            SPECT, PET-CT=PET/CT, ultrasound=ultrasonography/sonography/ultrasonographic,
            angiography=angiogram/angiographic, X-ray=radiograph, radiography=radiograph/x-ray, mammography,
            scintigraphy, echocardiography=echocardiogram/echocardiographic, MRA, DSA
        scope FREE: endoscopy=endoscopic, colonoscopy=colonoscopic, bronchoscopy=bronchoscopic, cystoscopy,
            laparoscopy=laparoscopic, arthroscopy=arthroscopic, hysteroscopy, gastroscopy, laryngoscopy,
            thoracoscopy, sigmoidoscopy, mediastinoscopy
        tissue test FREE: histopathology=histopathological/pathology, immunohistochemistry=immunohistochemical,
            cytology=cytological, histology=histological, electron microscopy, autopsy, biopsy=biopsies/bioptic,
            immunofluorescence, flow cytometry
        laboratory test ITEM: PCR=polymerase chain, serology=serological, cultures=culture, culture=cultured,
            urinalysis, genetic testing=genetic test, sequencing=sequenced, karyotyping=karyotype, FISH, spirometry,
            audiometry, manometry, EEG=electroencephalogra, ECG=electrocardiogra, EMG=electromyography, lumbar
            puncture=cerebrospinal fluid/CSF, blood smear, tonometry
        marker NAME: CD3, CD4, CD5, CD8, CD10, CD20, CD30, CD31, CD34, CD38, CD45, CD56, CD68, CD79a, CD99, CD117,
            CD138, S-100, S100, SMA, EMA, CK7, CK20, CK5/6, TTF-1, p63, p40, p53, p16, HMB-45, HMB45, SOX10, SOX-10,
            Melan-A, Ki-67, HER2, GATA3, PAX8, WT1, STAT6, ERG, MDM2, CDK4, BCL2, BCL6, DOG1, ALK, GFAP, NSE,
            desmin, vimentin, actin, myogenin, caldesmon, calponin, synaptophysin, chromogranin, cytokeratin,
            calretinin, inhibin, mesothelin
        gene NAME: BRAF, KRAS, NRAS, EGFR, TP53, PIK3CA, BRCA1, BRCA2, RET, MET, NF1, IDH1, PTEN, TERT, JAK2,
            NOTCH1, COL4A1, RHOA
        antibody NAME: ANCA, ANA, IgG, IgA, IgM, IgG4, IgE, anti-dsDNA, cANCA, pANCA, AMA, ASMA, AChR, MOG, NMDA
        virus NAME: CMV, EBV, HIV, HSV, HPV, VZV, HHV-6, HBV, HCV, RSV, HTLV-1, JCV, SARS-CoV-2
        substance NAME: ACTH, TSH, LH, FSH, PTH, CEA, AFP, PSA, HCG, LDH, CRP, BNP, CK, calcitonin, thyroglobulin,
            ferritin, troponin, procalcitonin, lactate, amylase, lipase, bilirubin, albumin, cortisol, aldosterone,
            renin, prolactin, testosterone, calcium, potassium, sodium, magnesium, phosphate, creatinine,
            hemoglobin=haemoglobin, estrogen, progesterone, insulin, glucose, ammonia, copper, zinc, homocysteine,
            urea, bicarbonate
    """,
    "disease or treatment": """
        inflammation ITEM: tuberculosis=tuberculous, sarcoidosis, vasculitis=vasculitic, meningitis, encephalitis,
            pneumonia, sepsis, cellulitis, osteomyelitis, endocarditis, myocarditis, pericarditis, pancreatitis,
            hepatitis, cholecystitis, appendicitis, peritonitis, colitis, gastritis, nephritis, cystitis,
            dermatitis, arthritis, myositis, neuritis, keratitis, uveitis, scleritis, thyroiditis, malaria,
            syphilis, toxoplasmosis, aspergillosis, candidiasis, histoplasmosis, cryptococcosis, brucellosis,
            echinococcosis=hydatid, leishmaniasis, endometriosis, diverticulitis, amyloidosis, lupus,
            diabetes=diabetic, asthma, cirrhosis, stroke, epilepsy, cardiomyopathy, multiple sclerosis, psoriasis,
            pemphigus, eczema, scleroderma, gout, osteoporosis, hemophilia, porphyria, preeclampsia, mucormycosis,
            actinomycosis
        tumor ITEM: lymphoma, melanoma, sarcoma, leukemia, myeloma, mesothelioma, glioma, glioblastoma, schwannoma,
            meningioma, neurofibroma, lipoma, liposarcoma, leiomyoma, leiomyosarcoma, hemangioma, angiosarcoma,
            hamartoma, teratoma, adenoma, adenocarcinoma, papilloma, fibroma, fibrosarcoma, osteosarcoma,
            chondrosarcoma, chordoma, thymoma, carcinoid, cholangiocarcinoma, rhabdomyosarcoma, neuroblastoma,
            retinoblastoma, lymphangioma, paraganglioma, pheochromocytoma, metastasis=metastatic/metastases,
            squamous cell carcinoma, hepatocellular carcinoma, tumor
        therapy ITEM: chemotherapy, radiotherapy=radiation, radiation=radiotherapy, immunotherapy, surgery=surgical,
            dialysis=hemodialysis, physiotherapy=physical therapy, physical therapy=physiotherapy,
            anticoagulation=anticoagulant, embolization=embolized, transplantation=transplant, thrombolysis,
            plasmapheresis=plasma exchange, drainage=drained, debridement, resection=resected, stenting=stent,
            reconstruction=reconstructed, rehabilitation, ventilation, transfusion, hydration, sclerotherapy,
            phototherapy, immunosuppression=immunosuppressive, hormone therapy, excision=excised, irrigation,
            ablation, grafting=graft, intubation=intubated, thrombectomy, sedation, observation, counseling,
            monitoring, decompression, fixation
        drug group ITEM: corticosteroids=steroid, antibiotics=antibiotic, steroids=corticosteroid, diuretics,
            analgesics, antifungals, antivirals, anticoagulants, opioids, vasopressors, bisphosphonates,
            immunoglobulins=IVIG, vitamins, antihistamines, statins, antihypertensives, beta-blockers, supplements,
            antiemetics, laxatives, sedatives, anticonvulsants, chelators
        drug FREE: prednisone, prednisolone, methylprednisolone, dexamethasone, hydrocortisone, methotrexate,
            rituximab, cyclophosphamide, azathioprine, mycophenolate, tacrolimus, cyclosporine, cisplatin,
            carboplatin, paclitaxel, doxorubicin, etoposide, vincristine, gemcitabine, pembrolizumab, nivolumab,
            bevacizumab, imatinib, heparin, warfarin, rivaroxaban, apixaban, enoxaparin, aspirin, clopidogrel,
            vancomycin, ceftriaxone, meropenem, metronidazole, ciprofloxacin, doxycycline, fluconazole,
            voriconazole, amphotericin B, acyclovir, ganciclovir, rifampicin, isoniazid, levetiracetam,
            carbamazepine, valproate, baclofen, gabapentin, propranolol, labetalol, bisoprolol, amiodarone,
            furosemide, spironolactone, metformin, levothyroxine, octreotide, omeprazole, ursodiol, tamoxifen,
            letrozole, denosumab, albendazole, praziquantel, colchicine, infliximab, adalimumab, tocilizumab,
            dupilumab, ibuprofen, morphine, ketamine, propofol, midazolam, magnesium sulfate, zoledronic acid,
            tranexamic acid, mannitol, digoxin, sorafenib, lenvatinib, lenalidomide, bortezomib, olanzapine,
            risperidone, quetiapine, sertraline, fluoxetine, lithium
    """,
}
