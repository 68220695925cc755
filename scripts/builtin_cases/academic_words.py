"""What every submission brings with it: form, set-up, statements and related work, by field of research."""

from scripts.builtin_cases.grammar import lines, table

FORM = lines("""
    The manuscript has {pages} pages, {figures} figures and {tables} tables; {refs} works are cited, and a supplement of {supp} pages is attached.
    The submission ([a PDF of {pages} pages|{pages} pages in one column]) refers to {refs} earlier works and holds {figures} figures; tables are numbered one to {tables_word}.
    [As submitted|In the version under review], the text runs to {words} words and cites {refs} works. There are {figures} figures, [two of them in color|most of them line plots], and a supplement.
    Of the {pages} pages, {supp} are appendix. {refs} references are given, [about a third|roughly half] of them from the last three years.
    The editor received {words} words of main text, {figures} figures, {tables} tables and a list of {refs} references.
""")

SETUP = table("""
    train: Models were trained with AdamW (learning rate {1..6}e-{4..5}, weight decay 0.0{1..5}, batches of [32|64|128|256], cosine decay after {300..2000,} warm-up steps).
    train: The optimizer is Adam with a learning rate of 0.00{1..5}, halved whenever validation loss stalls for {3..8} epochs; batches hold [48|96|160|192] examples and training ends after at most {20..90} epochs.
    train: Gradients are clipped at {1..5}.0, dropout is 0.{1..3}, the batch size [24|40|56|72]; the checkpoint with the best development loss is kept, with a patience of {4..12} evaluations.
    train: The final settings, listed in a supplementary table, include a learning rate of {1..9}e-5, {2..12} thousand steps of linear warm-up and label smoothing of 0.0{2..9}.
    train: Optimization used stochastic gradient descent with momentum 0.9, a step size of 0.0{1..8} that fell tenfold at {40..60}% and {70..85}% of training, and batches of [64|80|112].
    compute: One run takes {5..60} hours on [four|eight|two] [A100|H100|V100] cards.
    compute: The authors put the total cost at {300..4200,} GPU hours, [most of it|two thirds of it] for the search of settings.
    compute: Training fits on a single card with [24|40|48|80] GB; timing was done on a desktop with [16|32|64] GB of memory after {3..10} warm-up passes.
    compute: A run costs about {6..70} GPU hours; the energy used is estimated at {20..190} kWh.
    compute: Everything ran on a shared cluster with [A40|L40|A100] cards; queueing excluded, the longest job took {11..71} hours.
    versions: Library versions are pinned in a file that the authors say will be released; random seeds are fixed in the configuration.
    versions: The implementation builds on an open toolkit, of which {4..15} files were changed; the changes are described in an appendix.
    versions: The code is written in PyTorch with mixed precision; a container image is mentioned, without an address.
    versions: Data loading, training and scoring are separate programs, each with a configuration file; [three|four|five] of these are printed in full.
    tuning: Baselines were tuned on the development part with the same budget of {20..90} random configurations as the proposed method.
    tuning: For the baselines the authors took published settings and checked {3..9} values of the learning rate.
    tuning: Settings of all systems were chosen on development data; the search space is a table of {9..24} rows.
    tuning: A grid of {12..60} settings was searched for each system, and the test part was opened once.
    prompts: Prompts are printed in an appendix ({140..480} words each); decoding is greedy, and answers are cut at {256..1024} tokens.
    prompts: Each question was sent [once|in a fresh session] at temperature zero; {2..19} answers that a filter had stopped were sent again.
    prompts: Model names are given with the date of access; a system message of {30..90} words was the same for all.
    prompts: Answers were parsed with a regular expression; {1..4}.{1..9}% could not be parsed and were read by hand.
    seq: Reads were trimmed, aligned with standard settings and counted per gene; a library held {18..46} million reads on average, of which {86..95}% mapped.
    seq: Libraries were prepared in {2..5} batches with a commercial kit and sequenced as paired ends of [75|100|150] bases; the duplication rate was {8..19}%.
    seq: Quality control removed {2..9} libraries with fewer than {3..8} million reads; the rest were normalized by size factors.
    seq: RNA integrity numbers lay between {6..7}.{1..9} and 9.{1..8}; spike-ins were added at a fixed ratio.
    micro: Microscopy used a [20|40|63]x objective with identical exposure throughout, and a macro (supplied) measured intensities; {3..6} fields were taken per slide.
    micro: Images were recorded on a confocal microscope with {3..5} lasers; the pinhole and gain stayed the same, and stacks had {12..40} planes.
    micro: Slides were scanned at [0.25|0.5] µm per pixel; out-of-focus tiles, {2..6}% of all, were scanned again.
    micro: Time-lapse recordings took a frame every {2..15} minutes; drift was corrected by a published routine.
    cells: Cells were tested for mycoplasma every {2..6} weeks and used below passage {18..30}; identity was checked by short tandem repeats.
    cells: Cultures were kept at 37 °C with 5% carbon dioxide in medium with {5..15}% serum, and fed every [second|third] day.
    cells: Antibody catalog numbers, primer sequences and buffer recipes fill [two|three|four] supplementary tables.
    cells: Transfection efficiency, judged by a fluorescent reporter, was {58..84}%; dead cells were gated out.
    animals: Animals were kept at {20..23} °C in cages of {2..5} with a light period of twelve hours, and given water and chow freely.
    animals: Cages were changed [weekly|every ten days] by the same two keepers; noise and humidity were logged.
    animals: A license number is given for the experiments, and humane end points are defined in an annex of {2..5} pages.
    animals: Mice came from a commercial breeder and had {7..14} days to settle; cages were mixed across racks.
    lab: Most experiments were done by two people on different days; pages of the notebook are listed in the supplement.
    lab: Reagents, with suppliers and lots, fill a table of {12..40} rows.
    lab: Balances and pipettes were checked {2..4} times a year, and room temperature was logged.
    lab: Raw instrument files were kept and named by date; {1..4}% were unreadable and had been copied twice.
    lab: Positions on plates were drawn by lot, and each plate carried {2..6} blanks.
    samples: Samples were stored at -80 °C for {2..14} months before use; each plate carried {2..6} blanks and a pooled control, whose coefficient of variation was {3..9}%.
    samples: Tubes were thawed once, on ice; the laboratory worked through them in an order drawn by lot.
    samples: Blood was spun within {30..90} minutes and frozen in aliquots of {200..500} µL; hemolyzed tubes, {1..4}% of all, were discarded.
    samples: The assay ran in duplicate; pairs that differed by more than {12..20}% were repeated.
    rstat: Computations were done in R; scripts hold between {80..140} and {300..900} lines and are commented.
    rstat: The authors used R with [two|three|four] add-on packages, whose versions are listed; figures show raw points.
    rstat: The software and its version are named; [rounding is to {2..3} decimals|numbers in text and tables were generated, not typed].
    rstat: Analyses were done by [one author|a statistician among the authors] and repeated by another from the raw files, without differences.
    survey: The questionnaire was pilot-tested with {8..24} people, after which {2..6} questions were reworded.
    survey: The field period lasted {4..14} weeks, and reminders went out [twice|three times].
    survey: Median completion time was {9..24} minutes; {2..6}% of answers were discarded for speed before any analysis.
    survey: Items were shown in random order, and scales were scored as their manuals prescribe; Cronbach's alpha lay between 0.7{1..8} and 0.8{1..9}.
    entry: Two assistants entered paper forms independently; they disagreed in {1..3}.{1..9}% of cells, which were settled by going back to the sheet.
    entry: A code book of {14..60} pages describes variables, sources and recodes.
    entry: Test sheets were scored twice; the two scores agreed within one point in {93..98}% of cases.
    entry: Forms were scanned; a sample of {60..240} sheets was read by hand, with {2..9} errors found.
    files: The authors thank [the statistical office|two agencies] for access to protected files, which were analyzed [in a secure room|by remote desktop].
    files: Records of different offices were linked by a pseudonym; {1..4}.{1..9}% could not be linked and were left out.
    files: The files were delivered in [two|three] waves, and definitions that had changed in between were mapped by a table in the supplement.
    files: Variables were taken as recorded; values outside a plausible range, fewer than {20..190}, were set to missing.
    talk: Interviews took {35..50} to {70..110} minutes, were recorded and typed out; names were replaced before reading.
    talk: Conversations were held in [three|two] languages; passages that are quoted were translated and checked by a second speaker.
    talk: Transcripts run to {410..980} pages and were stored on an encrypted drive.
    talk: Participants could read their transcript; {2..7} did and changed single words.
    trial: Case report forms were electronic, with range checks; monitors visited each site {2..5} times and compared {10..30}% of entries with the source.
    trial: Visits lasted about {25..70} minutes; travel costs were paid, and participants got no other money.
    trial: A data-safety board of [three|four|five] members met {2..6} times and never asked for a change.
    trial: Staff trained for {1..3} days in the measuring routine; devices were calibrated every {3..12} weeks.
    assay: Assays were run in one accredited laboratory, with inter-assay variation of {2..7}%; the technician did not know the group.
    assay: Blood was taken in the morning after a night's fast; [tubes were barcoded|tubes carried numbers only].
    assay: Kits came from two lots, and {18..40} samples were measured with both to rule out a shift.
    sensors: Sensors logged every {5..30} minutes; clocks were synchronized weekly, and gaps made up {1..5}% of the record.
    sensors: Instruments were compared side by side for {6..20} days before use; offsets were below the precision that the maker states.
    sensors: Raw files amount to {2..70} gigabytes; a script turns them into tables, and its output was checked for {3..9} days by hand.
    maps: Maps were made with open software; coordinates are rounded to protect [owners|nests|residents].
    maps: Land cover was taken from a satellite product with pixels of {10..30} m and corrected by hand at {12..60} places.
    maps: Distances were measured along roads, from a public map of the same year.
""")
"""What was done → how, where nothing hangs on it; a scenario names what applies to its study."""

CHECKLIST = lines("""
    word limit [kept|observed]
    author contributions [given in the usual terms|listed]
    plain-language summary [present|attached]
    permission for [a reused figure|a reprinted scale] attached
    identifiers of all authors [supplied|entered]
    abbreviations explained [at first use|in a list]
    supplement [readable and paged|paged]
    tables [editable|as text]
    line numbers [present|switched on]
    declaration on writing aids [signed|given]
    references [in house style|complete]
    running title under {40..60} characters
    keywords given ([five|six|four])
    acknowledgments [separate from the text|on their own page]
    corresponding author [named|reachable]
    equations [numbered|none]
    units [in the international system|given throughout]
    title page [separate|included]
""")

STATEMENTS = table("""
    ethics: Approval by [an institutional|the local ethics] board is stated, with a file number.
    ethics: [An ethics statement of {3..9} lines|A paragraph on ethics] says that the work follows institutional rules.
    ethics: The ethics file was [seen by the office|uploaded as a scan]; it is [dated before the first measurement|signed and dated].
    data: The authors promise to deposit [their data|the tables behind the figures] in a public repository [on acceptance|at the latest with the proofs].
    data: Data are said to be available [on reasonable request|from the corresponding author].
    data: A data statement [names an archive|is present], though [the link is still private|no number has been given yet].
    code: A link to anonymous code is given; [the read-me file explains two of the three main scripts|it holds {12..60} files and a license|the office could open it].
    code: Code is not part of the submission, [though a flow chart of the program is|and none is announced].
    code: [Scripts come as a zip archive|A zip archive with scripts is attached] ([{2..40} megabytes|{12..60} files]), without instructions.
    money: [Funding came from a public agency|A public agency paid for the work]; [a second line thanks a foundation for a travel grant|two grant numbers are listed].
    money: The work had no outside funding, according to the [last page|title page].
    money: [Two foundations|A foundation and a ministry] are thanked for money, [neither of which saw the text|with the usual sentence on independence].
    interest: No [conflict of interest|competing interest] is declared [by any author|on any of the forms].
    interest: One author declares consulting fees from a company [whose products are not studied|in another field].
    interest: The forms on interests are complete; [one mentions unpaid work for a learned society|one mentions a seat on a school board].
    language: The English is [clear, with a few slips|good apart from articles] ([\"datas\"|\"it exists\"|\"on the other side\"|\"informations\"]) that [do not hinder reading|copy editing will catch].
    language: The prose is [dense but correct|plain and correct]; abbreviations are listed [at the end|on page two].
    language: Sentences are long, up to {48..90} words, and [could be cut|some need a second reading]; [spelling is consistent|spelling mixes two standards].
    figures: [The figures can be read in gray-scale print|In gray-scale print all lines can be told apart]; [axis labels of one panel are too small|one legend hides a point].
    figures: Color choices suit [readers with color blindness|most readers], and captions [can be understood without the text|name the units].
    figures: Plots were made [with one tool throughout|with two different tools], and [fonts differ slightly|line widths are even].
    history: A shorter version was shown [as a poster|in a workshop], [which the cover letter declares|with {2..6} pages].
    history: The cover letter [proposes {3..6} reviewers|names {3..6} possible reviewers] and asks [that one person be excluded|for a fast decision].
    history: [A preprint has been online for {2..9} months|A preprint exists]; [two comments there concern typing errors|nobody has commented on it].
""")

EXHIBITS = lines("""
    The first figure is a scheme of the work with [boxes and arrows|icons]; the others show results[, with raw points where there are fewer than {20..60}|]. Tables give [sources, settings and all numbers that the text rounds|settings and unrounded numbers].
    Captions are [long, up to {70..140} words|short], and [repeat the main message|leave the message to the text]. One table was printed sideways; its {9..18} columns are [hard to follow|narrow], and the editor has asked for [a new layout|two tables instead].
    A [flow chart|sketch] opens the article. Of the remaining figures, [two|three] have panels that [are discussed in the supplement only|the text never mentions]. The largest table has {14..38} rows and is sorted by [the last column|name].
    Exhibits are numbered [in the order of the text|by section]. Numbers in tables [and in running text|and those in the text] were compared by the editorial assistant, who found {2..4} differences [in the last decimal|of rounding], since corrected.
    The supplement [repeats the figures in higher resolution|gives larger versions of the figures] and adds {4..11} tables; [a list at its head says what each is for|they have no list of contents]. File names [agree with the numbers in the text|follow the office's scheme].
""")

OFFICE = lines("""
    The manuscript was received on {received}; [two other reviewers have agreed|one more reviewer has agreed], with reports due within {days} [working days|days]. The handling editor is {editor}.
    {editor} handles the paper, which came in on {received}. A reviewer who had been asked first declined [for lack of time|as a former colleague]; reports are expected [in about {weeks} weeks|within {weeks} weeks].
    Received on {received} and sent out {days} days later; handling editor {editor}. The authors asked for a decision [before a conference|before the summer], which the office [could not promise|noted].
    In the system since {received}, with {editor} as editor. The similarity check found {low}% overlap with published text, [all of it in the list of materials|most of it in references] and in [phrases of courtesy|standard phrases].
    The paper reached the office on {received}. {editor}, who edits the section, [read it once|skimmed it] and saw no formal obstacle; [plain formatting requests were met|a request about line numbers was met] within {days} days.
""")

RELATED = lines("""
    Related work is reviewed in {rel} paragraphs: [first the older lines of research, then recent work|recent work first, then its roots], then [how the present study differs|what is new].
    The section on earlier work groups {rel_refs} studies [by method|by decade] and closes with [a table of what each of them measured|a short table].
    Earlier work is described [fairly, if briefly|at fair length]; {rel} approaches are named as the closest, and [the differences are spelled out in a sentence each|a sentence each tells them apart].
    A page is given to earlier studies. [The assistant|A member of the board], who knows the field, found no [serious|obvious] omission among the {rel_refs} cited there.
    The introduction ends with {rel} research questions and [a list of contributions|an outline]; prior work is taken up [again in the discussion|once more near the end].
""")

OPENING = {
    "digest": "Structured summary of a submission, prepared for the program committee. Title: {title}.",
    "report": 'This is a description of the manuscript "{title}", drawn up from the text, the supplement and the authors\' answers to the check list.',
    "notes": 'Reading notes on "{title}".',
    "sections": "{title}",
    "editor": 'To the reviewers: below you find what the submission "{title}" says, section by section, in our own words.',
}
ASKED = lines("""
    Reviewers are asked for a recommendation with reasons that the authors can act on.
    The editor asks whether the evidence carries the claims, and what should be done before publication.
    The committee wants to know how far the conclusions hold and which changes would be needed.
    Please recommend acceptance, revision or rejection, and say why.
""")

TITLES = {
    "problem": ["Problem", "What the paper is about", "Motivation", "Introduction"],
    "method": ["Method", "Approach", "What was done", "Design"],
    "data": ["Data", "Material", "Data basis", "What it is based on"],
    "results": ["Results", "Findings", "What was found", "Main results"],
    "checks": ["Further analyses", "Ablations and robustness", "Additional results", "Checks"],
    "limits": ["Discussion and limits", "What the authors conclude", "Limitations", "Conclusions"],
    "setup": ["Technical details", "Set-up", "Implementation", "Procedures"],
    "form": ["Form", "About the manuscript", "Formalities", "Presentation"],
    "related": ["Earlier work", "Related work", "Context in the literature", "Background"],
    "office": ["From the editorial office", "Handling", "Status and exhibits", "Editorial notes"],
    "asked": ["Request", "What is asked", "Task of the review", "For the reviewers"],
}
