// Shared by the report and the page of the server: builds DOM nodes.
// Texts are inserted as text nodes or through textContent, never as markup.
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

const letter = (index) => (index < 26 ? String.fromCharCode(65 + index) : String(index + 1));
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : word.endsWith("ch") ? "es" : "s"}`;
const codes = (numbers) => numbers.map((number) => `P${number}`).join(", ");

// `text` as nodes, cut at spans {start, end, kind, tag}. Where spans overlap, a mark has all their kinds and tags.
function pieces(text, spans, from = 0) {
  const inside = spans.filter((span) => span.end > from && span.start < from + text.length);
  const cuts = new Set([0, text.length]);
  for (const { start, end } of inside) for (const offset of [start, end]) cuts.add(Math.min(Math.max(offset - from, 0), text.length));
  const offsets = [...cuts].sort((a, b) => a - b);
  return offsets.slice(1).map((end, i) => {
    const start = offsets[i];
    const over = inside.filter((span) => span.start <= from + start && span.end >= from + end);
    if (!over.length) return document.createTextNode(text.slice(start, end));
    const tags = [...new Set(over.filter((span) => span.tag && span.end === from + end).map((span) => span.tag))];
    const mark = make("mark", { class: [...new Set(over.map((span) => span.kind))].join(" "), "data-start": from + start }, text.slice(start, end));
    if (tags.length) mark.append(make("span", { class: "tag" }, tags.join(", ")));
    return mark;
  });
}

// The marks in a scrolling box: `step(by)` moves between them, `jump(start)` to the first at or after an offset.
function marksOf(box) {
  const marks = () => [...box.querySelectorAll("mark")];
  const goto = (mark) => {
    box.querySelector(".here")?.classList.remove("here");
    if (!mark) return;
    mark.classList.add("here");
    box.scrollTop = mark.offsetTop - box.clientHeight / 3;
  };
  const step = (by) => {
    const all = marks(), current = all.findIndex((mark) => mark.classList.contains("here"));
    goto(all[current < 0 ? (by > 0 ? 0 : all.length - 1) : (current + by + all.length) % all.length]);
  };
  return { marks, step, jump: (start) => goto(marks().find((mark) => Number(mark.dataset.start) >= start)) };
}
