// Draws a verdict as a card, compares two verdicts, and shows both reasonings side by side. A and B are always those of
// the form, also for a run in swapped order.
const other = { A: "B", B: "A", tie: "tie" };
const winnerOf = (run) => (run.verdict.winner && run.swapped ? other[run.verdict.winner] : run.verdict.winner);
const winnerText = (winner) => (winner === null ? "no valid answer" : winner === "tie" ? "a tie" : `${winner} is better`);
// A verdict that names no winner, such as scores of one candidate or a checklist, in words; null for other verdicts.
const otherVerdict = ({ verdict, winner, valid }) => {
  if (winner !== null || valid === false || !verdict || verdict.kind === "invalid") return null;
  if (verdict.kind === "ranking") return `Ranking, best first: ${verdict.order.map((index) => index + 1).join(", ")}`;
  return Array.isArray(verdict.scores) ? `Scores ${verdict.scores.join(", ")}` : `Checklist ${Object.entries(verdict.scores).map(([name, score]) => `${name}: ${score}`).join(", ")}`;
};
const capital = (text) => text && text[0].toUpperCase() + text.slice(1);
// Never rounds to 100 %.
const percent = (share) => (share > 0.99 && share < 1 ? "over 99 %" : `${Math.round(100 * share)} %`);
const orderOf = (run) => (run.swapped ? "B shown first" : "A shown first");

function confidenceView(confidence) {
  if (confidence === null) return make("p", { class: "soft" }, "No confidence.");
  const fill = make("span", { class: "fill" });
  fill.style.width = `${100 * Math.min(Math.max(confidence, 0), 1)}%`;
  return make("div", { class: "confidence", title: "The probability of the verdict at the decision token" },
    make("span", { class: "gauge", "aria-hidden": "true" }, fill), make("span", {}, `${percent(confidence)} confident`));
}

function violatedView(run, principles) {
  const named = run.verdict.violated_principles, worse = other[winnerOf(run)];
  if (!named.length) return run.verdict.winner ? make("p", { class: "soft" }, "No violated principle named.") : null;
  return [make("h4", {}, worse && worse !== "tie" ? `${worse} violates` : "Violated"),
    make("dl", { class: "violated" }, named.map(({ number, name }) => {
      const principle = principles.find((one) => one.number === number);
      return make("div", {}, make("dt", {}, make("span", { class: "chip" }, `P${number}`), ` ${principle?.name ?? name}`), make("dd", {}, principle?.definition ?? ""));
    }))];
}

// `chosen`: whether the page shows this run's episode; `choose` shows it, and is null if there is only one run.
function cardView(run, principles, chosen, choose) {
  const order = make("span", { class: "order" }, orderOf(run));
  const button = choose ? make("button", { type: "button", class: "show", "aria-pressed": String(chosen), onclick: choose }, chosen ? "Its episode is below" : "Show its episode") : null;
  const card = (...content) => make("article", { class: chosen && choose ? "card chosen" : "card", "aria-label": orderOf(run) }, make("div", { class: "line" }, order, button), content);
  if (!run.verdict) return card(make("p", { class: "verdict" }, make("span", { class: "pulse", "aria-hidden": "true" }), run.now), make("p", { class: "soft elapsed" }, run.elapsed ?? ""));
  const { verdict } = run, winner = winnerOf(run), text = otherVerdict(verdict);
  return card(
    make("p", { class: winner || text ? "verdict" : "verdict invalid" }, text ?? capital(winnerText(winner))),
    winner || text ? confidenceView(verdict.confidence) : make("p", {}, `The episode ended by: ${verdict.ended.replaceAll("_", " ")}.`),
    violatedView(run, principles),
    verdict.explanation ? [make("h4", {}, "Because"), make("p", { class: "text" }, verdict.explanation)] : null,
    make("p", { class: "soft facts-line" }, `${plural(verdict.searches, "search")} · ${verdict.seconds.toFixed(verdict.seconds < 10 ? 1 : 0)} s · ${verdict.judge}`));
}

// Whether the verdicts of both orders agree; null until both exist.
function agreement(runs) {
  if (runs.length < 2 || runs.some((run) => !run.verdict)) return null;
  const [one, two] = runs.map(winnerOf);
  if (one === null || two === null) return { agree: false, text: "One of the orders has no valid answer, so the two cannot be compared." };
  if (one !== two) {
    const samePosition = runs.every((run) => run.verdict.winner === runs[0].verdict.winner) && runs[0].verdict.winner !== "tie";
    const difference = samePosition ? `both times the judge preferred the reasoning shown ${runs[0].verdict.winner === "A" ? "first" : "second"}` : `${winnerText(one)}, then ${winnerText(two)}`;
    return { agree: false, text: `The two orders disagree: ${difference}.` };
  }
  const sets = runs.map((run) => codes(run.verdict.violated_principles.map(({ number }) => number)));
  const names = sets[0] === sets[1] ? "and name the same principles" : "but name different principles";
  return { agree: true, text: `Both orders agree ${one === "tie" ? "on a tie" : `that ${winnerText(one)}`}, ${names}.` };
}

// Both reasonings line by line. Where both have a line, the words that differ are marked.
function sidesView(request) {
  const rows = aligned(request.reasoning_a, request.reasoning_b).map((row) => {
    const differs = row[0] !== row[1], marks = differs && row[0] && row[1] ? changes(row) : [[], []];
    return make("div", { class: differs ? "row changed" : "row" }, [0, 1].map((side) => make("div", { class: "text" },
      pieces(row[side], (differs && !row[1 - side] && row[side] ? [[0, row[side].length]] : marks[side]).map(([start, end]) => ({ start, end, kind: "diff" }))))));
  });
  return [
    make("div", { class: "tools" }, make("h3", {}, "The reasonings")),
    ...(request.reasoning_a === request.reasoning_b ? [make("p", { class: "notice" }, "Both reasonings are the same text: a judge that prefers one of them guesses.")] : []),
    make("div", { class: "pair", tabindex: 0, role: "region", "aria-label": "Reasonings side by side" },
      make("div", { class: "heads" }, make("div", {}, "A"), make("div", {}, "B")), rows),
  ];
}
