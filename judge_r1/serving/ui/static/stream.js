// Server-sent events over fetch; every problem is one sentence.
class Problem extends Error {
  constructor(message, { status = 0, wait = 0 } = {}) {
    super(message);
    Object.assign(this, { status, wait });
  }
}

const seconds = (count) => (count < 60 ? `${count} s` : `${Math.ceil(count / 60)} min`);

async function refused(response) {
  const said = await response.json().then((body) => body?.error, () => null);
  const wait = Number.parseInt(response.headers.get("retry-after") ?? "", 10) || 0;
  if (response.status === 401) return new Problem("This server asks for an API key.", { status: 401 });
  let message = typeof said === "string" && said ? said : `the server answered ${response.status}`;
  if (wait && !/\b\d+ s\b/.test(message)) message += `: try again in ${seconds(wait)}`;
  return new Problem(`${capital(message)}.`, { status: response.status, wait });
}

// The events of a body, as {name, data}; comments and unfinished events are left out.
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value.replaceAll("\r", "");
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
      const lines = held.slice(0, end).split("\n");
      held = held.slice(end + 2);
      const of = (field) => lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, "")).join("\n");
      const data = of("data");
      if (data) yield { name: of("event") || "message", data: JSON.parse(data) };
    }
  }
}

// Judges one pair and calls `seen(name, data)` for every search and turn. Returns the verdict. Throws Problem, and
// AbortError after `signal`.
async function play(request, key, signal, seen) {
  const headers = { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) };
  let response;
  try {
    response = await fetch("v1/judge/stream", { method: "POST", headers, body: JSON.stringify(request), signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server cannot be reached: is it still running?");
  }
  if (!response.ok) throw await refused(response);
  try {
    for await (const { name, data } of eventsOf(response.body)) {
      if (name === "verdict") return data;
      if (name === "error") throw new Problem(`No judgment: ${data.error}.`);
      seen(name, data);
    }
  } catch (error) {
    if (error instanceof Problem || error.name === "AbortError") throw error;
    throw new Problem("The connection broke before the verdict: judge again.");
  }
  throw new Problem("The answer ended before the verdict: judge again.");
}
