// The matrix by a label of hosts, such as rack or zone: pairs of hosts become pairs of groups.

import { lossOf } from "./units.js";

// What a host without the label is under.
const NONE = "(none)";

// The labels that hosts report, by key: the value of each node.
export function labelsOf(status) {
  const labels = new Map();
  for (const { node, labels: own } of status?.exporters ?? []) {
    if (node === null) continue;
    for (const [key, value] of Object.entries(own ?? {})) {
      if (!labels.has(key)) labels.set(key, new Map());
      labels.get(key).set(String(node), value);
    }
  }
  // One value for all separates nothing.
  return new Map([...labels].filter(([, values]) => new Set(values.values()).size > 1).toSorted(([a], [b]) => a.localeCompare(b)));
}

export const groupOf = (values, node) => values.get(String(node)) ?? NONE;

const sum = (a, b) => (a === null || b === null ? null : (a ?? 0) + (b ?? 0));
const slower = (a, b) => (b.latency?.p99_ns ?? -Infinity) > (a.latency?.p99_ns ?? -Infinity);

// What is unusual for one pair is so for its group.
function unusual(...all) {
  const found = { more_lost: all.some((one) => one?.more_lost), slower: all.some((one) => one?.slower) };
  return found.more_lost || found.slower ? found : undefined;
}

// Packets and losses are sums; a latency is that of the slowest pair, because quantiles do not add up.
export function grouped(pairs, values) {
  const groups = new Map();
  for (const pair of pairs) {
    const [source, sink] = [groupOf(values, pair.source), groupOf(values, pair.sink)];
    const key = JSON.stringify([source, sink]);
    const known = groups.get(key);
    if (!known) {
      groups.set(key, { ...pair, source, sink, members: 1, slowest: pair, lossiest: pair, usual: unusual(pair.usual) });
      continue;
    }
    for (const name of ["flows", "reports", "packets", "lost", "reordered"]) known[name] = sum(known[name], pair[name]);
    known.members += 1;
    known.usual = unusual(known.usual, pair.usual);
    if (slower(known.slowest, pair)) {
      known.slowest = pair;
      for (const name of ["latency", "clocks", "ofReports", "error"]) known[name] = pair[name];
    }
    if (lossOf(pair) > lossOf(known.lossiest)) known.lossiest = pair;
    if (Number(pair.last_ns) > Number(known.last_ns)) known.last_ns = pair.last_ns;
  }
  return [...groups.values()];
}

// "r1>r2" in an address, for the pairs of two groups.
export const within = ({ source, sink }) => `${encodeURIComponent(source)}>${encodeURIComponent(sink)}`;

export function readWithin(text) {
  const parts = text.split(">");
  if (parts.length !== 2) return undefined;
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

// The pairs from hosts of one group to those of another.
export function pairsWithin(pairs, values, [source, sink]) {
  return pairs.filter((pair) => groupOf(values, pair.source) === source && groupOf(values, pair.sink) === sink);
}
