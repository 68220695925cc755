// Diff of two texts: aligns their lines and sentences by similarity and marks changed words.
// It is lossless: the left sides of all rows give the left text, the right sides the right text.
const LARGEST = 250_000; // above this number of sentence pairs, rows are aligned by position

// A line's number, such as "1. " or "(2) ", and what ends with a period inside a sentence: it stays with what follows.
const STEP = /^\s*(?:\p{L}+ )?\(?\d{1,3}[.)][.)]?\s+$/u;
const ABBREVIATED = /(?:^|[\s(])(?:\p{L}|[Dd]r|[Mm]rs?|[Mm]s|[Pp]rof|[Ss]t|[Nn]os?|[Ff]igs?|[Aa]rts?|[Pp]aras?|[Ss]ec|[Ee]q|[Vv]ol|[Cc]a|[Aa]pprox|[Vv]s|[Cc]f|al|e\.g|i\.e)\.\s+$/u;

function sentences(text) {
  const found = [];
  for (const line of text.split(/(?<=\n)/)) {
    let open = "";
    for (const piece of line.length > 240 ? line.split(/(?<=[.!?]["'”’)\]]*\s+)(?=[^\s\p{Ll}])/u) : [line]) {
      open += piece;
      if (STEP.test(open) || ABBREVIATED.test(open)) continue;
      found.push(open);
      open = "";
    }
    if (open) found.push(open);
  }
  return found;
}

// Words, whole: dates; numbers with sign, separators, currency and percent sign; what is joined by signs, such as units.
const MONTH = String.raw`(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)(?![\p{L}\p{M}])\.?`;
const DAY = String.raw`\d{1,2}(?:st|nd|rd|th)?(?![\p{L}\p{N}])`, YEAR = String.raw`\d{4}(?!\p{N})`, SPACE = String.raw`[ \u00a0]`;
const SIGN = String.raw`(?:(?<![\p{L}\p{M}\p{N}_)\]])[-+−±](?=[$€£¥]?\p{N}))?[$€£¥]?`;
const PART = String.raw`(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}_])+`, JOINT = String.raw`(?:[-‐‑–−/·^'’⁻×]|(?<=\p{N})[.,:](?=\p{N}))`;
const WORDS = new RegExp([
  `${DAY}${SPACE}(?:of${SPACE})?${MONTH}(?:,?${SPACE}${YEAR})?`,
  `${MONTH}${SPACE}(?:${DAY}(?:,?${SPACE}${YEAR})?|${YEAR})`,
  String.raw`\d{4}年(?:\d{1,2}月)?(?:\d{1,2}日)?|\d{1,2}月(?:\d{1,2}日)?`,
  String.raw`\p{Script=Han}`,
  String.raw`${SIGN}${PART}(?:${JOINT}${PART})*(?:(?<=\p{N})[%‰°])?`,
  String.raw`\s+`,
  String.raw`[^\p{L}\p{M}\p{N}_\s]`,
].join("|"), "gu");

function words(text) {
  return text.match(WORDS) ?? [];
}

// For each word of both lists, whether it is in their longest common subsequence.
function common(left, right) {
  let start = 0, end = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  while (end < left.length - start && end < right.length - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  const kept = [left.map((_, i) => i < start || i >= left.length - end), right.map((_, i) => i < start || i >= right.length - end)];
  const n = left.length - start - end, m = right.length - start - end;
  if (!n || !m || n * m > LARGEST * 16) return kept;
  const length = new Uint32Array((n + 1) * (m + 1));
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      length[i * (m + 1) + j] = left[start + i] === right[start + j]
        ? length[(i + 1) * (m + 1) + j + 1] + 1
        : Math.max(length[(i + 1) * (m + 1) + j], length[i * (m + 1) + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < n && j < m;) {
    if (left[start + i] === right[start + j]) { kept[0][start + i++] = true; kept[1][start + j++] = true; }
    else if (length[(i + 1) * (m + 1) + j] >= length[i * (m + 1) + j + 1]) i++;
    else j++;
  }
  return kept;
}

// Dice similarity of two bags of words: 1 for equal sentences, 0 without a common word.
function similarity(left, right) {
  let shared = 0;
  for (const [word, count] of left.counts) shared += Math.min(count, right.counts.get(word) ?? 0);
  return left.size + right.size ? (2 * shared) / (left.size + right.size) : 1;
}

function counted(text) {
  const counts = new Map(), found = words(text.toLowerCase()).filter((word) => word.trim());
  for (const word of found) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { text, counts, size: found.length };
}

// Rows [left, right] of sentences in order; "" where one side has nothing.
function aligned(left, right) {
  const a = sentences(left), b = sentences(right), head = [], tail = [];
  while (a.length && b.length && a[0] === b[0]) head.push([a.shift(), b.shift()]);
  while (a.length && b.length && a.at(-1) === b.at(-1)) tail.unshift([a.pop(), b.pop()]);
  if (!a.length || !b.length || a.length * b.length > LARGEST) {
    const rest = Array.from({ length: Math.max(a.length, b.length) }, (_, i) => [a[i] ?? "", b[i] ?? ""]);
    return [...head, ...rest, ...tail];
  }
  const x = a.map(counted), y = b.map(counted), m = y.length;
  const similar = x.map((one) => y.map((other) => { const value = similarity(one, other); return value > 0.35 ? value : 0; }));
  const best = Array.from({ length: x.length + 1 }, () => new Float64Array(m + 1));
  for (let i = x.length - 1; i >= 0; i--)
    for (let j = m - 1; j >= 0; j--)
      best[i][j] = Math.max(best[i + 1][j], best[i][j + 1], similar[i][j] ? best[i + 1][j + 1] + similar[i][j] : 0);
  const rows = [];
  let waiting = [[], []];
  const flush = () => {
    for (let k = 0; k < Math.max(waiting[0].length, waiting[1].length); k++) rows.push([waiting[0][k] ?? "", waiting[1][k] ?? ""]);
    waiting = [[], []];
  };
  let i = 0, j = 0;
  while (i < x.length && j < m) {
    if (similar[i][j] && best[i][j] === best[i + 1][j + 1] + similar[i][j]) { flush(); rows.push([a[i++], b[j++]]); }
    else if (best[i][j] === best[i + 1][j]) waiting[0].push(a[i++]);
    else waiting[1].push(b[j++]);
  }
  waiting[0].push(...a.slice(i));
  waiting[1].push(...b.slice(j));
  flush();
  return [...head, ...rows, ...tail];
}

// The changed parts of both sides of a row, as spans [start, end]. Space is marked between changed words, and alone only
// if nothing else differs.
function changes([left, right]) {
  if (!left || !right || left === right) return [[], []];
  const sides = [words(left), words(right)], kept = common(...sides);
  const isSpace = (word) => !word?.trim(); // also beyond the end
  const spansOf = (marked) => sides.map((side, index) => {
    const spans = [];
    let offset = 0;
    side.forEach((word, i) => {
      const last = spans.at(-1);
      if (marked(index, i) && last && last[1] === offset) last[1] += word.length;
      else if (marked(index, i)) spans.push([offset, offset + word.length]);
      offset += word.length;
    });
    return spans;
  });
  const differs = (index, i) => !kept[index][i] && !isSpace(sides[index][i]);
  const spans = spansOf((index, i) => differs(index, i) || (isSpace(sides[index][i]) && i > 0 && differs(index, i - 1) && differs(index, i + 1)));
  return spans.flat().length ? spans : spansOf((index, i) => !kept[index][i]);
}
