// The form of the pair: examples, word counts, and checks before the request is sent.
const TEXTS = ["context", "decision", "reasoning_a", "reasoning_b"];
const DOMAIN = /^[a-z][a-z0-9_ -]*$/;
const bytesOf = (text) => new Blob([text]).size;
const size = (bytes) => (bytes < 1000 ? `${bytes} B` : bytes < 999_500 ? `${(bytes / 1000).toPrecision(3)} kB` : `${(bytes / 1e6).toPrecision(3)} MB`);
const wordCount = (text) => text.match(/\S+/g)?.length ?? 0;

function pairForm(form, { limits, examples }) {
  const at = (name) => form.elements[name];
  at("example").append(...examples.map(({ title }, number) => make("option", { value: number }, title)));

  const read = () => ({ ...Object.fromEntries(TEXTS.map((name) => [name, at(name).value])), domain: at("domain").value.trim().toLowerCase() || "general" });

  // The mistake in a pair as [field, sentence]; null if there is none.
  function wrong(request) {
    for (const side of ["a", "b"]) if (!request[`reasoning_${side}`].trim()) return [`reasoning_${side}`, `Reasoning ${side.toUpperCase()} is empty: write or paste one.`];
    const held = bytesOf(request.context), body = bytesOf(JSON.stringify(request));
    if (held > limits.case) return ["context", `The case has ${size(held)}; the limit of this server is ${size(limits.case)}: shorten it.`];
    if (body > limits.body) return ["context", `All texts together have ${size(body)}; the limit of this server is ${size(limits.body)}: shorten them.`];
    if (!DOMAIN.test(request.domain)) return ["domain", "The domain is a plain word or two: letters, digits, spaces, hyphens."];
    return null;
  }

  function count(name) {
    const text = at(name).value, bytes = bytesOf(text), line = document.getElementById(`count-${name}`);
    line.textContent = text ? `${plural(wordCount(text), "word")}, ${size(bytes)}${name === "context" ? ` of ${size(limits.case)}` : ""}` : "";
    line.classList.toggle("over", name === "context" && bytes > limits.case);
  }

  function fill(request) {
    for (const name of TEXTS) { at(name).value = request[name]; count(name); }
    at("domain").value = request.domain;
    for (const node of form.querySelectorAll("[aria-invalid]")) node.removeAttribute("aria-invalid");
  }

  form.addEventListener("input", (event) => {
    if (TEXTS.includes(event.target.name)) { count(event.target.name); at("example").value = ""; }
    event.target.removeAttribute("aria-invalid");
  });
  at("example").addEventListener("change", () => { const chosen = examples[at("example").value]; if (chosen) fill(chosen); });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
  });
  for (const name of TEXTS) count(name); // a browser may have kept what was written before a reload
  return {
    read, fill, wrong,
    point: (name) => { at(name).setAttribute("aria-invalid", "true"); at(name).focus(); },
    truth: (request) => examples.find((one) => TEXTS.every((name) => one[name] === request[name])) ?? null,
  };
}
