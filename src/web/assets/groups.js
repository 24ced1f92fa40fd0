// The matrix by what hosts have in common: which groupings there are, which of them is shown first, and rows of groups.

import { basisOf, quantiles } from "./figures.js";

// Stand in the address for groupings that are by no label: each host by itself, the worst hosts, and classes of flows.
export const [HOST, HOSTS, CLASS] = ["(host)", "(hosts)", "(class)"];

// Of more hosts the first view is of groups, or else of the worst hosts.
const FEW_HOSTS = 50;
const MOST_GROUPS = 50;
// Rows of tables beside groups.
const WORST = 40;

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

// The grouping that an address without one means: of the labels that most hosts have, the one with most groups that fit.
export function usualGrouping(labels, hosts) {
  if (hosts <= FEW_HOSTS) return HOST;
  const sizes = [...labels].filter(([, values]) => 2 * values.size >= hosts).map(([key, values]) => [key, new Set(values.values()).size]);
  const fitting = sizes.filter(([, size]) => size <= MOST_GROUPS).toSorted(([, a], [, b]) => b - a);
  return fitting[0]?.[0] ?? HOSTS;
}

// All groupings with their names.
export function groupings(labels, hosts, hasClasses) {
  const worst = hosts > FEW_HOSTS ? [[HOSTS, "worst hosts"]] : [];
  const classes = hasClasses ? [[CLASS, "by class"]] : [];
  return [[HOST, "by host"], ...worst, ...[...labels.keys()].map((key) => [key, `by ${key}`]), ...classes];
}

// What is asked of pairs for a grouping: those of many hosts are all asked for only if the user chose so.
export function askedPairs(by, ends, metric, hosts) {
  const worst = { metric, limit: WORST };
  if (by === HOST) return {};
  if (by === CLASS) return hosts > FEW_HOSTS ? worst : {};
  if (by === HOSTS) return { by: "host", ...worst };
  return ends ? { by, from: ends[0], to: ends[1] } : { by, ...worst };
}

// A group as it comes: packets and losses are sums; latencies are those of one pair, because quantiles do not add up.
export function groupOf({ source, sink, pairs, packets, lost, of_source, of_sink, p50_ns, p99_ns, lossiest, more_lost, slower, last_ns, ...known }) {
  return {
    source, sink, members: pairs, packets, lost, latency: quantiles({ p50_ns, p99_ns }), last_ns: last_ns ?? undefined,
    ...basisOf(known),
    slowest: { source: of_source, sink: of_sink },
    lossiest: lossiest ? { source: lossiest[0], sink: lossiest[1] } : undefined,
    usual: more_lost || slower ? { more_lost, slower } : undefined,
  };
}

// Hosts with all packets to them and from them, in the order of the groups.
export function hostsWithBoth(groups) {
  const hosts = new Map();
  for (const group of groups) {
    const node = group.source ?? group.sink;
    hosts.set(node, { ...hosts.get(node), node, [group.source === null ? "to" : "from"]: group });
  }
  return [...hosts.values()];
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
