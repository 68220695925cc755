"""What every complaint brings with it: how it was lodged, who wrote for whom, what was claimed, what others had to say."""

from scripts.builtin_cases.grammar import lines, table

OPENING = lines("""
    The [case|application] was brought by {applicant} ([application no. {app}|no. {app}]). It was lodged on {lodged} under Article 34 of the Convention.
    On {lodged} {applicant} turned to the Court; the application was given the number {app}.
    This note concerns application no. {app}, received on {lodged}. The complaint comes from {applicant}.
    Application no. {app} was introduced on {lodged} by {applicant}.
""")

COMPLAINT = lines("""
    The complaint against the State falls to be examined under Article {article} of the Convention; other provisions that the application form names add nothing to it.
    Relying on Article {article} of the Convention, {short} complained that the State was responsible for the facts set out in this file. A reference to Article 13 was not maintained.
    It is Article {article} of the Convention that is invoked against the State; the Registry has [confirmed|noted] that no other complaint is left.
    In substance the grievance comes under Article {article} of the Convention; applicant and respondent State have argued it on that footing.
""")

WRITERS = lines("""
    The lawyer {lawyer}, who practises in {town}, represented {short}; the Government were represented by their Agent, {agent}.
    The Government's Agent, {agent}, signed their observations. For {short}, pleadings were filed by {lawyer} of the {town} bar, who had been granted legal aid.
    [Counsel|Lawyer] for {short}: {lawyer} ({town}). Agent of the Government: {agent}, [of the Ministry of Justice|of the State Legal Office].
    {lawyer}, who [runs a two-person practice|teaches part-time] in {town}, acted for {short} without a fee; {agent} acted as Agent of the Government.
""")

NOTICE = lines("""
    Notice of the complaint was given to the Government on {communicated}. Their observations arrived on {observed}, and a reply followed on {replied}.
    The President of the Section gave notice of the application on {communicated}; the Government answered on {observed}, {short} on {replied}. There was no hearing.
    The written procedure ran from {communicated}, when the Government were notified, to {replied}, when the last pleading reached the Registry; the Government had filed theirs on {observed}.
    The parties exchanged observations (Government: {observed}; in reply: {replied}) after notice had been given on {communicated}. A request for an oral hearing was [refused|not made].
""")

ADMISSIBLE = lines("""
    The Government did not dispute that domestic remedies had been exhausted, and the last decision was served [{few} weeks|less than {many} months] before the application.
    No plea of non-exhaustion was raised. The Registry checked the date of service on the postal receipt and found the time-limit kept.
    In a preliminary objection the Government argued that the application was an abuse because {short} had spoken about it to a newspaper; the article in question, {paragraphs} paragraphs long, [quoted no document of the file|said nothing that had not been known before].
    The Government first pleaded that the application form lacked a signature on one page; the missing page was [supplied within the eight weeks that the Registry had set|found to be an annex that needs none].
    As to admissibility, the Government said only that the complaint was manifestly ill-founded, for the reasons that they gave on the merits.
    An objection that {short} had suffered no significant disadvantage was made in one sentence and [not developed|withdrawn in a later letter].
""")

CLAIMS = lines("""
    {short} claimed {moral} euros (EUR) for non-pecuniary damage and EUR {costs} for costs, of which invoices cover EUR {proved}. The Government found both sums excessive.
    Under Article 41 the claims are EUR {moral} in respect of non-pecuniary damage and EUR {costs} for lawyers' fees and postage. The Government replied that a finding of a violation would be enough and that receipts for only EUR {proved} had been shown.
    By way of just satisfaction EUR {moral} was sought for non-pecuniary damage, and EUR {costs} for legal fees according to a time sheet of {hours} hours. In the Government's view no more than EUR {proved} was [necessarily incurred|substantiated].
    The claim for just satisfaction came in time: EUR {moral} for non-pecuniary damage and EUR {costs} for costs and expenses. The Government left the first to the Court's discretion and accepted EUR {proved} of the second.
""")

FILE = lines("""
    The file holds copies of all domestic decisions, {letters} letters with their envelopes, and a [translation certified in {town}|translation made by counsel].
    Annexed are {letters} documents, among them [postal receipts|the minutes of each hearing|a family-register extract] and an index in two languages.
    Both sides sent documents: {letters} came with the application form, and [a further dozen|a thin folder] with the Government's observations. [None of them is contested|The authenticity of none is in dispute].
    The Registry holds the domestic case file on a data carrier ({pages} pages); the page numbers used by the parties [differ, which explains some confusion|agree].
    A request for anonymity was [not made|made late and refused]. The case file runs to {pages} pages, most of them [annexes|court records].
    An earlier application, about [a tax matter|a parking fine|a pension supplement], had been declared inadmissible by a single judge {years} years before; it has no bearing on this one.
""")

THIRD = table("""
    2: A forensic association, given leave to intervene, set out how early steps decide the success of an inquiry into a death: securing the place, photographs, and statements taken separately.
    2: A network of victims' families submitted that relatives should be told of each procedural step without having to ask.
    3: A medical foundation, intervening, described how injuries are documented under the Istanbul Protocol: body charts, photographs with a scale, and the person's account in his or her own words.
    3: An organisation of prison doctors explained in its comments that complaints made in the first days are often incomplete, which need not make them untrue.
    5: A bar association that had been granted leave to intervene surveyed the practice of nine States on how often detention orders are reviewed, without commenting on the facts.
    5: A charity for prisoners' families pointed in its comments to the effect of long remands on employment and housing.
    6: An institute for procedural law, as third party, compared how {many} legal systems time their appeals and reopen defaults; it took no side.
    6: A judges' union submitted as third party that delay is often a matter of staff, and gave figures on vacant posts in the region.
    8: A university clinic for family and privacy law, intervening, described research on decisions taken with and without hearing those concerned.
    8: A privacy organisation was given leave to intervene; its comments dealt with the keeping of records in general and did not touch the facts.
    9: An interfaith council, intervening, recalled that minorities are often less visible to administrations than they think.
    10: A press-freedom group, as intervener, listed statutes under which courts of {few} States weigh reputation against public debate.
    10: An association of newspaper publishers submitted that even small sanctions make editors more cautious; it gave no data for the respondent State.
    11: A federation of trade unions, intervening, described collective agreements in its sector and the share of workers covered by them.
    11: An assembly-monitoring group handed in its general guidelines on policing, which both parties said they knew.
    p1: A chamber of notaries, intervening, explained how land registers of the region were rebuilt after a fire in the archive half a century ago.
    p1: An institute of public finance submitted a note on how compensation is valued in expropriation; neither party commented on it.
    14: An equality body from another State intervened with a survey of statutes on indirect discrimination, none of them of the respondent State.
""")

TEXTS = table("""
    2: The parties referred to the United Nations manual on the investigation of potentially unlawful deaths (the Minnesota Protocol, in its revised form) without quoting from it.
    2: Reference was made to a recommendation of the Council of Europe on the collection of data in coroners' inquiries.
    3: Both sides cited standards of the European Committee for the Prevention of Torture on access to a doctor and on notifying a third person.
    3: A report of the national preventive mechanism, which had visited other places in the same district, is in the file and says nothing on these events.
    5: The file includes a recommendation of the Committee of Ministers on remand in custody and the safeguards against its abuse.
    5: The parties mentioned the European Prison Rules, which are not binding, and drew nothing specific from them.
    6: Statistics of the Ministry of Justice are annexed: the courts of the district received {pages} new civil cases in an average year.
    6: The Government produced a circular on case management that entered into force after the events.
    8: A recommendation of the Committee of Ministers on personal data, and another on family mediation, were mentioned by one party and left undiscussed.
    8: The parties agreed that the national ombudsman had published a general report on the subject, with no finding on this case.
    9: Guidelines on the review of legislation concerning religion, drawn up by two European bodies, were attached by the Government.
    10: Both parties referred to a resolution of the Parliamentary Assembly on defamation, which invites States to abolish prison sentences for it.
    10: A code of ethics of the national press council, which has no force of law, is in the file in full.
    11: The joint guidelines on freedom of peaceful assembly of two European bodies were annexed to the application.
    11: Both sides relied, in general terms, on conventions of the International Labour Organization.
    p1: The file has a bulletin of the statistical office on land prices, whose figures stop three years before the events.
    p1: A comparative note on land registers, prepared for another case, was placed in the file with the consent of the parties.
    14: The parties mentioned a framework directive of the European Union on equal treatment, which the national statute had taken over word for word.
""")

LATER = lines("""
    While the case was pending the Registry asked for one missing page of a judgment, which was sent within {days} days.
    The parties did not reach a friendly settlement; a proposal of the Registry was declined by [the Government|{short}] without reasons.
    A change of address in [the spring|the autumn] after the application was notified in time, and nothing was lost in the post.
    The Government asked for, and were given, an extension of {days} days for their observations.
    The Section later joined no other application to this one, though {few} of a similar kind are pending.
    {short} replied to a request for information within {days} days and added that nothing had changed meanwhile.
""")

TITLES = {
    "facts": ["The circumstances of the case", "What happened", "The facts", "Background and events"],
    "proceedings": [
        "Proceedings in the national courts",
        "The domestic proceedings",
        "What the national courts decided",
    ],
    "law": ["Relevant domestic law and practice", "Domestic law", "The legal framework", "National provisions"],
    "applicant": ["Submissions in support", "Arguments for the complaint", "The case against the State"],
    "government": ["Submissions of the Government", "The Government's case", "What the Government reply"],
    "procedure": ["Procedure before the Court", "Procedure", "The proceedings in Strasbourg"],
    "others": ["Other material", "Third parties and other texts", "Further documents in the file"],
    "claims": ["Just satisfaction", "Claims", "Article 41"],
}
