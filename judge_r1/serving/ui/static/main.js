// The page: one pair, its judgments in one or both orders, and the actions on them.
const place = (id) => document.getElementById(id);
const data = JSON.parse(place("data").textContent);
const form = pairForm(place("pair"), data);

let record = null; // {request, games, made, from?}: what the result shows
let chosen = 0; // whose episode is shown
let running = null; // {game, stop}: the game that runs
let key = ""; // only in memory
let again = null; // the action to repeat once a key is entered

const say = (text) => { place("status").textContent = text; };

function complain(text) {
  place("problem").textContent = text;
  place("problem").hidden = !text;
}

function drawResult({ follow = false } = {}) {
  const { request, games } = record, game = games[chosen], spans = shownSpans(game.turns, request.context);
  place("result").hidden = false;
  place("result-title").textContent = games.length > 1 ? "Verdicts" : game.verdict ? "Verdict" : "Judging";
  place("cancel").hidden = !running;
  place("swap").hidden = Boolean(running) || games.length > 1;
  place("save").hidden = Boolean(running) || !games.some((one) => one.verdict);
  place("origin").hidden = !record.from;
  place("origin").textContent = record.from ? `Opened from ${record.from}${record.made ? `, judged ${record.made.slice(0, 16).replace("T", " ")} UTC` : ""}; the server did not judge it again.` : "";
  place("cards").replaceChildren(...games.map((one, at) => cardView(one, data.principles, at === chosen, games.length > 1 ? () => choose(at) : null)));
  const both = agreement(games);
  place("agreement").hidden = !both;
  place("agreement").className = both?.agree ? "agreement agree" : "agreement";
  place("agreement").textContent = both?.text ?? "";
  const truth = games[0].verdict && form.truth(request);
  place("truth").hidden = !truth;
  place("truth").textContent = truth ? `This example was written so that ${truth.better} is better: the other one violates ${codes(truth.violated)}.` : "";
  const known = request.context.trim() ? caseView(request.context, spans) : null;
  place("case-side").replaceChildren(...(known?.nodes ?? []).flat().filter(Boolean));
  place("read").classList.toggle("alone", !known);
  place("episode").replaceChildren(...episodeView(game, spans, (start) => known?.jump(start)).flat().filter(Boolean));
  if (follow) known?.last();
}

function drawSides() {
  place("sides").replaceChildren(...sidesView(record.request));
}

function choose(at) {
  chosen = at;
  drawResult();
  place("cards").querySelectorAll(".see")[at]?.focus();
  say(`The episode with ${orderOf(record.games[at])} is below.`);
}

function seen(game, name, event) {
  if (name === "search") game.now = `Searching the case for “${event.query}”`;
  if (name === "turn") { game.turns.push(event); game.now = event.query === null ? "Deciding" : "Reading and thinking"; }
  if (name === "search") say(game.now);
  drawResult({ follow: name === "turn" && event.passages.length > 0 });
}

function busy(now) {
  const button = place("judge");
  button.disabled = now;
  button.textContent = now ? "Judging…" : "Judge";
}

// Runs `game` of the record to its end. A game without a verdict is removed.
async function playGame(game) {
  const stop = new AbortController(), { request } = record, started = performance.now();
  const [first, second] = game.swapped ? ["reasoning_b", "reasoning_a"] : ["reasoning_a", "reasoning_b"];
  running = { game, stop };
  busy(true);
  complain("");
  drawResult();
  say("The judge is thinking.");
  const clock = setInterval(() => {
    const line = place("cards").querySelector(".elapsed");
    if (line) line.textContent = `${Math.round((performance.now() - started) / 1000)} s`;
  }, 500);
  try {
    const asked = { decision: request.decision, domain: request.domain, reasoning_a: request[first], reasoning_b: request[second] };
    if (request.context.trim()) asked.context = request.context;
    game.verdict = await play(asked, key, stop.signal, (name, event) => seen(game, name, event));
  } catch (error) {
    giveUp(game, error);
  } finally {
    clearInterval(clock);
    running = null;
    busy(false);
  }
  if (!record) return;
  drawResult();
  if (game.verdict) say([verdictSaid(game), agreement(record.games)?.text].filter(Boolean).join(" "));
}

function verdictSaid(game) {
  const sure = game.verdict.winner && game.verdict.confidence !== null ? `, ${percent(game.verdict.confidence)} confident` : "";
  return `${capital(said(better(game)))}${sure}.`;
}

function giveUp(game, error) {
  record.games = record.games.filter((one) => one !== game);
  chosen = 0;
  if (!record.games.length) {
    record = null;
    place("result").hidden = true;
  }
  if (error.name === "AbortError") say("Cancelled. The judge has stopped.");
  else if (error.status === 401) askKey(game);
  else {
    complain(error instanceof Problem ? error.message : `This page failed: ${error.message}.`);
    if (!(error instanceof Problem)) console.error(error);
    if (error.wait) holdBack(error.wait);
  }
}

// Disables the buttons until the wait that a busy server asks for has passed.
function holdBack(wait) {
  const button = place("judge"), until = performance.now() + 1000 * wait;
  const tick = () => {
    const left = Math.ceil((until - performance.now()) / 1000);
    if (running) return;
    button.disabled = place("swap").disabled = left > 0;
    button.textContent = left > 0 ? `Judge in ${seconds(left)}` : "Judge";
    if (left > 0) setTimeout(tick, 250);
  };
  setTimeout(tick);
}

function askKey(game) {
  again = game.swapped ? swap : judge;
  complain(key ? "This API key is not valid: check it, or ask the operator of this server for another one." : "This server asks for an API key.");
  key = "";
  place("gate").hidden = false;
  place("gate").elements.key.focus();
}

function judge() {
  if (running || place("judge").disabled) return;
  const request = form.read(), fault = form.wrong(request);
  if (fault) {
    complain(fault[1]);
    form.point(fault[0]);
    return;
  }
  record = { request, games: [{ swapped: false, turns: [], verdict: null, now: "Thinking" }], made: new Date().toISOString() };
  chosen = 0;
  drawSides();
  playGame(record.games[0]);
  place("result").scrollIntoView({ block: "start" });
}

function swap() {
  if (running || !record || record.games.length > 1) return;
  record.games.push({ swapped: !record.games[0].swapped, turns: [], verdict: null, now: "Thinking" });
  record.from = null;
  chosen = 1;
  playGame(record.games[1]);
}

async function openTrace(file) {
  if (running) {
    complain("The judge is running: cancel it first, or wait.");
    return;
  }
  try {
    record = await readTrace(file);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    complain(error.message);
    return;
  }
  chosen = 0;
  complain("");
  form.fill(record.request);
  drawSides();
  drawResult();
  say(`${file.name} is open. ${record.games.map(verdictSaid).join(" ")}`);
  place("result").scrollIntoView({ block: "start" });
  place("result").focus({ preventScroll: true });
}

place("who").textContent = data.judge ? `Judge: ${data.judge}` : "";
place("pair").addEventListener("submit", (event) => { event.preventDefault(); judge(); });
place("swap").addEventListener("click", swap);
place("cancel").addEventListener("click", () => { running?.stop.abort(); place("judge").focus(); });
place("save").addEventListener("click", () => say(`Saved as ${saveTrace(record)}.`));
place("open").addEventListener("click", () => place("file").click());
place("file").addEventListener("change", () => { const [file] = place("file").files; if (file) openTrace(file); place("file").value = ""; });
place("gate").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = place("gate").elements.key;
  key = field.value.trim();
  field.value = "";
  if (!key) return;
  place("gate").hidden = true;
  complain("");
  again?.();
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && running) running.stop.abort(); });

const carriesFile = (event) => event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => { if (carriesFile(event)) { event.preventDefault(); place("drop").hidden = false; } });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) place("drop").hidden = true; });
addEventListener("drop", (event) => {
  place("drop").hidden = true;
  if (!carriesFile(event)) return;
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file) openTrace(file);
});
