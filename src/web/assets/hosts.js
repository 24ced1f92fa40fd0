// What hosts do and what is wrong with them, in words.

import { ms } from "./api.js";
import { severity } from "./colour.js";
import { GONE } from "./freshness.js";
import { named } from "./names.js";
import { ago, exact, share, time } from "./units.js";

// What is reported by each address of a host, as one.
export function hostsOf(status) {
  const hosts = new Map();
  const also = (rows, what) => new Map((rows ?? []).map(({ node }) => [String(node), what]));
  const [drops, tcp] = [also(status.drops, "drops"), also(status.tcp, "TCP connections")];
  for (const one of status.exporters) {
    const key = one.node === null ? one.exporter : String(one.node);
    const host = hosts.get(key) ?? { key, node: one.node, name: one.node === null ? one.exporter : named(one.node), all: [], reports: 0, lost: 0, last: 0, reporting: false };
    host.all.push(one);
    host.reports += Number(one.reports);
    host.lost += Number(one.lost);
    host.last = Math.max(host.last, ms(one.last_seen_ns));
    host.reporting ||= one.reporting;
    host.kinds = ["packets", drops.get(key), tcp.get(key)].filter(Boolean);
    hosts.set(key, host);
  }
  return [...hosts.values()];
}

const first = (host, field) => host.all.find((one) => one[field] !== null && one[field] !== undefined)?.[field];
const listed = (words) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words.join(""));

function clockWords(host) {
  const kept = first(host, "clock_synchronised");
  const clock = first(host, "clock");
  const of = clock === "tai" ? "clock TAI" : clock ? `clock ${clock}` : "clock";
  return `${of}, ${kept === undefined ? "state unknown" : kept ? "synchronised" : "not synchronised"}`;
}

// What a host does, in a sentence.
export function sentence(host, at) {
  const version = first(host, "version");
  return [
    host.reporting ? `Reports ${listed(host.kinds)}` : `Reported ${listed(host.kinds)} until ${time(host.last)}`,
    version && `runs hostint ${version}`, host.reporting && `last seen ${ago(at - host.last)}`, clockWords(host),
  ].filter(Boolean).join("; ").concat(".");
}

const losesReports = ({ lost, reports }) => severity("loss", lost / Math.max(1, lost + reports)) !== undefined;

// What is wrong with a host, in words.
export function troubles(host, at) {
  const found = [];
  if (!host.reporting) found.push(`silent for ${ago(at - host.last).replace(" ago", "")}`);
  if (losesReports(host)) found.push(`${exact(host.lost)} of its reports were lost (${share(host.lost / (host.lost + host.reports))})`);
  for (const one of host.all) {
    if (one.name_contested) found.push("another host claims its name");
    if (one.unnumbered > 0) found.push("does not number its reports, so losses are unknown");
    for (const { part, missing } of one.lacks ?? []) {
      if (missing) found.push(`does not know ${missing}: its kernel lacks or refuses ${part}`);
    }
  }
  return [...new Set(found)];
}

// Hosts that lose reports, or are silent and still expected to report.
export const inTrouble = (status) => hostsOf(status).filter((host) => (host.reporting ? losesReports(host) : ms(status.now_ns) - host.last < GONE));

// Its labels, and what else there is to know.
export function labelsText(host) {
  const labels = Object.assign({}, ...host.all.map((one) => one.labels ?? {}));
  return Object.entries(labels).map(([key, value]) => `${key} ${value}`).join(", ");
}
