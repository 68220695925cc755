"""Invented details of academic cases: groups of word classes, one a line (`slots.classes` reads them)."""

ACADEMIC: dict[str, str] = {
    "quality": """
        sphere STUDY: clinical, genetic, molecular, statistical, computational, epidemiological, demographic,
            environmental, economic, educational, pharmacological, immunological, biochemical, histological,
            radiological, behavioural, ecological, evolutionary, structural, metabolic, neurological, cardiac,
            renal, pulmonary, hepatic, cerebral, arterial, venous, visual, surgical, bacterial, genomic,
            transcriptomic, proteomic, phylogenetic, microbial, hormonal, cognitive, psychological, geographical,
            temporal, spatial, seasonal, financial, ethical, legal, technical, experimental, mathematical,
            theoretical, empirical, medical, academic, scientific, biological, chemical, physical, social,
            political, cultural, historical, commercial, industrial, agricultural, veterinary, pediatric, obstetric,
            dental
        manner STUDY: raw, longitudinal, simulated, synthetic, pooled, weighted, random, automated, manual,
            interactive, graphical, online, digital, parallel, hierarchical, bipartite, linear, nonlinear,
            multivariate, univariate, unsupervised, supervised, anonymous, collaborative, retrospective,
            prospective, systematic, narrative, comparative, descriptive, pilot, controlled, blinded, crossover,
            multicentre, qualitative, quantitative, iterative, modular, dynamic, static, international, regional,
            rural, urban, domestic, interdisciplinary, peer-reviewed, preliminary, exploratory
        case COURSE: mosquito-borne, sexual, vertical, airborne, asymptomatic, severe, fatal, recurrent,
            congenital, imported, hospitalised, chronic, neonatal, paediatric, nosocomial, zoonotic, sporadic,
            autochthonous, epidemic, endemic, refractory
    """,
    "result": """
        statistic ITEM: standard deviation, standard error, odds ratio, hazard ratio, regression=regressed, ANOVA,
            t-test, incidence, prevalence, mortality, morbidity, sensitivity, specificity, accuracy, precision,
            recall, effect size, sample size, heterogeneity, robustness, bias, significance, reliability, validity,
            coverage, nestedness, modularity, randomization, normalization, regression analysis, confidence
            intervals, p-values, cost, speed, stability
        section NOUN: appendix, caption, legend, glossary, footnote, figure, table, graph, plot, histogram, heatmap,
            diagram, map, video, flowchart, dendrogram, equation, formula, matrix, checklist
    """,
    "method": """
        language NAME: Python, Java, Perl, MATLAB, Ruby, JavaScript, Fortran, SQL, XML, JSON, Excel, STATA, SPSS,
            SAS, LaTeX
        resource NAME: PubMed, Medline=MEDLINE, Embase, Scopus, Ensembl, UniProt=Uniprot, NCBI, GenBank, KEGG,
            Galaxy, Cytoscape, Bioconductor, CRAN, Docker, GitHub, Zenodo, Figshare, Twitter, Wikipedia, ImageJ,
            arXiv, bioRxiv, Facebook, Dryad, Google Scholar, Web of Science, BLAST, Gephi, Graphviz, Bowtie, TopHat,
            Cufflinks, DESeq, edgeR, GROMACS, AutoDock
        laboratory NAME: PCR, qPCR, ELISA, RNA-seq=RNA-Seq, GWAS, MALDI, NMR, ChIP-seq, serology, histology,
            sequencing, microscopy, cytometry
        clinic NAME: MRI, CT, EEG, ECG, EMG, PET, ultrasound, echocardiography=echocardiogram,
            angiography=angiogram, biopsy, endoscopy, spirometry, radiography, laparoscopy, scintigraphy,
            mammography, tonometry, colonoscopy
        statistics NAME: SVM, ROC, MCMC, PCA, ANOVA, LASSO, t-SNE, UMAP, GLM, AUC, AIC, BIC, FDR, RMSD, RMSF,
            k-means
        agent NAME: HIV, HPV, MRSA, CMV, EBV, HSV, Zika, dengue, chikungunya, Ebola, influenza, malaria, measles,
            rabies, SARS, rubella
        organisation NAME: WHO, NIH, CDC, FDA, EMA, UNESCO, NASA, ELIXIR, EMBL, UNICEF, PAHO, NHS, ICMJE, COPE,
            DORA, ORCID
        tool NOUN: database, algorithm, package, script, pipeline, plugin, interface, workflow, questionnaire,
            survey, interview, registry, repository, server, website, tutorial, vignette, manual, browser, dataset,
            library, network, model, simulation, protocol, assay, microarray, workshop, blog, wiki, platform,
            framework, web service
        procedure ITEM: dialysis, surgery, chemotherapy, radiotherapy, antibiotics, steroids, corticosteroids,
            anesthesia, anticoagulation, transfusion, craniotomy, embolization, immunotherapy, physiotherapy,
            vaccination, ventilation, hydration
        technique ITEM: imaging, crystallography, docking, spectroscopy, chromatography, electrophoresis,
            simulations, simulation, interviews, questionnaires, surveys, randomisation, meta-analysis, clustering,
            alignment, annotation, normalisation, sampling, sequencing, genotyping, staining, mapping, modelling,
            visualization, indexing, bootstrapping, imputation
    """,
    "material": """
        people ITEM: patients, children, adults, infants, women, men, students, nurses, physicians, researchers,
            librarians, editors, reviewers, publishers, funders, volunteers, athletes, farmers, users, developers,
            clinicians, surgeons, pharmacists, scientists, neonates, donors, twins, caregivers, travellers,
            veterans, prisoners, teachers, policymakers, readers, authors, institutions, universities, hospitals,
            societies, companies, governments
        organism ITEM: mice, rats, humans, monkeys, rabbits, mosquitoes, viruses, bacteria, parasites, fungi, cells,
            genes, proteins, enzymes, receptors, antibodies, peptides, plasmids, ligands, inhibitors, hormones,
            mutations, vaccines, antibiotics, neurons, plants, insects, fish, birds, bats, yeast, zebrafish, pigs,
            dogs, cats, macrophages, platelets
        illness ITEM: infection, inflammation, fever, pain, diabetes, obesity, hypertension, cancer, asthma, stroke,
            malaria, influenza, tuberculosis, pneumonia, sepsis, malnutrition, pregnancy, depression, anxiety,
            dementia, epilepsy, ischemia, hypoxia, hypotension, hemorrhage, edema, headache, thrombosis, embolism,
            anemia, seizures, vomiting, syncope
        process ITEM: apoptosis, transcription, translation, methylation, phosphorylation, metabolism, evolution,
            transmission, mutation, replication, recombination, splicing, glycosylation, migration, proliferation,
            differentiation, signalling
        measured ITEM: temperature, humidity, rainfall, pressure, salinity, pH, viscosity, velocity, density,
            concentration, volume, weight, altitude, distance, wavelength, conductivity, flow, dose
        matter ITEM: surveillance, funding, plagiarism, authorship, citation, reproducibility, transparency,
            education, teaching, poverty, sanitation, travel, trade, publishing, mentoring, licensing, privacy,
            documentation, installation, archiving, reuse, storage, data sharing, peer review, open access, training
    """,
}
