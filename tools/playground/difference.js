// SPDX-License-Identifier: Apache-2.0
// The lines that differ between two texts, by the algorithm of Myers (1986).

/** Maximum number of differing lines that are aligned; texts that differ more are shown as replaced. Memory is quadratic in it. */
const MAX_DIFFERENCES = 1000;

/** Returns a list of ["=", i, j], ["-", i] and ["+", j], with indices of lines of the two texts. */
function difference(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (count, i, j) => Array.from({ length: count }, (_, at) => ["=", i + at, j + at]);
  const [n, m] = [before.length - start - end, after.length - start - end];
  const middle = alignment(n, m, (i, j) => before[start + i] === after[start + j]);
  const moved = middle.map(([kind, ...lines]) => [kind, ...lines.map((line) => line + start)]);
  return [...same(start, 0, 0), ...moved, ...same(end, start + n, start + m)];
}

/** The shortest edit of n lines to m lines. Round d has the furthest i on each diagonal k = i - j after d edits. */
function alignment(n, m, equal) {
  const furthest = new Map([[1, 0]]);
  const rounds = [];
  for (let d = 0; d <= Math.min(n + m, MAX_DIFFERENCES); d += 1) {
    rounds.push(new Map(furthest));
    for (let k = -d; k <= d; k += 2) {
      let i = isInsertion(furthest, d, k) ? furthest.get(k + 1) : furthest.get(k - 1) + 1;
      while (i < n && i - k < m && equal(i, i - k)) i += 1;
      furthest.set(k, i);
      if (i >= n && i - k >= m) return edits(rounds, n, m);
    }
  }
  const all = (kind, count) => Array.from({ length: count }, (_, at) => [kind, at]);
  return [...all("-", n), ...all("+", m)];
}

const isInsertion = (furthest, d, k) => k === -d || (k !== d && furthest.get(k - 1) < furthest.get(k + 1));

/** The edits that reach the ends, found backwards. */
function edits(rounds, n, m) {
  const reversed = [];
  let [i, j] = [n, m];
  for (let d = rounds.length - 1; d >= 0; d -= 1) {
    const insertion = isInsertion(rounds[d], d, i - j);
    const k = insertion ? i - j + 1 : i - j - 1;
    const from = rounds[d].get(k);
    while (i > from && j > from - k) reversed.push(["=", --i, --j]);
    if (d > 0) reversed.push(insertion ? ["+", --j] : ["-", --i]);
  }
  return reversed.reverse();
}
