// Diff of two texts: aligns their lines and sentences by similarity and marks changed words.
// It is lossless: the left sides of all rows give the left text, the right sides the right text.
const LARGEST = 250_000; // above this number of sentence pairs, rows are aligned by position

function sentences(text) {
  return text.split(/(?<=\n)/).flatMap((line) => (line.length > 240 ? line.split(/(?<=[.!?]["'”’)\]]*\s+)(?=\S)/) : [line]));
}

function words(text) {
  return text.match(/\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{N}_])+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
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

// The changed parts of both sides of a row, as spans [start, end].
function changes([left, right]) {
  if (!left || !right || left === right) return [[], []];
  const sides = [words(left), words(right)], kept = common(...sides);
  return sides.map((side, index) => {
    const spans = [], joined = (i) => side[i].trim() === "" && i > 0 && kept[index][i - 1] === false && kept[index][i + 1] === false;
    kept[index] = kept[index].map((same, i) => same && !joined(i));
    let offset = 0;
    side.forEach((word, i) => {
      const last = spans.at(-1);
      if (!kept[index][i] && last && last[1] === offset) last[1] += word.length;
      else if (!kept[index][i]) spans.push([offset, offset + word.length]);
      offset += word.length;
    });
    return spans;
  });
}
