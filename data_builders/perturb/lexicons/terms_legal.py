"""Invented details of legal cases: groups of word classes, one a line (`slots.classes` reads them)."""

LEGAL: dict[str, str] = {
    "quality": """
        sphere MATTER: personal, financial, commercial, professional, political, religious, sexual, military,
            scientific, artistic, journalistic, marital, economic, medical, psychological, psychiatric, emotional,
            educational, agricultural, diplomatic, social, cultural, biological, genetic, technical, industrial,
            clinical, ethnic, contractual, statistical, environmental, historical, linguistic, therapeutic, fiscal,
            electoral, intellectual, physical, moral, residential, forensic, nutritional, occupational, academic
        manner ACT: secret, anonymous, written, repeated, joint, preliminary, urgent, provisional, collective,
            handwritten, confidential, voluntary, compulsory, permanent, immediate, periodic, regular, annual,
            additional, independent, unilateral, explicit, informal, detailed, exclusive, parallel, weekly,
            fortnightly, nocturnal, supervised, unsupervised, unannounced, telephonic, emergency, sealed, recorded
    """,
    "document": """
        paper NOUN: report, letter, certificate, contract, agreement, invoice, receipt, photograph, recording,
            transcript, diary, questionnaire, affidavit, declaration, memorandum, passport, permit, licence, map,
            expert opinion, deed, protocol, statement, written statement, record, notice, medical certificate,
            medical report, police report
        medium NOUN: article, book, film, interview, leaflet, newspaper, magazine, broadcast, programme, poster,
            photograph
        order NOUN: warrant, summons, injunction, indictment, subpoena, expulsion order, care order, eviction order,
            detention order, deportation order, confiscation order, access order, arrest warrant, search warrant,
            restraining order
        modifier REPORT: medical, psychiatric, psychological, forensic, social, financial, genetic, technical,
            graphological, toxicological, ballistic, dental, anthropological, gynaecological, neurological,
            statistical, linguistic
    """,
    "body": """
        body NOUN: hospital, school, clinic, police station, ministry, municipality, bank, embassy, consulate,
            parliament, orphanage, kindergarten, youth office, employment office, registry, tax office, newspaper,
            company, association, union, university, institute, agency, ombudsman, foundation, laboratory, council,
            commission, committee, prosecution service, land registry, social services, health authority, insurance
            company, housing office
        place NOUN: flat=apartment, garage, office, cell, garden, farm, shop, vehicle, cellar, warehouse, hotel,
            car, van, courtroom, corridor, playground, factory, workshop, restaurant, dormitory, kitchen, prison
    """,
    "person or act": """
        woman NOUN: grandmother, aunt, stepmother, niece, sister, daughter, wife, mother, foster mother,
            mother-in-law, goddaughter
        man NOUN: grandfather, uncle, stepfather, nephew, brother, son, husband, father, foster father,
            father-in-law, godson
        professional NOUN: lawyer=counsel/solicitor, psychologist, psychiatrist, doctor=physician, nurse, teacher,
            neighbour, social worker, landlord, employer, journalist, notary, mediator, interpreter, translator,
            priest, colleague, friend, accountant, surgeon, editor, publisher, paediatrician, headmaster, caretaker,
            expert, witness, midwife, architect, therapist
        official NOUN: prosecutor, judge, policeman=police officer, police officer, bailiff, mayor, governor,
            minister, inspector, investigator, public prosecutor, investigating judge, prison governor, court
            bailiff, ombudsman, registrar, customs officer
        inquiry NOUN: search, hearing, interview, visit, inspection, seizure, raid, interrogation, confrontation,
            autopsy, meeting, paternity test, blood test, DNA test, examination, interception, surveillance,
            inquiry, trial, mediation, reconstruction
        crime NOUN: accident, fire, robbery, burglary, assault, murder, rape, theft, shooting, brawl, explosion,
            suicide, abduction
        removal NOUN: arrest, eviction, deportation, extradition, auction, sale, transfer, demolition, dismissal,
            promotion, expulsion, purchase, adoption, divorce, marriage, wedding, funeral, birth, abortion,
            operation, baptism, placement, separation
        matter ITEM: violence, fraud, bribery, theft, negligence, defamation, blackmail, perjury, forgery, custody,
            maintenance, rape, inheritance, compensation, employment, housing, ownership, noise, pollution,
            surveillance, imprisonment, detention, adoption, alcohol, medication, treatment, insurance, education,
            publicity, supervision, enforcement, guardianship, paternity, murder, manslaughter, robbery, burglary,
            assault, extortion, embezzlement, arson, incest, slander, libel, drug trafficking, tax evasion
    """,
}
