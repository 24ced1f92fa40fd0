// What stands beside a cell of the matrix that is pointed at.

import { h } from "./dom.js";
import { basis, latencyText } from "./figures.js";
import { staleSince } from "./freshness.js";
import { named } from "./names.js";
import { duration, exact, lossOf, share, time } from "./units.js";

const pairName = ({ source, sink }) => `${named(source)} → ${named(sink)}`;

// Of a group of pairs, the worst ones are named.
function ofMembers({ members, lost, slowest, lossiest }) {
  if (!members) return [];
  return [["pairs", exact(members)], ["slowest", pairName(slowest)], ...(lost > 0 ? [["lossiest", pairName(lossiest)]] : [])];
}

// What is usual for a pair that exceeds it.
function usualOf({ usual, members }, exceeded, name, text) {
  return usual?.[exceeded] && !members ? [["usually", text(usual[name])]] : [];
}

export function tipWords(source, sink, pair, name) {
  const title = h("strong", {}, `${name(source)} → ${name(sink)}`);
  if (!pair) return [title, h("span", { class: "dim" }, source === sink ? "the same node" : "no reports")];
  const rows = [
    ["p50", latencyText(pair, pair.latency?.p50_ns)], ["p90", latencyText(pair, pair.latency?.p90_ns)], ["p99", latencyText(pair, pair.latency?.p99_ns)], ...usualOf(pair, "slower", "p99_ns", duration),
    ["loss", share(lossOf(pair))], ...usualOf(pair, "more_lost", "loss", share), ["lost", exact(pair.lost)], ["packets", exact(pair.packets)], ["flows", exact(pair.flows)], ["of", basis(pair)], ...ofMembers(pair),
  ];
  const since = staleSince(pair);
  return [title, since && h("span", { class: "old" }, `no report since ${time(since)}`) || "", h("dl", {}, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))];
}
