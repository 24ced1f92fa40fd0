// What stands beside a cell of the matrix that is pointed at.

import { h } from "./dom.js";
import { basis, latencyText } from "./figures.js";
import { staleSince } from "./freshness.js";
import { named } from "./names.js";
import { count, duration, exact, lossOf, share, time } from "./units.js";

const pairName = ({ source, sink }) => `${named(source)} → ${named(sink)}`;

// Of a group of pairs, the worst ones are named.
function ofMembers({ members, slowest, lossiest }) {
  if (!members) return [];
  return [["pairs", exact(members)], ["slowest", pairName(slowest)], ...(lossiest ? [["lossiest", pairName(lossiest)]] : [])];
}

// What is usual for a pair that exceeds it.
function usualOf({ usual, members }, exceeded, name, text) {
  return usual?.[exceeded] && !members ? [["usually", text(usual[name])]] : [];
}

export function tipWords(source, sink, pair, name) {
  const title = h("strong", {}, `${name(source)} → ${name(sink)}`);
  if (!pair) return [title, h("span", { class: "dim" }, source === sink ? "the same node" : "no reports")];
  // Sums of groups come in few digits.
  const many = pair.members ? count : exact;
  const rows = [
    ["p50", latencyText(pair, pair.latency?.p50_ns)], ...(pair.members ? [] : [["p90", latencyText(pair, pair.latency?.p90_ns)]]), ["p99", latencyText(pair, pair.latency?.p99_ns)], ...usualOf(pair, "slower", "p99_ns", duration),
    ["loss", share(lossOf(pair))], ...usualOf(pair, "more_lost", "loss", share), ["lost", many(pair.lost)], ["packets", many(pair.packets)], ...(pair.members ? [] : [["flows", exact(pair.flows)]]), ["of", basis(pair)], ...ofMembers(pair),
  ];
  const since = staleSince(pair);
  return [title, since && h("span", { class: "old" }, `no report since ${time(since)}`) || "", h("dl", {}, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))];
}
