// Turns as the server sends them, in the form in which `turnsView` draws them.

// A turn's text as [kind, text, closed]. Tags inside an open block are text, as in the judge's parser.
function blocks(text, tools) {
  const found = [], opening = tools ? /<(think|search|tool|answer)>/g : /<(think|search|answer)>/g;
  let position = 0;
  const plain = (part) => { if (part.trim()) found.push(["text", part.trim(), true]); };
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    plain(text.slice(position, match.index));
    const close = text.indexOf(`</${match[1]}>`, opening.lastIndex);
    found.push([match[1], text.slice(opening.lastIndex, close < 0 ? undefined : close).trim(), close >= 0]);
    position = opening.lastIndex = close < 0 ? text.length : close + match[1].length + 3;
  }
  plain(text.slice(position));
  return found;
}

// Maps character offsets, which the server counts, to the UTF-16 offsets of a browser; -1 beyond the end.
function utf16Offsets(text, offsets) {
  const sorted = [...new Set(offsets)].sort((a, b) => a - b), found = new Map();
  let characters = 0, units = 0;
  for (const offset of sorted) {
    while (characters < offset && units < text.length) { units += text.codePointAt(units) > 0xffff ? 2 : 1; characters++; }
    found.set(offset, characters === offset ? units : -1);
  }
  return found;
}

// A search past the budget returns a notice alone and has no number. A passage is in the case if its text is there.
function shownTurns(turns, context) {
  const offsets = utf16Offsets(context, turns.flatMap((turn) => turn.passages).flatMap(({ start, end }) => [start, end]));
  const placed = ({ start, end, text, score }) => {
    const at = [offsets.get(start), offsets.get(end)];
    return { at: at[0] >= 0 && at[1] > at[0] && context.slice(...at) === text ? at : null, text, score };
  };
  const tools = turns.some(({ call }) => call);
  return turns.map(({ text, query, passages, notice, call }) => ({
    parts: blocks(text, tools), searched: query !== null && notice === null, passages: passages.map(placed), notice, call,
  }));
}
