// Draws an episode: its turns with thoughts, searches and passages, and the case with the passages marked.

// A turn's text as [kind, text, closed]. Tags inside an open block are text, as in the judge's parser.
function blocks(text) {
  const found = [], opening = /<(think|search|answer)>/g;
  let position = 0;
  const plain = (part) => { if (part.trim()) found.push(["text", part.trim(), true]); };
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    plain(text.slice(position, match.index));
    const close = text.indexOf(`</${match[1]}>`, opening.lastIndex);
    found.push([match[1], text.slice(opening.lastIndex, close < 0 ? undefined : close).trim(), close >= 0]);
    position = opening.lastIndex = close < 0 ? text.length : close + match[1].length + 3;
  }
  plain(text.slice(position));
  return found;
}

// A search past the budget returns a notice alone and has no number.
const searched = (turn) => turn.query !== null && turn.notice === null;

// Maps character offsets, which the server counts, to the UTF-16 offsets of a browser; -1 beyond the end.
function utf16Offsets(text, offsets) {
  const sorted = [...new Set(offsets)].sort((a, b) => a - b), found = new Map();
  let characters = 0, units = 0;
  for (const offset of sorted) {
    while (characters < offset && units < text.length) { units += text.codePointAt(units) > 0xffff ? 2 : 1; characters++; }
    found.set(offset, characters === offset ? units : -1);
  }
  return found;
}

// Marks {start, end, kind, tag} of the passages whose text is in the case at their offsets; the tag is the search's number.
function passageSpans(turns, context) {
  const passages = turns.flatMap((turn) => turn.passages), offsets = utf16Offsets(context, passages.flatMap(({ start, end }) => [start, end]));
  let search = 0;
  return turns.flatMap((turn) => {
    if (searched(turn)) search++;
    return turn.passages.map((passage) => ({ passage, start: offsets.get(passage.start), end: offsets.get(passage.end), kind: "shown", tag: String(search) }))
      .filter(({ start, end, passage }) => start >= 0 && end > start && context.slice(start, end) === passage.text);
  });
}

function turnNode(turn, number, search, spans, jump) {
  const passages = turn.passages.map((passage) => {
    const span = spans.find((one) => one.passage === passage);
    return make(span ? "button" : "div", { class: "passage", type: span ? "button" : null, onclick: span ? () => jump(span.start) : null },
      make("span", { class: "text" }, passage.text),
      make("span", { class: "kind" }, span ? `score ${passage.score.toPrecision(3)} · show in the case` : "not in the text of this case"));
  });
  return make("section", { class: "turn", "aria-label": `Turn ${number}` },
    blocks(turn.text).map(([kind, text, closed]) => make("div", { class: `block ${kind}` },
      make("span", { class: "kind" }, NAMES[kind] + (kind === "search" && searched(turn) ? ` ${search}` : "") + (closed ? "" : " (never closed)")), make("p", { class: "text" }, text))),
    passages.length ? [make("span", { class: "kind" }, "shown from the case"), passages] : searched(turn) ? make("p", { class: "soft" }, "Nothing was found.") : null,
    turn.notice ? make("p", { class: "notice" }, `Notice: ${turn.notice}`) : null);
}
const NAMES = { think: "thinks", search: "search", answer: "answers", text: "writes" };

// The turns of a run, and until the verdict the current step.
function episodeView(run, spans, jump) {
  let search = 0;
  const turns = run.turns.map((turn, index) => turnNode(turn, index + 1, searched(turn) ? ++search : search, spans, jump));
  if (run.swapped) turns.unshift(make("p", { class: "notice" }, "The judge saw your B first: its A is your B."));
  if (!run.verdict) turns.push(make("p", { class: "now" }, make("span", { class: "pulse", "aria-hidden": "true" }), run.now));
  else if (!run.turns.length) turns.push(make("p", { class: "soft" }, "This judge wrote no text."));
  return [make("div", { class: "tools" }, make("h3", {}, "What the judge did")), turns];
}

// The case with its marks; `jump(start)` scrolls to the mark at an offset.
// `whole`: the judge has all of it in its prompt.
function caseView(context, spans, whole) {
  const box = make("div", { class: "case text", id: "case", tabindex: 0, role: "region", "aria-label": "The case with the evidence that was shown" }, pieces(context, spans));
  const navigation = marksOf(box);
  const jump = (start) => {
    navigation.jump(start);
    const bounds = box.getBoundingClientRect();
    if (bounds.bottom < 80 || bounds.top > innerHeight - 80) box.scrollIntoView({ block: "nearest" });
  };
  const nodes = [
    make("div", { class: "tools" }, make("h3", {}, "The case"), spans.length ? [
      make("button", { type: "button", "aria-label": "Previous evidence", onclick: () => navigation.step(-1) }, "↑"),
      make("button", { type: "button", "aria-label": "Next evidence", onclick: () => navigation.step(1) }, "↓")] : null),
    box,
    make("p", { class: "legend small" }, spans.length ? [make("span", {}, make("mark", { class: "shown" }, "marked"), " was shown to the judge, by number of its search")] : whole ? "The judge reads all of it in its prompt." : "No search has shown a part of it."),
  ];
  return { nodes, jump, last: () => { const start = spans.at(-1)?.start; if (start !== undefined) navigation.jump(start); } };
}
