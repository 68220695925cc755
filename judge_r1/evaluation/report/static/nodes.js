// What both pages, the report and the served judge's, build their parts of.
// Every text comes into the page as text: through textContent or as a text node, never as markup.
function make(tag, settings = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(settings)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

const letter = (place) => (place < 26 ? String.fromCharCode(65 + place) : String(place + 1));
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : word.endsWith("ch") ? "es" : "s"}`;
const codes = (numbers) => numbers.map((number) => `P${number}`).join(", ");

// `text` as nodes, cut at spans {start, end, kind, tag}; a stretch under several carries all their kinds and tags.
function pieces(text, spans, from = 0) {
  const inside = spans.filter((span) => span.end > from && span.start < from + text.length);
  const cuts = new Set([0, text.length]);
  for (const { start, end } of inside) for (const at of [start, end]) cuts.add(Math.min(Math.max(at - from, 0), text.length));
  const places = [...cuts].sort((one, other) => one - other);
  return places.slice(1).map((end, i) => {
    const start = places[i];
    const over = inside.filter((span) => span.start <= from + start && span.end >= from + end);
    if (!over.length) return document.createTextNode(text.slice(start, end));
    const tags = [...new Set(over.filter((span) => span.tag && span.end === from + end).map((span) => span.tag))];
    const mark = make("mark", { class: [...new Set(over.map((span) => span.kind))].join(" "), "data-start": from + start }, text.slice(start, end));
    if (tags.length) mark.append(make("span", { class: "tag" }, tags.join(", ")));
    return mark;
  });
}

// The marks in a box that scrolls: `step(by)` goes from one to the next, `jump(start)` to the first at or behind a place.
function marksOf(box) {
  const marks = () => [...box.querySelectorAll("mark")];
  const goto = (mark) => {
    box.querySelector(".here")?.classList.remove("here");
    if (!mark) return;
    mark.classList.add("here");
    box.scrollTop = mark.offsetTop - box.clientHeight / 3;
  };
  const step = (by) => {
    const all = marks(), at = all.findIndex((mark) => mark.classList.contains("here"));
    goto(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length]);
  };
  return { marks, step, jump: (start) => goto(marks().find((mark) => Number(mark.dataset.start) >= start)) };
}
