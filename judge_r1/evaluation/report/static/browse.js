// The list of items: unpacked, searched, filtered, and drawn only where it is seen.
const HEIGHT = 62; // pixels of one entry, as in style.css

async function unpacked(holder) {
  const text = atob(holder.textContent.trim()), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  holder.remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function matcher(data) {
  const lower = data.texts.map((text) => text.toLowerCase());
  const named = data.items.map((item) => `${item.id}\n${item.cluster}\n${item.group}`.toLowerCase());
  return (query) => {
    const terms = [...query.toLowerCase().matchAll(/"([^"]+)"|\S+/g)].map(([whole, phrase]) => phrase ?? whole);
    const found = terms.map((term) => lower.map((text) => text.includes(term)));
    return (item, at) => terms.every((term, i) => named[at].includes(term) || found[i][item.instruction] ||
      (item.case !== null && found[i][item.case]) || item.candidates.some((number) => found[i][number]));
  };
}

// Whether the result of one judge on an item passes the filter.
function fits(item, row, wanted) {
  const missed = (row.named !== null && item.violated.filter((number) => !row.named.includes(number))) || [];
  if (wanted.state === "missed") return wanted.principle ? missed.includes(Number(wanted.principle)) : missed.length > 0;
  return !wanted.state || row.state === wanted.state;
}

async function browse() {
  const place = (id) => document.getElementById(id);
  const status = place("status"), form = place("filter"), list = place("list"), rows = place("entries"), pane = place("item");
  const principles = JSON.parse(place("principles").textContent);
  const data = await unpacked(place("data"));
  const matches = matcher(data);
  const state = { row: 0, vote: 0, compared: null, only: false };
  let shown = data.items.map((_, at) => at), chosen = -1, keys = null;

  const select = (name, values) => form.elements[name].append(...values.map(([value, text]) => make("option", { value }, text)));
  select("row", data.judges.map((name, at) => [at, name]));
  const groups = new Map();
  for (const item of data.items) groups.set(item.group, (groups.get(item.group) ?? 0) + 1);
  select("group", [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, count]) => [name, `${name} (${count})`]));
  if (form.elements.principle) select("principle", Object.entries(principles).filter(([number]) => data.items.some((item) => item.violated.includes(Number(number)))).map(([number, name]) => [number, `P${number} ${name}`]));
  if (data.items.some((item) => item.results.some((row) => row.state === "part"))) select("state", [["part", "in part right"]]);

  function entry(number) {
    const at = shown[number], item = data.items[at];
    const spoken = item.results.map((row, i) => `${data.judges[i]} ${row.state}`).join(", ");
    const marks = item.results.length <= 8
      ? item.results.map((row) => make("span", { class: row.state }, SIGNS[row.state]))
      : [`${item.results.filter((row) => row.state === "right").length}/${item.results.length} ✓`];
    const facts = [item.group, item.violated.length ? codes(item.violated) : ""].filter(Boolean).join(" · ");
    const start = `${data.texts[item.instruction]} – ${data.texts[item.candidates[0]]}`.slice(0, 200).replace(/\s+/g, " ");
    const node = make("div", { class: "entry", role: "option", id: `entry-${at}`, "aria-selected": String(at === chosen), "aria-setsize": shown.length, "aria-posinset": number + 1,
      onclick: () => choose(at, { into: "here" }) },
      make("div", { class: "top" }, make("span", { class: "id" }, item.id), make("span", { class: "marks", role: "img", "aria-label": spoken, title: spoken }, marks)),
      make("div", { class: "line" }, `${facts} · ${start}`));
    node.style.top = `${number * HEIGHT}px`;
    return node;
  }

  function draw() {
    rows.style.height = `${shown.length * HEIGHT}px`;
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 6);
    const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / HEIGHT) + 12);
    rows.replaceChildren(...Array.from({ length: last - first }, (_, i) => entry(first + i)));
    const at = shown.indexOf(chosen);
    if (at >= first && at < last) list.setAttribute("aria-activedescendant", `entry-${chosen}`);
    else list.removeAttribute("aria-activedescendant");
  }

  function redraw(change) {
    const focused = document.activeElement, index = focused?.getAttribute("role") === "radio" ? focused.parentElement.getAttribute("aria-label") : focused?.id === "only" ? "only" : null;
    Object.assign(state, change);
    showChosen();
    const next = index === "only" ? place("only") : index && [...pane.querySelectorAll("[role=radiogroup]")].find((group) => group.getAttribute("aria-label") === index)?.querySelector("[aria-checked=true]");
    next?.focus();
  }

  function showChosen() {
    const at = shown.indexOf(chosen);
    const tools = make("span", { class: "steps" },
      make("button", { type: "button", class: "back", onclick: () => { list.scrollIntoView({ block: "nearest" }); list.focus(); } }, "List"),
      make("span", { class: "soft" }, at < 0 ? "not in the list now" : `${at + 1} of ${shown.length}`),
      make("button", { type: "button", title: "Previous item (k)", "aria-label": "Previous item", onclick: () => step(-1) }, "‹"),
      make("button", { type: "button", title: "Next item (j)", "aria-label": "Next item", onclick: () => step(1) }, "›"));
    keys = showItem(pane, data.items[chosen], data, state, principles, redraw, tools);
  }

  // `into`: somebody chose it, so that it must be seen: where they point, or ("top") as the next thing to read.
  function choose(at, { into = "" } = {}) {
    chosen = at;
    state.vote = 0;
    const wanted = form.elements.row.value;
    if (wanted !== "") state.row = Number(wanted);
    showChosen();
    const top = shown.indexOf(at) * HEIGHT;
    if (top >= 0 && top < list.scrollTop) list.scrollTop = top;
    if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
    draw();
    if (into) {
      history.replaceState(null, "", `#item=${encodeURIComponent(data.items[at].id)}`);
      const box = pane.getBoundingClientRect();
      if (box.top < 0 || box.top > innerHeight * (into === "top" ? 0.05 : 0.6)) pane.scrollIntoView({ block: "start", behavior: "instant" });
    }
  }

  function step(by) {
    if (!shown.length) return;
    const at = shown.indexOf(chosen);
    choose(shown[at < 0 ? 0 : Math.min(Math.max(at + by, 0), shown.length - 1)], { into: "top" });
  }

  function apply() {
    const wanted = Object.fromEntries(new FormData(form)), found = matches(wanted.text ?? "");
    shown = data.items.flatMap((item, at) => {
      const judged = wanted.row === "" ? item.results : [item.results[Number(wanted.row)]];
      const fine = (!wanted.group || wanted.group === item.group) && (!wanted.principle || item.violated.includes(Number(wanted.principle))) &&
        (!wanted.differ || item.differ) && judged.some((row) => fits(item, row, wanted)) && found(item, at);
      return fine ? [at] : [];
    });
    status.textContent = `${shown.length === data.items.length ? "" : `${shown.length} of `}${plural(data.items.length, "item")}`;
    place("nothing").hidden = shown.length > 0;
    list.scrollTop = 0;
    if (shown.length && !shown.includes(chosen)) choose(shown[0]);
    else if (shown.length) { showChosen(); choose(chosen); }
    draw();
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || place("help").open) return;
    const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
    if (event.key === "Escape" && typing) { list.focus(); return; }
    if (typing) return;
    const inList = document.activeElement === list, page = Math.max(1, Math.floor(list.clientHeight / HEIGHT) - 1);
    const radios = event.target.closest?.("[role=radiogroup]");
    const turn = (by) => { const all = [...radios.querySelectorAll("[role=radio]")]; all[(all.indexOf(event.target) + by + all.length) % all.length].click(); };
    const acts = {
      j: () => step(1), k: () => step(-1), "/": () => { form.elements.text.focus(); form.elements.text.select(); },
      "?": () => place("help").showModal(), n: () => keys?.step(1), p: () => keys?.step(-1),
      d: () => redraw({ only: !state.only }), "]": () => redraw({ vote: Math.min(state.vote + 1, keys.votes - 1) }), "[": () => redraw({ vote: Math.max(state.vote - 1, 0) }),
      ...(inList && { ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(page), PageUp: () => step(-page), Home: () => step(-shown.length), End: () => step(shown.length), Enter: () => pane.focus() }),
      ...(radios && { ArrowDown: () => turn(1), ArrowRight: () => turn(1), ArrowUp: () => turn(-1), ArrowLeft: () => turn(-1) }),
      ...(pane.contains(event.target) && { Escape: () => list.focus() }),
    };
    const number = Number(event.key);
    const act = acts[event.key] ?? (number >= 1 && number <= data.judges.length ? () => redraw({ row: number - 1, vote: 0 }) : null);
    if (act && chosen >= 0) { event.preventDefault(); act(); }
  }

  list.addEventListener("scroll", draw, { passive: true });
  addEventListener("resize", draw);
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  document.addEventListener("keydown", pressed);
  place("keys").addEventListener("click", () => place("help").showModal());
  place("browser").hidden = false;
  place("opening").remove();
  const asked = location.hash.startsWith("#item=") ? decodeURIComponent(location.hash.slice(6)) : null;
  chosen = data.items.findIndex((item) => item.id === asked);
  apply();
  if (asked && chosen >= 0) pane.scrollIntoView({ block: "start", behavior: "instant" });
}

if (document.getElementById("data")) {
  browse().catch((error) => {
    document.getElementById("opening").textContent = `The items cannot be shown in this browser: ${error.message}`;
  });
}
