// Trace files: a request and its runs (one run per order), each with its turns. The file's key for the runs is `games`.
// An opened file is untrusted: its structure is checked first.
const FORMAT = "judge_r1 trace", VERSION = 1, LARGEST_FILE = 64 * 2 ** 20; // bytes
const FIELDS = ["context", "decision", "domain", "reasoning_a", "reasoning_b"];

const isText = (value) => typeof value === "string";
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const orNull = (check) => (value) => value === null || check(value);
const oneOf = (...values) => (value) => values.includes(value);
const listOf = (check) => (value) => Array.isArray(value) && value.every(check);
const shaped = (fields) => (value) => typeof value === "object" && value !== null && !Array.isArray(value) &&
  Object.entries(fields).every(([name, check]) => check(value[name]));

const isPassage = shaped({ start: isNumber, end: isNumber, text: isText, score: isNumber });
const isTurn = shaped({ text: isText, query: orNull(isText), passages: listOf(isPassage), notice: orNull(isText) });
const isVerdict = shaped({
  id: isText, judge: isText, winner: orNull(oneOf("A", "B", "tie")), violated_principles: listOf(shaped({ number: isNumber, name: isText })),
  explanation: orNull(isText), confidence: orNull((value) => isNumber(value) && value >= 0 && value <= 1), searches: isNumber, ended: isText, seconds: isNumber,
});
const isRun = shaped({ swapped: oneOf(true, false), turns: listOf(isTurn), verdict: isVerdict });
const isRequest = shaped(Object.fromEntries(FIELDS.map((name) => [name, isText])));

function traceText(record) {
  const { request, runs, made } = record;
  return JSON.stringify({ format: FORMAT, version: VERSION, made, request, games: runs.map(({ swapped, turns, verdict }) => ({ swapped, turns, verdict })) }, null, 1);
}

// Returns {request, runs, made, from}; null for a file that is no trace file of this page. Throws Problem.
async function readTrace(file) {
  const invalid = (reason) => new Problem(`${file.name} cannot be opened: ${reason}.`);
  if (file.size > LARGEST_FILE) throw invalid("it is larger than 64 MiB");
  let data;
  try {
    data = JSON.parse(await file.text());
  } catch {
    return null;
  }
  if (data?.format !== FORMAT) return null;
  if (data.version !== VERSION) throw invalid(`its version is ${String(data.version).slice(0, 20)}, but this page reads version ${VERSION}`);
  if (!isRequest(data.request)) throw invalid("its request is incomplete");
  if (!listOf(isRun)(data.games) || data.games.length < 1 || data.games.length > 2) throw invalid("its runs are incomplete");
  if (data.games.length === 2 && data.games[0].swapped === data.games[1].swapped) throw invalid("both of its runs have the same order");
  return { request: data.request, runs: data.games, made: isText(data.made) ? data.made : "", from: file.name };
}

// Lets the server read the trace of an agent. Returns {context, events, about}. Throws Problem.
async function readAgentTrace(file, key) {
  let response;
  try {
    response = await fetch("v1/traces", { method: "POST", headers: { "Content-Type": "application/octet-stream", ...(key && { Authorization: `Bearer ${key}` }) }, body: file });
  } catch {
    throw new Problem("The server cannot be reached: is it still running?");
  }
  if (!response.ok) {
    const { message, ...more } = await problemOf(response);
    throw new Problem(`${file.name} cannot be opened: ${message[0].toLowerCase()}${message.slice(1)}`, more);
  }
  return response.json();
}

function saveTrace(record) {
  const url = URL.createObjectURL(new Blob([traceText(record)], { type: "application/json" }));
  const name = `trace-${record.runs[0].verdict.id.replace(/[^\w-]/g, "").slice(0, 8) || "judge"}.json`;
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return name;
}
