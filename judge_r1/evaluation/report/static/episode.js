// Shared by the report and the page of the server: draws an episode turn by turn, and the case that it searched.
// A turn is {parts: [[kind, text, closed]], searched, passages, dropped, notice, call}; `searched` says that it has a search
// that was run, and `call` is {name, status, output} of a tool. A passage is {at, score, text}: `at` are its offsets in the case, or null if the case does not hold it.
const KINDS = { think: "thinks", search: "search", tool: "calls a tool", answer: "answers", text: "writes" };

// Marks {start, end, kind, tag} of the passages in the case; the tag is the number of the search.
function shownSpans(turns) {
  let search = 0;
  return turns.flatMap((turn) => {
    if (turn.searched) search++;
    return turn.passages.filter(({ at }) => at).map(({ at }) => ({ start: at[0], end: at[1], kind: "shown", tag: search ? String(search) : "" }));
  });
}

// `wanted` are marks of what the judge should have seen; `jump(start)` shows an offset of the case.
function turnsView(turns, context, jump, wanted = []) {
  let search = 0;
  return turns.map((turn, number) => {
    if (turn.searched) search++;
    const passages = turn.passages.map(({ at, score, text }) => {
      const hit = at && wanted.some((span) => span.start < at[1] && span.end > at[0]);
      return make(at ? "button" : "div", { class: hit ? "passage hit" : "passage", type: at ? "button" : null, onclick: at ? () => jump(at[0]) : null },
        make("span", { class: "text" }, at ? pieces(context.slice(...at), wanted.map((span) => ({ ...span, tag: "" })), at[0]) : text),
        make("span", { class: "kind" }, `${at ? `characters ${at[0]}–${at[1]}` : "not in the text of this case"}, score ${score.toPrecision(3)}`));
    });
    return make("section", { class: "turn", "aria-label": `Turn ${number + 1}` },
      make("span", { class: "kind" }, `Turn ${number + 1}`),
      turn.parts.map(([kind, text, closed]) => make("div", { class: `block ${kind}` },
        make("span", { class: "kind" }, KINDS[kind] + (kind === "search" && turn.searched ? ` ${search}` : "") + (closed ? "" : " (never closed)")), make("p", { class: "text" }, text))),
      passages.length ? [make("span", { class: "kind" }, "shown from the case"), passages] : turn.searched ? make("p", { class: "soft" }, "Nothing was found.") : null,
      turn.call?.output ? [make("span", { class: "kind" }, `result of ${turn.call.name}${turn.call.status === "ok" ? "" : ` (${turn.call.status})`}`), make("div", { class: "block result" }, make("p", { class: "text" }, turn.call.output))] : null,
      turn.dropped ? make("p", { class: "soft" }, `${turn.dropped} more did not fit into the observation.`) : null,
      turn.notice ? make("p", { class: "notice" }, `Notice: ${turn.notice}`) : null);
  });
}

// The case with its marks under a `heading` (h3 or h4); `unseen`, if given, is said where no passage is marked. `step(by)` moves
// between the marks, `jump(start)` to one, `first()` and `last()` to the first and the last passage.
function caseView(context, spans, heading, unseen = "") {
  const box = make("div", { class: "case text", id: "case", tabindex: 0, role: "region", "aria-label": "The case" }, pieces(context, spans));
  const { marks, step, jump: goto } = marksOf(box), shown = spans.filter(({ kind }) => kind === "shown");
  const jump = (start) => {
    goto(start);
    const bounds = box.getBoundingClientRect();
    if (bounds.bottom < 80 || bounds.top > innerHeight - 80) box.scrollIntoView({ block: "nearest" });
  };
  const key = (kind, text) => make("li", {}, make("mark", { class: kind }, kind), ` ${text}`);
  const legend = [
    shown.length ? key("shown", "to the judge, by number of the search") : unseen && make("li", {}, unseen),
    spans.length > shown.length ? key("wanted", "contradicted by the flaw") : null,
  ].filter(Boolean);
  const nodes = [
    make("div", { class: "tools" }, make(heading, {}, "The case"), spans.length ? [
      make("button", { type: "button", title: "Previous mark (p)", "aria-label": "Previous mark", onclick: () => step(-1) }, "↑"),
      make("button", { type: "button", title: "Next mark (n)", "aria-label": "Next mark", onclick: () => step(1) }, "↓")] : []),
    box, make("ul", { class: "legend small" }, legend),
  ];
  return {
    nodes, step, jump,
    first: () => { const mark = marks()[0]; if (mark) box.scrollTop = mark.offsetTop - box.clientHeight / 3; },
    last: () => { if (shown.length) jump(shown.at(-1).start); },
  };
}
