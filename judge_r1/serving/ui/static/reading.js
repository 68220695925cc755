// An episode to read: turns with their thoughts, searches and passages, and the case with what was shown of it.

// A turn's text as [kind, text, closed]; tags inside an open block are text, as they are to the judge's parser.
function blocks(text) {
  const found = [], opening = /<(think|search|answer)>/g;
  let at = 0;
  const plain = (part) => { if (part.trim()) found.push(["text", part.trim(), true]); };
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    plain(text.slice(at, match.index));
    const close = text.indexOf(`</${match[1]}>`, opening.lastIndex);
    found.push([match[1], text.slice(opening.lastIndex, close < 0 ? undefined : close).trim(), close >= 0]);
    at = opening.lastIndex = close < 0 ? text.length : close + match[1].length + 3;
  }
  plain(text.slice(at));
  return found;
}

// A search past the budget is answered with a notice alone and has no number.
const searched = (turn) => turn.query !== null && turn.notice === null;

// The server counts characters, a browser UTF-16 units: where the characters at `places` stand in `text`.
function unitsAt(text, places) {
  const wanted = [...new Set(places)].sort((one, other) => one - other), found = new Map();
  let characters = 0, units = 0;
  for (const place of wanted) {
    while (characters < place && units < text.length) { units += text.codePointAt(units) > 0xffff ? 2 : 1; characters++; }
    found.set(place, characters === place ? units : -1);
  }
  return found;
}

// Marks {start, end, kind, tag} of all passages that stand in the case as they say; the tag is the search's number.
function shownSpans(turns, context) {
  const passages = turns.flatMap((turn) => turn.passages), at = unitsAt(context, passages.flatMap(({ start, end }) => [start, end]));
  let search = 0;
  return turns.flatMap((turn) => {
    if (searched(turn)) search++;
    return turn.passages.map((passage) => ({ passage, start: at.get(passage.start), end: at.get(passage.end), kind: "shown", tag: String(search) }))
      .filter(({ start, end, passage }) => start >= 0 && end > start && context.slice(start, end) === passage.text);
  });
}

function turnNode(turn, number, search, spans, jump) {
  const passages = turn.passages.map((passage) => {
    const span = spans.find((one) => one.passage === passage);
    return make(span ? "button" : "div", { class: "passage", type: span ? "button" : null, onclick: span ? () => jump(span.start) : null },
      make("span", { class: "text" }, passage.text),
      make("span", { class: "kind" }, span ? `score ${passage.score.toPrecision(3)} · show it in the case` : "not in the text of this case"));
  });
  return make("section", { class: "turn", "aria-label": `Turn ${number}` },
    blocks(turn.text).map(([kind, text, closed]) => make("div", { class: `block ${kind}` },
      make("span", { class: "kind" }, NAMES[kind] + (kind === "search" && searched(turn) ? ` ${search}` : "") + (closed ? "" : " (never closed)")), make("p", { class: "text" }, text))),
    passages.length ? [make("span", { class: "kind" }, "shown from the case"), passages] : searched(turn) ? make("p", { class: "soft" }, "Nothing was found.") : null,
    turn.notice ? make("p", { class: "notice" }, `Notice: ${turn.notice}`) : null);
}
const NAMES = { think: "thinks", search: "search", answer: "answers", text: "writes" };

// The turns of a game, and while it is played what the judge is doing now.
function episodeView(game, spans, jump) {
  let search = 0;
  const turns = game.turns.map((turn, at) => turnNode(turn, at + 1, searched(turn) ? ++search : search, spans, jump));
  if (game.swapped) turns.unshift(make("p", { class: "notice" }, "The judge saw your B first: its A is your B."));
  if (!game.verdict) turns.push(make("p", { class: "now" }, make("span", { class: "pulse", "aria-hidden": "true" }), game.now));
  else if (!game.turns.length) turns.push(make("p", { class: "soft" }, "This judge wrote no text."));
  return [make("div", { class: "tools" }, make("h3", {}, "What the judge did")), turns];
}

// The case with its marks; `jump(start)` shows the mark that stands there.
function caseView(context, spans) {
  const box = make("div", { class: "case text", id: "case", tabindex: 0, role: "region", "aria-label": "The case with the evidence that was shown" }, pieces(context, spans));
  const walk = marksOf(box);
  const jump = (start) => {
    walk.jump(start);
    const seen = box.getBoundingClientRect();
    if (seen.bottom < 80 || seen.top > innerHeight - 80) box.scrollIntoView({ block: "nearest" });
  };
  const nodes = [
    make("div", { class: "tools" }, make("h3", {}, "The case"), spans.length ? [
      make("button", { type: "button", "aria-label": "Previous evidence", onclick: () => walk.step(-1) }, "↑"),
      make("button", { type: "button", "aria-label": "Next evidence", onclick: () => walk.step(1) }, "↓")] : null),
    box,
    make("p", { class: "legend small" }, spans.length ? [make("span", {}, make("mark", { class: "shown" }, "marked"), " was shown to the judge, by number of its search")] : "No part of it has been shown to the judge so far."),
  ];
  return { nodes, jump, last: () => { const start = spans.at(-1)?.start; if (start !== undefined) walk.jump(start); } };
}
