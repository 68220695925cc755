// The list of items: decompresses, searches and filters them, and draws the visible entries only.
const HEIGHT = 62; // pixels of one entry, as in style.css

const KEPT = 12; // parts of a large report in memory

async function decompress(packed) {
  const text = atob(packed.trim()), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const arrivals = new Map();
// Each part of a large report is a script with this call.
function received(number, packed) { arrivals.get(number)?.(packed); }

// Reads whole items. A small page holds them itself; those of a large one are in parts, of which the latest stay.
function partsOf(data) {
  if (!data.parts) return { count: 1, of: () => 0, start: () => 0, loaded: () => data, load: async () => data };
  const parts = new Map();
  const load = (number) => {
    const found = parts.get(number) ?? { whole: null, ready: fetchPart(number).then((whole) => {
      // an evaluation that was stopped while it wrote its report leaves an older page beside newer parts
      if (whole.items[0]?.id !== data.items[data.parts[number]].id) throw new Error(`report_items/${number}.js is of another report: run the evaluation again with --resume`);
      return (found.whole = whole);
    }) };
    parts.delete(number);
    parts.set(number, found);
    // not a part on its way: asking for it again would leave those who wait for it without an answer
    for (const [old, one] of parts) if (parts.size > KEPT && one.whole && old !== number) parts.delete(old);
    return found.ready;
  };
  const of = (index) => {
    let low = 0, high = data.parts.length;
    while (high - low > 1) { const middle = (low + high) >> 1; if (data.parts[middle] <= index) low = middle; else high = middle; }
    return low;
  };
  return { count: data.parts.length, of, start: (number) => data.parts[number], loaded: (number) => parts.get(number)?.whole, load };
}

async function fetchPart(number) {
  const packed = await new Promise((resolve, reject) => {
    arrivals.set(number, resolve);
    const script = make("script", { src: `report_items/${number}.js`, onerror: () => reject(new Error(`report_items/${number}.js is missing: keep the folder beside this page`)) });
    document.head.append(script);
  });
  arrivals.delete(number);
  document.querySelector(`script[src="report_items/${number}.js"]`)?.remove();
  return decompress(packed);
}

// For a query with terms: part -> item -> whether its ids and texts hold all of them.
function matcher(query) {
  const terms = [...query.toLowerCase().matchAll(/"([^"]+)"|\S+/g)].map(([whole, phrase]) => phrase ?? whole);
  if (!terms.length) return null;
  return (part) => {
    part.lower ??= part.texts.map((text) => text.toLowerCase());
    const found = terms.map((term) => part.lower.map((text) => text.includes(term)));
    return (item) => {
      const named = `${item.id}\n${item.cluster}\n${item.group}`.toLowerCase();
      return terms.every((term, i) => named.includes(term) || found[i][item.instruction] ||
        (item.case !== null && found[i][item.case]) || item.candidates.some((number) => found[i][number]));
    };
  };
}

// Whether the result of one judge on an item passes the filter.
function passes(item, row, filter) {
  const missed = (row.named !== null && item.violated.filter((number) => !row.named.includes(number))) || [];
  if (filter.state === "missed") return filter.principle ? missed.includes(Number(filter.principle)) : missed.length > 0;
  return !filter.state || row.state === filter.state;
}

async function browse() {
  const byId = (id) => document.getElementById(id);
  const status = byId("status"), form = byId("filter"), list = byId("list"), rows = byId("entries"), pane = byId("item");
  const principles = JSON.parse(byId("principles").textContent);
  const data = await decompress(byId("data").textContent), parts = partsOf(data);
  byId("data").remove();
  const state = { row: Number(byId("browser").dataset.opens), vote: 0, compared: null, only: false };
  const starts = new Map(); // how the texts of an item begin, for the list: its part may be gone again
  let shown = data.items.map((_, index) => index), chosen = -1, keys = null, searches = 0;

  const select = (name, values) => form.elements[name].append(...values.map(([value, text]) => make("option", { value }, text)));
  select("row", data.judges.map((name, index) => [index, name]));
  const groups = new Map();
  for (const item of data.items) groups.set(item.group, (groups.get(item.group) ?? 0) + 1);
  select("group", [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => [name, `${name} (${count})`]));
  if (form.elements.principle) select("principle", Object.entries(principles).filter(([number]) => data.items.some((item) => item.violated.includes(Number(number)))).map(([number, name]) => [number, `P${number} ${name}`]));
  if (data.items.some((item) => item.results.some((row) => row.state === "part"))) select("state", [["part", "in part right"]]);

  function entry(number) {
    const index = shown[number], item = data.items[index];
    const description = item.results.map((row, i) => `${data.judges[i]} ${row.state}`).join(", ");
    const marks = item.results.length <= 8
      ? item.results.map((row) => make("span", { class: row.state }, SIGNS[row.state]))
      : [`${item.results.filter((row) => row.state === "right").length}/${item.results.length} ✓`];
    const facts = [item.group, item.violated.length ? codes(item.violated) : ""].filter(Boolean).join(" · ");
    const node = make("div", { class: "entry", role: "option", id: `entry-${index}`, "aria-selected": String(index === chosen), "aria-setsize": shown.length, "aria-posinset": number + 1,
      onclick: () => choose(index, { scroll: "if-hidden" }) },
      make("div", { class: "top" }, make("span", { class: "id" }, item.id), make("span", { class: "marks", role: "img", "aria-label": description, title: description }, marks)),
      make("div", { class: "line" }, `${facts} · ${starts.get(index) ?? "…"}`));
    node.style.top = `${number * HEIGHT}px`;
    return node;
  }

  function noteStart(index, part) {
    const whole = part.items[index - parts.start(parts.of(index))];
    starts.set(index, `${part.texts[whole.instruction]} – ${part.texts[whole.candidates[0]]}`.slice(0, 200).replace(/\s+/g, " "));
  }

  function draw() {
    rows.style.height = `${shown.length * HEIGHT}px`;
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 6);
    const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / HEIGHT) + 12);
    const missing = new Map();
    for (const index of shown.slice(first, last)) {
      const number = parts.of(index), part = parts.loaded(number);
      if (starts.has(index)) continue;
      if (part) noteStart(index, part);
      else missing.set(number, [...(missing.get(number) ?? []), index]);
    }
    rows.replaceChildren(...Array.from({ length: last - first }, (_, i) => entry(first + i)));
    const noted = [...missing].map(([number, indices]) => parts.load(number).then((part) => indices.forEach((index) => noteStart(index, part))));
    if (noted.length) Promise.all(noted).then(draw, fail);
    const position = shown.indexOf(chosen);
    if (position >= first && position < last) list.setAttribute("aria-activedescendant", `entry-${chosen}`);
    else list.removeAttribute("aria-activedescendant");
  }

  function redraw(change) {
    const focused = document.activeElement, focusName = focused?.getAttribute("role") === "radio" ? focused.parentElement.getAttribute("aria-label") : focused?.id === "only" ? "only" : null;
    Object.assign(state, change);
    showChosen();
    const next = focusName === "only" ? byId("only") : focusName && [...pane.querySelectorAll("[role=radiogroup]")].find((group) => group.getAttribute("aria-label") === focusName)?.querySelector("[aria-checked=true]");
    next?.focus();
  }

  function showChosen() {
    const position = shown.indexOf(chosen);
    const tools = make("span", { class: "steps" },
      make("button", { type: "button", class: "back", onclick: () => { list.scrollIntoView({ block: "nearest" }); list.focus(); } }, "List"),
      make("span", { class: "soft" }, position < 0 ? "not in the filtered list" : `${position + 1} of ${shown.length}`),
      make("button", { type: "button", title: "Previous item (k)", "aria-label": "Previous item", onclick: () => step(-1) }, "‹"),
      make("button", { type: "button", title: "Next item (j)", "aria-label": "Next item", onclick: () => step(1) }, "›"));
    const number = parts.of(chosen), part = parts.loaded(number);
    if (!part) {
      keys = null;
      pane.replaceChildren(tools, make("p", { class: "soft" }, "Opening the item…"));
      parts.load(number).then(() => { if (parts.of(chosen) === number) showChosen(); }, fail);
      return;
    }
    keys = showItem(pane, part.items[chosen - parts.start(number)], { ...data, texts: part.texts }, state, principles, redraw, tools);
  }

  // `scroll`: how to bring an item that the user chose into view: "if-hidden", "top", or not at all.
  function choose(index, { scroll = "" } = {}) {
    chosen = index;
    state.vote = 0;
    const row = form.elements.row.value;
    if (row !== "") state.row = Number(row);
    showChosen();
    const top = shown.indexOf(index) * HEIGHT;
    if (top >= 0 && top < list.scrollTop) list.scrollTop = top;
    if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
    draw();
    if (scroll) {
      history.replaceState(null, "", `#item=${encodeURIComponent(data.items[index].id)}`);
      const bounds = pane.getBoundingClientRect();
      if (bounds.top < 0 || bounds.top > innerHeight * (scroll === "top" ? 0.05 : 0.6)) pane.scrollIntoView({ block: "start", behavior: "instant" });
    }
  }

  function step(by) {
    if (!shown.length) return;
    const position = shown.indexOf(chosen);
    choose(shown[position < 0 ? 0 : Math.min(Math.max(position + by, 0), shown.length - 1)], { scroll: "top" });
  }

  // A text is searched part by part, so the list of a large report grows while it is.
  async function apply() {
    const filter = Object.fromEntries(new FormData(form)), matches = matcher(filter.text ?? ""), search = ++searches;
    const shows = (item) => {
      const results = filter.row === "" ? item.results : [item.results[Number(filter.row)]];
      return (!filter.group || filter.group === item.group) && (!filter.principle || item.violated.includes(Number(filter.principle))) &&
        (!filter.differ || item.differ) && results.some((row) => passes(item, row, filter));
    };
    const candidates = data.items.flatMap((item, index) => (shows(item) ? [index] : []));
    list.scrollTop = 0;
    if (!matches || parts.count === 1) {
      const found = matches?.(parts.loaded(0));
      show(found ? candidates.filter((index) => found(data.items[index])) : candidates, "");
      return;
    }
    const byPart = new Map();
    for (const index of candidates) byPart.set(parts.of(index), [...(byPart.get(parts.of(index)) ?? []), index]);
    let found = [], searched = 0;
    show(found, ", searching…");
    for (const [number, indices] of byPart) {
      const part = await parts.load(number);
      if (search !== searches) return;
      const holds = matches(part);
      found = [...found, ...indices.filter((index) => holds(part.items[index - parts.start(number)]))];
      searched++;
      show(found, searched < byPart.size ? `, searched ${Math.round((100 * searched) / byPart.size)} %` : "");
    }
  }

  function show(indices, progress) {
    shown = indices;
    status.textContent = `${shown.length === data.items.length ? "" : `${shown.length} of `}${plural(data.items.length, "item")}${progress}`;
    byId("nothing").hidden = shown.length > 0 || progress !== "";
    if (shown.length && !shown.includes(chosen)) choose(shown[0]);
    else if (shown.length) { showChosen(); choose(chosen); }
    draw();
  }

  function fail(error) {
    status.textContent = error.message;
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
    if (event.key === "Escape" && typing) { list.focus(); return; }
    if (typing) return;
    const inList = document.activeElement === list, page = Math.max(1, Math.floor(list.clientHeight / HEIGHT) - 1);
    const radios = event.target.closest?.("[role=radiogroup]");
    const selectRadio = (by) => { const all = [...radios.querySelectorAll("[role=radio]")]; all[(all.indexOf(event.target) + by + all.length) % all.length].click(); };
    const actions = {
      j: () => step(1), k: () => step(-1), "/": () => { form.elements.text.focus(); form.elements.text.select(); },
      "?": () => byId("help").showModal(), n: () => keys?.step(1), p: () => keys?.step(-1),
      d: () => redraw({ only: !state.only }), "]": () => redraw({ vote: Math.min(state.vote + 1, (keys?.votes ?? 1) - 1) }), "[": () => redraw({ vote: Math.max(state.vote - 1, 0) }),
      ...(inList && { ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(page), PageUp: () => step(-page), Home: () => step(-shown.length), End: () => step(shown.length), Enter: () => pane.focus() }),
      ...(radios && { ArrowDown: () => selectRadio(1), ArrowRight: () => selectRadio(1), ArrowUp: () => selectRadio(-1), ArrowLeft: () => selectRadio(-1) }),
      ...(pane.contains(event.target) && { Escape: () => list.focus() }),
    };
    const number = Number(event.key);
    const action = actions[event.key] ?? (number >= 1 && number <= data.judges.length ? () => redraw({ row: number - 1, vote: 0 }) : null);
    if (action && chosen >= 0) { event.preventDefault(); action(); }
  }

  list.addEventListener("scroll", draw, { passive: true });
  addEventListener("resize", draw);
  form.addEventListener("input", () => apply().catch(fail));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => apply().catch(fail)));
  document.addEventListener("keydown", onKey);
  byId("keys").addEventListener("click", () => byId("help").showModal());
  byId("browser").hidden = false;
  const requested = requestedItem();
  chosen = data.items.findIndex((item) => item.id === requested);
  await apply();
  if (requested && chosen >= 0) pane.scrollIntoView({ block: "start", behavior: "instant" });
  byId("opening").remove();
}

function requestedItem() {
  if (!location.hash.startsWith("#item=")) return null;
  try {
    return decodeURIComponent(location.hash.slice(6));
  } catch {  // not a valid address, such as #item=%E0%A4%A
    return null;
  }
}

if (document.getElementById("data")) {
  browse().catch((error) => {
    document.getElementById("opening").textContent = `This browser cannot show the items: ${error.message}`;
  });
}
