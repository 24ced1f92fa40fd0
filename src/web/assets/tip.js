// What stands beside a cell of the matrix that is pointed at.

import { h } from "./dom.js";
import { basis, latencyText } from "./figures.js";
import { staleSince } from "./freshness.js";
import { named } from "./names.js";
import { exact, lossOf, share, time } from "./units.js";

const pairName = ({ source, sink }) => `${named(source)} → ${named(sink)}`;

// Of a group of pairs, the worst ones are named.
function ofMembers({ members, lost, slowest, lossiest }) {
  if (!members) return [];
  return [["pairs", exact(members)], ["slowest", pairName(slowest)], ...(lost > 0 ? [["lossiest", pairName(lossiest)]] : [])];
}

export function tipWords(source, sink, pair, name) {
  const title = h("strong", {}, `${name(source)} → ${name(sink)}`);
  if (!pair) return [title, h("span", { class: "dim" }, source === sink ? "the same node" : "no reports")];
  const rows = [
    ["p50", latencyText(pair, pair.latency?.p50_ns)], ["p90", latencyText(pair, pair.latency?.p90_ns)], ["p99", latencyText(pair, pair.latency?.p99_ns)],
    ["loss", share(lossOf(pair))], ["lost", exact(pair.lost)], ["packets", exact(pair.packets)], ["flows", exact(pair.flows)], ["of", basis(pair)], ...ofMembers(pair),
  ];
  const since = staleSince(pair);
  return [title, since && h("span", { class: "old" }, `no report since ${time(since)}`) || "", h("dl", {}, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))];
}
