// The pair form: examples, word counts, and validation before a request is sent.
const TEXTS = ["context", "decision", "reasoning_a", "reasoning_b"];
const DOMAIN = /^[a-z][a-z0-9_ -]*$/;
const bytesOf = (text) => new Blob([text]).size;
const size = (bytes) => (bytes < 1000 ? `${bytes} B` : bytes < 999_500 ? `${(bytes / 1000).toPrecision(3)} kB` : `${(bytes / 1e6).toPrecision(3)} MB`);
const wordCount = (text) => text.match(/\S+/g)?.length ?? 0;

function pairForm(form, { limits, examples }) {
  const field = (name) => form.elements[name];
  field("example").append(...examples.map(({ title }, number) => make("option", { value: number }, title)));

  const read = () => ({ ...Object.fromEntries(TEXTS.map((name) => [name, field(name).value])), domain: field("domain").value.trim().toLowerCase() || "general" });

  // The first mistake in a pair as [field name, sentence]; null if there is none.
  function validate(request) {
    for (const side of ["a", "b"]) if (!request[`reasoning_${side}`].trim()) return [`reasoning_${side}`, `Reasoning ${side.toUpperCase()} is empty: write or paste one.`];
    const contextBytes = bytesOf(request.context), bodyBytes = bytesOf(JSON.stringify(request));
    if (contextBytes > limits.case) return ["context", `The case has ${size(contextBytes)}; the limit of this server is ${size(limits.case)}: shorten it.`];
    if (bodyBytes > limits.body) return ["context", `All texts together have ${size(bodyBytes)}; the limit of this server is ${size(limits.body)}: shorten them.`];
    if (!DOMAIN.test(request.domain)) return ["domain", "The domain is a plain word or two: letters, digits, spaces, hyphens."];
    return null;
  }

  function count(name) {
    const text = field(name).value, bytes = bytesOf(text), line = document.getElementById(`count-${name}`);
    line.textContent = text ? `${plural(wordCount(text), "word")}, ${size(bytes)}${name === "context" ? ` of ${size(limits.case)}` : ""}` : "";
    line.classList.toggle("over", name === "context" && bytes > limits.case);
  }

  function fill(request) {
    for (const name of TEXTS) { field(name).value = request[name]; count(name); }
    field("domain").value = request.domain;
    for (const node of form.querySelectorAll("[aria-invalid]")) node.removeAttribute("aria-invalid");
  }

  form.addEventListener("input", (event) => {
    if (TEXTS.includes(event.target.name)) { count(event.target.name); field("example").value = ""; }
    event.target.removeAttribute("aria-invalid");
  });
  field("example").addEventListener("change", () => { const example = examples[field("example").value]; if (example) fill(example); });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
  });
  for (const name of TEXTS) count(name); // browsers may restore the fields after a reload
  return {
    read, fill, validate,
    focusInvalid: (name) => { field(name).setAttribute("aria-invalid", "true"); field(name).focus(); },
    matchingExample: (request) => examples.find((example) => TEXTS.every((name) => example[name] === request[name])) ?? null,
  };
}
