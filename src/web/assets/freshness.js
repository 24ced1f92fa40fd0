// Freshness: which hosts report, and since when a row or the whole page shows old data.

import { ms, now } from "./api.js";
import { h } from "./dom.js";
import { nodeNamed } from "./names.js";
import { link, state } from "./state.js";
import { exact, time } from "./units.js";

// Used for sinks that the collector does not know.
const SILENT = 60_000;
const MOST_NAMED = 3;

// A host that was silent for a day is not expected to report any more.
export const GONE = 86_400_000;

// By node: the time of the last report, and after which silence the node counts as silent.
let nodes = new Map();

export function learn(status) {
  nodes = new Map();
  for (const one of status.exporters) {
    const known = nodes.get(String(one.node));
    const last = Math.max(known?.last ?? 0, ms(one.last_seen_ns));
    nodes.set(String(one.node), { last, after: ms(one.silent_after_ns), reporting: Boolean(one.reporting || known?.reporting) });
  }
}

export function isSilent(node) {
  return nodes.get(String(node))?.reporting === false;
}

// The time of a row's last report if that is old, though the page shows the present.
export function staleSince({ sink, last_ns: last }) {
  if (!last || state().range === "custom") return undefined;
  const after = nodes.get(String(sink))?.after || SILENT;
  return now() - ms(last) > after ? ms(last) : undefined;
}

// The same in words, above the figures of a pair or flow.
export function staleNote(row) {
  const since = row && staleSince(row);
  return since && h("p", { class: "old", role: "note" }, `No report since ${time(since)}: these figures are old.`);
}

// The names of silent hosts with the time of the last report, newest first. A host may report from several addresses.
function silentHosts(status) {
  const hosts = new Map();
  for (const one of status.exporters) {
    const key = one.node === null ? one.exporter : String(one.node);
    const known = hosts.get(key) ?? { name: one.node === null ? one.exporter : nodeNamed(one.node), last: 0, reporting: false };
    hosts.set(key, { ...known, last: Math.max(known.last, ms(one.last_seen_ns)), reporting: known.reporting || one.reporting });
  }
  const silent = [...hosts.values()].filter(({ last, reporting }) => !reporting && ms(status.now_ns) - last < GONE);
  return silent.toSorted((a, b) => b.last - a.last).map(({ name, last }) => [name, last]);
}

// "5 of 6 hosts report", and the names of those that do not.
export function hostsLine(status) {
  const { hosts_known: known, hosts_reporting: reporting } = status;
  const named = silentHosts(status).slice(0, MOST_NAMED).map(([name, last]) => `${name} silent since ${time(last)}`);
  const more = known - reporting - named.length;
  const words = [`${exact(reporting)} of ${exact(known)} ${known === 1 ? "host reports" : "hosts report"}`, ...(reporting < known ? named : []), ...(more > 0 ? [`${more} more silent`] : [])];
  return h("a", { href: link({ view: "hosts" }), class: reporting < known ? "trouble" : "dim" }, words.join(" · "));
}
