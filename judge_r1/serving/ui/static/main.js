// The page: judges one pair in one or both orders, and saves and opens traces.
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const form = pairForm(byId("pair"), data);

let record = null; // {request, runs, made, from?}: the result on the page
let chosen = 0; // index of the run whose episode is shown
let active = null; // {run, controller} while the judge works
let key = ""; // kept in memory alone
let retry = null; // the action to repeat once a key is entered

const announce = (text) => { byId("status").textContent = text; };

function showProblem(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = !text;
}

function drawResult({ follow = false } = {}) {
  const { request, runs } = record, run = runs[chosen], turns = shownTurns(run.turns, request.context);
  byId("result").hidden = false;
  byId("result-title").textContent = runs.length > 1 ? "Verdicts" : run.verdict ? "Verdict" : "Judging";
  byId("cancel").hidden = !active;
  byId("swap").hidden = Boolean(active) || runs.length > 1;
  byId("save").hidden = Boolean(active) || !runs.some((one) => one.verdict);
  byId("origin").hidden = !record.from;
  byId("origin").textContent = record.from ? `Opened from ${record.from}${record.made ? `, judged ${record.made.slice(0, 16).replace("T", " ")} UTC` : ""}; not judged again.` : "";
  byId("cards").replaceChildren(...runs.map((one, index) => cardView(one, data.principles, index === chosen, runs.length > 1 ? () => choose(index) : null)));
  const comparison = agreement(runs);
  byId("agreement").hidden = !comparison;
  byId("agreement").className = comparison?.agree ? "agreement agree" : "agreement";
  byId("agreement").textContent = comparison?.text ?? "";
  const example = runs[0].verdict && form.matchingExample(request);
  byId("gold").hidden = !example;
  byId("gold").textContent = example ? `Gold: ${example.better} is better; the other reasoning violates ${codes(example.violated)}.` : "";
  const caseSide = request.context.trim() ? caseView(request.context, shownSpans(turns), "h3", data.whole_case && !record.from ? "The judge reads all of it in its prompt." : "No search has shown a part of it.") : null;
  byId("case-side").replaceChildren(...(caseSide?.nodes ?? []));
  byId("read").classList.toggle("alone", !caseSide);
  byId("episode").replaceChildren(make("div", { class: "tools" }, make("h3", {}, "What the judge did")), ...episodeView(run, turns, request.context, caseSide?.jump));
  if (follow) caseSide?.last();
}

// The turns of a run, and until the verdict the current step.
function episodeView(run, turns, context, jump) {
  const drawn = turnsView(turns, context, jump);
  if (run.swapped) drawn.unshift(make("p", { class: "notice" }, "The judge saw your B first: its A is your B."));
  if (!run.verdict) drawn.push(make("p", { class: "now" }, make("span", { class: "pulse", "aria-hidden": "true" }), run.now));
  else if (!turns.length) drawn.push(make("p", { class: "soft" }, "This judge wrote no text."));
  return drawn;
}

function drawSides() {
  byId("sides").replaceChildren(...sidesView(record.request));
}

function choose(index) {
  chosen = index;
  drawResult();
  byId("cards").querySelectorAll(".show")[index]?.focus();
  announce(`The episode with ${orderOf(record.runs[index])} is below.`);
}

function showEvent(run, name, event) {
  if (name === "search") run.now = `Searching the case for “${event.query}”`;
  if (name === "turn") { run.turns.push(event); run.now = event.query === null ? "Deciding" : "Reading and thinking"; }
  if (name === "search") announce(run.now);
  drawResult({ follow: name === "turn" && event.passages.length > 0 });
}

function setBusy(busy) {
  const button = byId("judge");
  button.disabled = busy;
  button.textContent = busy ? "Judging…" : "Judge";
}

// Judges one run of the record to its end. A run without a verdict is removed.
async function judgeRun(run) {
  const controller = new AbortController(), { request } = record, started = performance.now();
  const [first, second] = run.swapped ? ["reasoning_b", "reasoning_a"] : ["reasoning_a", "reasoning_b"];
  active = { run, controller };
  setBusy(true);
  showProblem("");
  drawResult();
  announce("The judge is thinking.");
  const expected = expectedTime(key);
  const clock = setInterval(async () => {
    run.elapsed = elapsedText(Math.round((performance.now() - started) / 1000), await expected);
    const line = byId("cards").querySelector(".elapsed");
    if (line) line.textContent = run.elapsed;
  }, 500);
  try {
    const body = { decision: request.decision, domain: request.domain, reasoning_a: request[first], reasoning_b: request[second] };
    if (request.context.trim()) body.context = request.context;
    run.verdict = await streamJudgment(body, key, controller.signal, (name, event) => showEvent(run, name, event));
  } catch (error) {
    handleFailure(run, error);
  } finally {
    clearInterval(clock);
    active = null;
    setBusy(false);
  }
  if (!record) return;
  drawResult();
  if (run.verdict) announce([verdictText(run), agreement(record.runs)?.text].filter(Boolean).join(" "));
}

// How long the judge has worked, and about how long it works; `expected` as from expectedTime.
function elapsedText(count, expected) {
  if (!expected) return `${count} s`;
  if (expected.seconds === null) return `${count} s; the first judgment of this server, which takes at most ${expected.timeout} s`;
  const usual = Math.max(1, Math.round(expected.seconds));
  return count <= usual ? `${count} s of about ${usual} s` : `${count} s; it usually takes about ${usual} s`;
}

function verdictText(run) {
  const confidence = run.verdict.winner && run.verdict.confidence !== null ? `, ${percent(run.verdict.confidence)} confident` : "";
  return `${capital(winnerText(winnerOf(run)))}${confidence}.`;
}

function handleFailure(run, error) {
  record.runs = record.runs.filter((one) => one !== run);
  chosen = 0;
  if (!record.runs.length) {
    record = null;
    byId("result").hidden = true;
  }
  if (error.name === "AbortError") announce("Cancelled. The judge has stopped.");
  else if (error.status === 401) askForKey(run.swapped ? swap : judge);
  else {
    showProblem(error instanceof Problem ? error.message : `This page failed: ${error.message}.`);
    if (!(error instanceof Problem)) console.error(error);
    if (error.wait) disableFor(error.wait);
  }
}

// Disables the buttons for `wait` seconds, the Retry-After of a busy server.
function disableFor(wait) {
  const button = byId("judge"), until = performance.now() + 1000 * wait;
  const tick = () => {
    const left = Math.ceil((until - performance.now()) / 1000);
    if (active) return;
    button.disabled = byId("swap").disabled = left > 0;
    button.textContent = left > 0 ? `Judge in ${seconds(left)}` : "Judge";
    if (left > 0) setTimeout(tick, 250);
  };
  setTimeout(tick);
}

function askForKey(again) {
  retry = again;
  showProblem(key ? "This API key is not valid: check it, or ask the operator of this server for another one." : "This server asks for an API key.");
  key = "";
  byId("key-form").hidden = false;
  byId("key-form").elements.key.focus();
}

function judge() {
  if (active || byId("judge").disabled) return;
  const request = form.read(), mistake = form.validate(request);
  if (mistake) {
    showProblem(mistake[1]);
    form.focusInvalid(mistake[0]);
    return;
  }
  record = { request, runs: [{ swapped: false, turns: [], verdict: null, now: "Thinking" }], made: new Date().toISOString() };
  chosen = 0;
  drawSides();
  judgeRun(record.runs[0]);
  byId("result").scrollIntoView({ block: "start" });
}

function swap() {
  if (active || !record || record.runs.length > 1) return;
  record.runs.push({ swapped: !record.runs[0].swapped, turns: [], verdict: null, now: "Thinking" });
  record.from = null;
  chosen = 1;
  judgeRun(record.runs[1]);
}

async function openTrace(file) {
  if (active) {
    showProblem("The judge is still working: cancel it first, or wait.");
    return;
  }
  try {
    record = await readTrace(file);
    if (!record) return openAgentTrace(file);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    showProblem(error.message);
    return;
  }
  chosen = 0;
  showProblem("");
  form.fill(record.request);
  drawSides();
  drawResult();
  announce(`${file.name} is open. ${record.runs.map(verdictText).join(" ")}`);
  byId("result").scrollIntoView({ block: "start" });
  byId("result").focus({ preventScroll: true });
}

// Fills the form with the trace of an agent: a question about it, and the answers yes and no.
async function openAgentTrace(file) {
  announce(`Reading ${file.name}.`);
  try {
    const found = await readAgentTrace(file, key);
    showProblem("");
    form.fill({ context: found.context, decision: `Did the agent do what it claims?\n\n${found.about}`, domain: "general", reasoning_a: "Yes.", reasoning_b: "No." });
    announce(`${file.name} is the trace of an agent with ${plural(found.events, "event")}. Write a question, and judge.`);
    byId("pair").elements.decision.focus();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) { askForKey(() => openAgentTrace(file)); return; }
    showProblem(error.message);
  }
}

byId("judge-name").textContent = data.judge ? `Judge: ${data.judge}` : "";
byId("note").textContent = data.note ?? "";
byId("note").hidden = !data.note;
byId("pair").addEventListener("submit", (event) => { event.preventDefault(); judge(); });
byId("swap").addEventListener("click", swap);
byId("cancel").addEventListener("click", () => { active?.controller.abort(); byId("judge").focus(); });
byId("save").addEventListener("click", () => announce(`Saved as ${saveTrace(record)}.`));
byId("open").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", () => { const [file] = byId("file").files; if (file) openTrace(file); byId("file").value = ""; });
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const input = byId("key-form").elements.key;
  key = input.value.trim();
  input.value = "";
  if (!key) return;
  byId("key-form").hidden = true;
  showProblem("");
  retry?.();
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && active) active.controller.abort(); });

const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => { if (hasFiles(event)) { event.preventDefault(); byId("drop").hidden = false; } });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) byId("drop").hidden = true; });
addEventListener("drop", (event) => {
  byId("drop").hidden = true;
  if (!hasFiles(event)) return;
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file) openTrace(file);
});
