// A verdict as a card, the comparison of two verdicts, and both reasonings side by side. A and B are always those of
// the form, also for a game in swapped order.
const other = { A: "B", B: "A", tie: "tie" };
const better = (game) => (game.verdict.winner && game.swapped ? other[game.verdict.winner] : game.verdict.winner);
const said = (winner) => (winner === null ? "no valid answer" : winner === "tie" ? "a tie" : `${winner} is better`);
// A verdict that names no winner, such as scores of one candidate or a checklist, in words; null for other verdicts.
const otherVerdict = ({ verdict, winner, valid }) => {
  if (winner !== null || valid === false || !verdict || verdict.kind === "invalid") return null;
  if (verdict.kind === "ranking") return `Ranking, best first: ${verdict.order.map((index) => index + 1).join(", ")}`;
  return Array.isArray(verdict.scores) ? `Scores ${verdict.scores.join(", ")}` : `Checklist ${Object.entries(verdict.scores).map(([name, score]) => `${name}: ${score}`).join(", ")}`;
};
const capital = (text) => text && text[0].toUpperCase() + text.slice(1);
// Never rounds to 100 %.
const percent = (part) => (part > 0.99 && part < 1 ? "over 99 %" : `${Math.round(100 * part)} %`);
const orderOf = (game) => (game.swapped ? "B shown first" : "A shown first");

function confidenceView(confidence) {
  if (confidence === null) return make("p", { class: "soft" }, "No confidence.");
  const fill = make("span", { class: "fill" });
  fill.style.width = `${100 * Math.min(Math.max(confidence, 0), 1)}%`;
  return make("div", { class: "sure", title: "The probability of the verdict at the deciding token" },
    make("span", { class: "gauge", "aria-hidden": "true" }, fill), make("span", {}, `${percent(confidence)} confident`));
}

function violatedView(game, principles) {
  const named = game.verdict.violated_principles, worse = other[better(game)];
  if (!named.length) return game.verdict.winner ? make("p", { class: "soft" }, "No violated principle named.") : null;
  return [make("h4", {}, worse && worse !== "tie" ? `${worse} violates` : "Violated"),
    make("dl", { class: "violated" }, named.map(({ number, name }) => {
      const known = principles.find((one) => one.number === number);
      return make("div", {}, make("dt", {}, make("span", { class: "chip" }, `P${number}`), ` ${known?.name ?? name}`), make("dd", {}, known?.definition ?? ""));
    }))];
}

// `chosen`: its episode is the one that is shown; `choose` is null where there is only one.
function cardView(game, principles, chosen, choose) {
  const order = make("span", { class: "order" }, orderOf(game));
  const see = choose ? make("button", { type: "button", class: "see", "aria-pressed": String(chosen), onclick: choose }, chosen ? "Its episode is below" : "Show its episode") : null;
  const card = (...inside) => make("article", { class: chosen && choose ? "card chosen" : "card", "aria-label": orderOf(game) }, make("div", { class: "line" }, order, see), inside);
  if (!game.verdict) return card(make("p", { class: "said" }, make("span", { class: "pulse", "aria-hidden": "true" }), game.now), make("p", { class: "soft elapsed" }));
  const { verdict } = game, winner = better(game), words = otherVerdict(verdict);
  return card(
    make("p", { class: winner || words ? "said" : "said invalid" }, words ?? capital(said(winner))),
    winner || words ? confidenceView(verdict.confidence) : make("p", {}, `The episode ended by: ${verdict.ended.replaceAll("_", " ")}.`),
    violatedView(game, principles),
    verdict.explanation ? [make("h4", {}, "Because"), make("p", { class: "text" }, verdict.explanation)] : null,
    make("p", { class: "soft facts-line" }, `${plural(verdict.searches, "search")} · ${verdict.seconds.toFixed(verdict.seconds < 10 ? 1 : 0)} s · ${verdict.judge}`));
}

// Whether the verdicts of both orders agree; null while one of them still runs.
function agreement(games) {
  if (games.length < 2 || games.some((game) => !game.verdict)) return null;
  const [one, two] = games.map(better);
  if (one === null || two === null) return { agree: false, text: "One of the orders has no valid answer, so the two cannot be compared." };
  if (one !== two) {
    const place = games.every((game) => game.verdict.winner === games[0].verdict.winner) && games[0].verdict.winner !== "tie";
    const why = place ? `both times it preferred the one shown ${games[0].verdict.winner === "A" ? "first" : "second"}` : `${said(one)}, then ${said(two)}`;
    return { agree: false, text: `The two orders disagree: ${why}.` };
  }
  const sets = games.map((game) => codes(game.verdict.violated_principles.map(({ number }) => number)));
  const names = sets[0] === sets[1] ? "and name the same principles" : "but name different principles";
  return { agree: true, text: `Both orders agree ${one === "tie" ? "on a tie" : `that ${said(one)}`}, ${names}.` };
}

// Line by line beside each other; where both have the line, the words that differ are marked.
function sidesView(request) {
  const rows = aligned(request.reasoning_a, request.reasoning_b).map((row) => {
    const differs = row[0] !== row[1], marks = differs && row[0] && row[1] ? changes(row) : [[], []];
    return make("div", { class: differs ? "row changed" : "row" }, [0, 1].map((side) => make("div", { class: "text" },
      pieces(row[side], (differs && !row[1 - side] && row[side] ? [[0, row[side].length]] : marks[side]).map(([start, end]) => ({ start, end, kind: "diff" }))))));
  });
  return [
    make("div", { class: "tools" }, make("h3", {}, "The reasonings")),
    make("div", { class: "pair", tabindex: 0, role: "region", "aria-label": "Reasonings side by side" },
      make("div", { class: "heads" }, make("div", {}, "A"), make("div", {}, "B")), rows),
  ];
}
