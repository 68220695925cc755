// Draws one item: its verdicts, candidates side by side, the case, and an episode.
const SIGNS = { right: "✓", wrong: "✗", invalid: "∅", part: "◐" };

function labels(item, index) {
  const flawed = item.flaws.some((flaw) => flaw.candidate === index);
  if (item.flaws.length) return flawed ? `${letter(index)}: the flawed reasoning` : `${letter(index)}: the reference reasoning`;
  return item.best === index ? `${letter(index)}: better (gold)` : letter(index);
}

function flawSpans(item, index) {
  return item.flaws.filter((flaw) => flaw.candidate === index).map(({ span, principle, operator }) => ({
    start: span[0], end: span[1], kind: "flaw", tag: `P${principle} ${operator}`,
  }));
}

function candidatesView(item, texts, state, redraw) {
  const all = item.candidates.map((number) => texts[number]);
  if (all.length === 1)
    return [make("h4", {}, "Candidate"), make("div", { class: "single text", tabindex: 0, role: "region", "aria-label": "Candidate" }, all[0])];
  const chosen = state.compared?.every((index) => index < all.length) ? state.compared : [0, 1];
  const pick = (side) => make("select", {
    "aria-label": side ? "Right candidate" : "Left candidate",
    onchange: (event) => { const next = [...chosen]; next[side] = Number(event.target.value); redraw({ compared: next }); },
  }, all.map((_, index) => make("option", { value: index, selected: index === chosen[side] }, letter(index))));
  const only = make("label", { class: "check" }, make("input", { type: "checkbox", checked: state.only, id: "only", onchange: (event) => redraw({ only: event.target.checked }) }), "Differences only");
  const spans = chosen.map((index) => flawSpans(item, index));
  const rows = [], offsets = [0, 0];
  let same = 0;
  const fold = () => { if (same) rows.push(make("div", { class: "fold" }, `${plural(same, "line")} identical`)); same = 0; };
  for (const row of aligned(all[chosen[0]], all[chosen[1]])) {
    const differs = row[0] !== row[1];
    if (state.only && !differs) same++;
    else {
      fold();
      const marks = changes(row);
      rows.push(make("div", { class: differs ? "row changed" : "row" }, [0, 1].map((side) => make("div", { class: "text" },
        pieces(row[side], [...spans[side], ...(differs && row[0] && row[1] ? marks[side] : differs && row[side] ? [[0, row[side].length]] : [])
          .map((mark) => (Array.isArray(mark) ? { start: mark[0] + offsets[side], end: mark[1] + offsets[side], kind: "diff" } : mark))], offsets[side])))));
    }
    offsets[0] += row[0].length;
    offsets[1] += row[1].length;
  }
  fold();
  return [
    make("div", { class: "tools" }, make("h4", {}, "Candidates"), all.length > 2 ? [pick(0), pick(1)] : [], only),
    ...(all[chosen[0]] === all[chosen[1]] ? [make("p", { class: "soft" }, "Both are the same text: a judge that prefers one of them guesses.")] : []),
    make("div", { class: "pair", tabindex: 0, role: "region", "aria-label": "Candidates side by side" },
      make("div", { class: "heads" }, chosen.map((index) => make("div", {}, labels(item, index)))), rows),
  ];
}

function verdictsView(item, data, state, redraw) {
  const gold = make("div", { class: "judge gold" }, make("span", { "aria-hidden": "true" }, "●"), make("span", { class: "who" }, "Gold"),
    make("span", {}, item.gold), make("span", { class: "more" }, item.violated.length ? `${codes(item.violated)} violated` : ""));
  const rows = item.results.map((row, index) => {
    const votes = row.votes, searches = votes.reduce((sum, vote) => sum + vote.searches, 0);
    const chips = row.named === null ? [] : [
      ...row.named.map((number) => make("span", { class: item.violated.includes(number) ? "chip found" : "chip" }, item.violated.includes(number) ? `P${number} ✓` : `P${number} not violated`)),
      ...item.violated.filter((number) => !row.named.includes(number)).map((number) => make("span", { class: "chip missed" }, `P${number} missed`)),
    ];
    const more = [plural(searches, "search"), votes.length > 1 ? plural(votes.length, "vote") : "", row.state === "part" ? `score ${row.score.toFixed(2)}` : "",
      row.hit === null ? "" : row.hit ? "evidence shown" : "evidence not shown"].filter(Boolean).join(" · ");
    return make("button", {
      type: "button", class: "judge", role: "radio", "aria-checked": String(index === state.row), tabindex: index === state.row ? 0 : -1,
      onclick: () => redraw({ row: index, vote: 0 }),
    }, make("span", { class: row.state, title: row.state }, SIGNS[row.state]), make("span", { class: "who" }, data.judges[index]),
    make("span", { class: row.state }, row.verdict, row.state === "invalid" ? "" : ` (${row.state === "part" ? "in part right" : row.state})`),
    make("span", { class: "more" }, more, chips.length ? make("span", { class: "chips" }, chips) : null));
  });
  return [make("h4", {}, "Verdicts"), gold, make("div", { class: "verdicts", role: "radiogroup", "aria-label": "Judge whose episode is shown" }, rows)];
}

function voteName(vote, members) {
  const judge = members[vote.member] ?? `judge ${vote.member + 1}`;
  return [members.length > 1 ? judge : "", `${vote.order.join(", ")} shown`, vote.sample ? `sample ${vote.sample + 1}` : ""].filter(Boolean).join(" · ");
}

function factsView(item, vote) {
  const facts = [["verdict", vote.verdict], ["ended by", vote.ended], ["searches", vote.searches]];
  if (vote.named) facts.push(["names", codes(vote.named) || "no principle"]);
  if (vote.confidence !== null) facts.push(["confidence", vote.confidence.toFixed(3)]);
  for (const [name, value] of Object.entries(vote.reward ?? {})) if (name !== "searches") facts.push([name, String(Math.round(value * 1000) / 1000)]);
  return make("dl", { class: "facts", "aria-label": "Verdict and reward" }, facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))));
}

// Draws the item into `pane` and returns the actions of the keyboard. `redraw(change)` draws it in another state.
function showItem(pane, item, data, state, principles, redraw, tools) {
  const row = item.results[state.row], vote = row.votes[Math.min(state.vote, row.votes.length - 1)];
  const wanted = item.flaws.flatMap((flaw) => flaw.wanted.map(([start, end]) => ({ start, end, kind: "wanted", tag: `P${flaw.principle}` })));
  const context = item.case === null ? null : data.texts[item.case];
  const caseSide = context === null ? null : caseView(context, [...shownSpans(vote.turns), ...wanted], "h4");
  const instruction = data.texts[item.instruction];
  const votes = row.votes.length > 1 ? make("div", { class: "votes", role: "radiogroup", "aria-label": "Vote" }, row.votes.map((one, index) => make("button", {
    type: "button", role: "radio", "aria-checked": String(one === vote), onclick: () => redraw({ vote: index }),
  }, `${voteName(one, data.members[state.row])}: ${one.verdict}`))) : null;
  const episode = make("div", {},
    make("div", { class: "tools" }, make("h4", {}, `Episode of ${data.judges[state.row]}`)), votes, factsView(item, vote),
    vote.explanation ? make("p", { class: "text" }, vote.explanation) : null,
    vote.turns.length ? turnsView(vote.turns, context, caseSide?.jump, wanted) : make("p", { class: "soft" }, "This judge wrote no text."));
  pane.replaceChildren(
    make("div", { class: "bar-top" }, make("h3", {}, item.id), tools),
    make("div", { class: "chips" }, make("span", { class: "chip" }, item.group),
      item.cluster !== item.id ? make("span", { class: "chip" }, `${item.case !== null ? "case" : "cluster"} ${item.cluster}`) : null,
      item.violated.map((number) => make("span", { class: "chip" }, `P${number} ${principles[number]}`)),
      item.differ ? make("span", { class: "chip" }, "judges disagree") : null),
    instruction ? make("div", { class: "ask text", tabindex: 0, role: "region", "aria-label": "Request" }, make("span", { class: "kind" }, item.case !== null ? "decision" : "request"), instruction) : "",
    ...verdictsView(item, data, state, redraw), ...candidatesView(item, data.texts, state, redraw),
    make("div", { class: caseSide ? "read" : "read alone" }, caseSide ? make("div", { class: "case-side" }, caseSide.nodes) : [], episode));
  caseSide?.first();
  return { step: caseSide?.step ?? (() => {}), votes: row.votes.length };
}
