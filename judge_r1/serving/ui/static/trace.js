// Trace files: the request and every game with its turns. An opened file is untrusted: its shape is checked first.
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
const isGame = shaped({ swapped: oneOf(true, false), turns: listOf(isTurn), verdict: isVerdict });
const isRequest = shaped(Object.fromEntries(FIELDS.map((name) => [name, isText])));

function traceText(record) {
  const { request, games, made } = record;
  return JSON.stringify({ format: FORMAT, version: VERSION, made, request, games: games.map(({ swapped, turns, verdict }) => ({ swapped, turns, verdict })) }, null, 1);
}

// A record as the page keeps it; errors: Problem.
async function readTrace(file) {
  const bad = (why) => new Problem(`${file.name} cannot be opened: ${why}.`);
  if (file.size > LARGEST_FILE) throw bad("it is larger than any trace of this page");
  let data;
  try {
    data = JSON.parse(await file.text());
  } catch {
    throw bad("it is not JSON");
  }
  if (data?.format !== FORMAT) throw bad("it is not a trace of this page");
  if (data.version !== VERSION) throw bad(`it is of version ${String(data.version).slice(0, 20)}, and this page reads version ${VERSION}`);
  if (!isRequest(data.request)) throw bad("its request lacks a text");
  if (!listOf(isGame)(data.games) || data.games.length < 1 || data.games.length > 2) throw bad("its games are not complete");
  if (data.games.length === 2 && data.games[0].swapped === data.games[1].swapped) throw bad("both of its games have the same order");
  return { request: data.request, games: data.games, made: isText(data.made) ? data.made : "", from: file.name };
}

function saveTrace(record) {
  const url = URL.createObjectURL(new Blob([traceText(record)], { type: "application/json" }));
  const name = `trace-${record.games[0].verdict.id.replace(/[^\w-]/g, "").slice(0, 8) || "judge"}.json`;
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return name;
}
