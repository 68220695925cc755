// The list of items: decompresses, searches and filters them, and draws the visible entries only.
const HEIGHT = 62; // pixels of one entry, as in style.css

async function decompress(element) {
  const text = atob(element.textContent.trim()), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  element.remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function matcher(data) {
  const lower = data.texts.map((text) => text.toLowerCase());
  const named = data.items.map((item) => `${item.id}\n${item.cluster}\n${item.group}`.toLowerCase());
  return (query) => {
    const terms = [...query.toLowerCase().matchAll(/"([^"]+)"|\S+/g)].map(([whole, phrase]) => phrase ?? whole);
    const found = terms.map((term) => lower.map((text) => text.includes(term)));
    return (item, index) => terms.every((term, i) => named[index].includes(term) || found[i][item.instruction] ||
      (item.case !== null && found[i][item.case]) || item.candidates.some((number) => found[i][number]));
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
  const data = await decompress(byId("data"));
  const matches = matcher(data);
  const state = { row: 0, vote: 0, compared: null, only: false };
  let shown = data.items.map((_, index) => index), chosen = -1, keys = null;

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
    const start = `${data.texts[item.instruction]} – ${data.texts[item.candidates[0]]}`.slice(0, 200).replace(/\s+/g, " ");
    const node = make("div", { class: "entry", role: "option", id: `entry-${index}`, "aria-selected": String(index === chosen), "aria-setsize": shown.length, "aria-posinset": number + 1,
      onclick: () => choose(index, { scroll: "if-hidden" }) },
      make("div", { class: "top" }, make("span", { class: "id" }, item.id), make("span", { class: "marks", role: "img", "aria-label": description, title: description }, marks)),
      make("div", { class: "line" }, `${facts} · ${start}`));
    node.style.top = `${number * HEIGHT}px`;
    return node;
  }

  function draw() {
    rows.style.height = `${shown.length * HEIGHT}px`;
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 6);
    const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / HEIGHT) + 12);
    rows.replaceChildren(...Array.from({ length: last - first }, (_, i) => entry(first + i)));
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
    keys = showItem(pane, data.items[chosen], data, state, principles, redraw, tools);
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

  function apply() {
    const filter = Object.fromEntries(new FormData(form)), found = matches(filter.text ?? "");
    shown = data.items.flatMap((item, index) => {
      const results = filter.row === "" ? item.results : [item.results[Number(filter.row)]];
      const shows = (!filter.group || filter.group === item.group) && (!filter.principle || item.violated.includes(Number(filter.principle))) &&
        (!filter.differ || item.differ) && results.some((row) => passes(item, row, filter)) && found(item, index);
      return shows ? [index] : [];
    });
    status.textContent = `${shown.length === data.items.length ? "" : `${shown.length} of `}${plural(data.items.length, "item")}`;
    byId("nothing").hidden = shown.length > 0;
    list.scrollTop = 0;
    if (shown.length && !shown.includes(chosen)) choose(shown[0]);
    else if (shown.length) { showChosen(); choose(chosen); }
    draw();
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
      d: () => redraw({ only: !state.only }), "]": () => redraw({ vote: Math.min(state.vote + 1, keys.votes - 1) }), "[": () => redraw({ vote: Math.max(state.vote - 1, 0) }),
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
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  document.addEventListener("keydown", onKey);
  byId("keys").addEventListener("click", () => byId("help").showModal());
  byId("browser").hidden = false;
  const requested = requestedItem();
  chosen = data.items.findIndex((item) => item.id === requested);
  apply();
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
