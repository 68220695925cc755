// Judging over server-sent events. A Problem has a message of one sentence for the user.
class Problem extends Error {
  constructor(message, { status = 0, wait = 0 } = {}) {
    super(message);
    Object.assign(this, { status, wait });
  }
}

const seconds = (count) => (count < 60 ? `${count} s` : `${Math.ceil(count / 60)} min`);

// The Problem that an error response describes.
async function problemOf(response) {
  const detail = await response.json().then((body) => body?.error, () => null);
  const wait = Number.parseInt(response.headers.get("retry-after") ?? "", 10) || 0;
  if (response.status === 401) return new Problem("This server asks for an API key.", { status: 401 });
  let message = typeof detail === "string" && detail ? detail : `the server answered ${response.status}`;
  if (wait && !/\b\d+ s\b/.test(message)) message += `: try again in ${seconds(wait)}`;
  return new Problem(`${capital(message)}.`, { status: response.status, wait });
}

// How long a judgment takes now, as {seconds, timeout}; `seconds` is null before the server's first one. null if unknown.
async function expectedTime(key) {
  try {
    const response = await fetch("v1/queue", { headers: key ? { Authorization: `Bearer ${key}` } : {}, cache: "no-store" });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

// Yields the events of a body as {name, data}, without comments and incomplete events.
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value.replaceAll("\r", "");
    for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
      const lines = buffer.slice(0, end).split("\n");
      buffer = buffer.slice(end + 2);
      const valueOf = (field) => lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, "")).join("\n");
      const data = valueOf("data");
      if (data) yield { name: valueOf("event") || "message", data: JSON.parse(data) };
    }
  }
}

// Judges one pair and calls `onEvent(name, data)` for every search and turn. Returns the verdict. Throws Problem, and
// AbortError after `signal`.
async function streamJudgment(request, key, signal, onEvent) {
  const headers = { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) };
  let response;
  try {
    response = await fetch("v1/judge/stream", { method: "POST", headers, body: JSON.stringify(request), signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server cannot be reached: is it still running?");
  }
  if (!response.ok) throw await problemOf(response);
  try {
    for await (const { name, data } of eventsOf(response.body)) {
      if (name === "verdict") return data;
      if (name === "error") throw new Problem(`No judgment: ${data.error}.`);
      onEvent(name, data);
    }
  } catch (error) {
    if (error instanceof Problem || error.name === "AbortError") throw error;
    throw new Problem("The connection was lost before the verdict: judge again.");
  }
  throw new Problem("The answer ended before the verdict: judge again.");
}
