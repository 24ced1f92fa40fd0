// TCP connections: what limits them over time, sums by limit and by pair, and single connections.

import { ask, ms } from "./api.js";
import { severity } from "./colour.js";
import { h, panel } from "./dom.js";
import { named } from "./names.js";
import { stackedChart } from "./stacked.js";
import { go, link, setAbove } from "./state.js";
import { Table, flowName } from "./tables.js";
import { bytes, count, duration, endpoint, exact, share, time } from "./units.js";

const MOST_ROWS = 200;
const MOST_PAIRS = 50;

// In the order of the API.
const LIMITS = ["application", "receiver", "send-buffer", "host-queue", "path", "unknown"];
const WORDS = { application: "application", receiver: "receiver", "send-buffer": "send buffer", "host-queue": "host's queue", path: "path", unknown: "not known" };
const TITLES = {
  application: "the application gives nothing to send", receiver: "the receiver's window is full", "send-buffer": "the send buffer is too small",
  "host-queue": "data waits in the host's own queues", path: "congestion control: the path takes no more", unknown: "the kernel's figures do not show it",
};

export const limitClass = (limit) => `limit-${limit}`;

export function limitTag(limit) {
  return h("span", { class: "limit", title: TITLES[limit] }, h("i", { class: limitClass(limit) }), WORDS[limit] ?? limit);
}

const us = (value) => duration(value === undefined || value === null ? undefined : value * 1000);
const total = (times) => Object.values(times).reduce((sum, one) => sum + Number(one), 0);

// What INT counted of a connection beside what TCP sent again, in a few words.
export function besideText({ tcp, int }) {
  const again = `${exact(tcp.total_retrans)} of ${exact(tcp.data_segments_out)} segments sent again`;
  if (int.unknown === "not-ended") return again;
  if (int.unknown) return `${again} · INT's loss beside it is not known: ${REASONS[int.unknown] ?? int.unknown}`;
  const parts = [`TCP sent ${exact(tcp.total_retrans)} segments again, INT misses ${exact(int.lost)}`];
  if (int.unseen > 0) parts.push(`and did not see ${exact(int.unseen)}`);
  if (int.dropped_behind_strip > 0) parts.push(`the receiving host dropped ${exact(int.dropped_behind_strip)}`);
  const verdict = int.spurious_least > 0 ? `at least ${exact(int.spurious_least)} were for nothing: their segments had arrived` : "all may have been needed";
  return Number(tcp.total_retrans) > 0 ? `${parts.join(", ")}: ${verdict}` : parts.join(", ");
}

function hopState(worst) {
  const link = worst.link_gbit_s === undefined ? "" : ` of ${exact(worst.link_gbit_s)}`;
  const free = worst.free_gbit_s === undefined ? "" : `${exact(worst.free_gbit_s)}${link} Gbit/s free`;
  return worst.queue_bytes === undefined ? free : `queue of ${bytes(Number(worst.queue_bytes))}`;
}

// What TCP option 114 told of the worst hop, in a few words. Numbers come as such or as text.
export function worstHop(worst) {
  if (!worst) return undefined;
  const node = worst.node === undefined ? "" : ` (${named(worst.node)})`;
  return [`hop ${worst.hop}${node}`, hopState(worst), `${duration(Number(worst.latency_ns))} in all hops`].filter(Boolean).join(", ");
}

const REASONS = {
  "begun-before": "it began before its host looked", "end-unseen": "its end was not seen",
  "not-measured": "INT did not count all packets of its flow", "other-packets": "other packets had its addresses and ports",
};

function limitTable(sums, chosen) {
  const all = sums.reduce((sum, one) => sum + total(one.limited_us), 0);
  const heads = [["limited by", "left"], ["time"], ["connections"], ["open"], ["acknowledged"], ["received"], ["retrans."], ["spurious"], ["timeouts"]];
  return h("div", { class: "scroll" }, h("table", { class: "rows", "aria-label": "Connections by what limits them" },
    h("thead", {}, h("tr", {}, heads.map(([name, left]) => h("th", { scope: "col", class: left }, name)))),
    h("tbody", {}, sums.map((one) => h("tr", { class: one.limited === chosen ? "open" : undefined },
      h("th", { scope: "row", class: "left" }, h("a", { href: link({ limited: one.limited === chosen ? "" : one.limited }) }, limitTag(one.limited))),
      h("td", {}, all > 0 ? share(total(one.limited_us) / all) : "–"), sumCells(one))))));
}

function sumCells(one) {
  return [["connections", count], ["open", count], ["bytes_acked", (value) => bytes(Number(value))], ["bytes_received", (value) => bytes(Number(value))],
    ["retransmitted_segments", count], ["spurious_segments", count], ["timeouts", count]].map(([name, text]) => h("td", { title: exact(one[name]) }, text(one[name])));
}

// Which part of the time each thing limited the connections of a pair, the most first.
function timesOf(times) {
  const all = total(times);
  const parts = Object.entries(times).map(([name, time]) => [name.replace("_", "-"), Number(time) / all]).toSorted(([, a], [, b]) => b - a);
  return parts.map(([name, part]) => [limitTag(name), ` ${share(part)} `]);
}

function pairRows(sums) {
  const heads = [["host", "left"], ["peer", "left"], ["limited by", "left"], ["connections"], ["open"], ["acknowledged"], ["received"], ["retrans."], ["spurious"], ["timeouts"]];
  return h("div", { class: "scroll" }, h("table", { class: "rows", "aria-label": "Connections by pair" },
    h("thead", {}, h("tr", {}, heads.map(([name, left]) => h("th", { scope: "col", class: left }, name)))),
    h("tbody", {}, sums.slice(0, MOST_PAIRS).map((one) => h("tr", {}, h("th", { scope: "row", class: "left" }, named(one.node)),
      h("td", { class: "left" }, endpoint(one.peer)), h("td", { class: "left" }, timesOf(one.limited_us)), sumCells(one))))));
}

// Which hop is the worst of how many connections, since when.
function hopTable({ connections, hops }) {
  const heads = [["worst hop", "left"], ["since", "left"], ["until", "left"], ["worst state", "left"], ["in all hops"], ["connections"]];
  return h("div", { class: "scroll" }, h("table", { class: "rows", "aria-label": "Connections by worst hop" },
    h("thead", {}, h("tr", {}, heads.map(([name, left]) => h("th", { scope: "col", class: left }, name)))),
    h("tbody", {}, hops.slice(0, MOST_PAIRS).map((one) => h("tr", {},
      h("th", { scope: "row", class: "left" }, one.node === undefined ? `hop ${one.hop}, node not known` : named(one.node)),
      h("td", { class: "left" }, time(ms(one.first_ns))), h("td", { class: "left" }, time(ms(one.last_ns))), h("td", { class: "left" }, hopState(one.worst)),
      h("td", {}, duration(Number(one.worst.latency_ns))), h("td", { title: `of ${exact(connections)} whose hops reported anything` }, `${count(one.connections)} of ${count(connections)}`))))));
}

const COLUMNS = [
  { name: "connection", left: true, of: flowName, exactly: (row) => (row.flow_id === undefined ? "INT did not measure its segments" : "to its flow") },
  { name: "host", left: true, of: (row) => named(row.node) },
  { name: "state", left: true, of: (row) => row.state },
  { name: "limited by", left: true, of: (row) => limitTag(row.limited) },
  { name: "rtt", key: "rtt", title: "smoothed round-trip time of the last state", of: (row) => us(row.tcp.srtt_us) },
  { name: "least rtt", of: (row) => us(row.tcp.min_rtt_us) },
  { name: "acknowledged", key: "bytes", of: (row) => bytes(Number(row.tcp.bytes_acked)), exactly: (row) => `${exact(row.tcp.bytes_acked)} B` },
  { name: "received", of: (row) => bytes(Number(row.tcp.bytes_received)), exactly: (row) => `${exact(row.tcp.bytes_received)} B` },
  { name: "retrans.", key: "retransmitted", title: "segments that were sent again", of: (row) => count(row.tcp.total_retrans), exactly: (row) => `${exact(row.tcp.total_retrans)} of ${exact(row.tcp.data_segments_out)}`, trouble: (row) => severity("again", Number(row.tcp.total_retrans) / Number(row.tcp.data_segments_out)) },
  { name: "spurious", title: "segments that the receiver says it had before", of: (row) => count(row.tcp.dsack_dups) },
  { name: "INT lost", title: "segments that INT misses, of an ended connection that was seen whole", of: (row) => (row.int.unknown ? "–" : count(row.int.lost)), exactly: besideText },
  { name: "worst hop", left: true, title: "the hop of the path with the longest queue or the least free bandwidth, as TCP option 114 had it before the last state", of: (row) => worstHop(row.option?.worst) ?? "–" },
  { name: "last state", key: "newest", of: (row) => time(ms(row.time_ns)) },
];

export const connectionTable = () => new Table("TCP connections", COLUMNS, {
  href: (row) => (row.flow_id === undefined ? undefined : link({ view: "flow", flow: String(row.flow_id) })),
  sort: (order) => go({ view: "tcp", order }),
});

// A silent one is marked as old.
export const connectionRows = (connections) => connections.map((one) => ({ ...one, sink: one.node, last_ns: one.state === "silent" ? one.time_ns : undefined }));

export class TcpView {
  constructor() {
    this.chart = h("div", {});
    this.limits = h("div", {});
    this.pairs = h("div", {});
    this.hops = h("div", {});
    this.hopPanel = panel("By worst hop", null, this.hops);
    this.note = h("p", { class: "dim" });
    this.table = connectionTable();
    this.none = h("p", { class: "none", hidden: true }, "No host reported TCP connections in this period: ", h("code", {}, "hostint tcp --collector"), " does.");
    this.parts = [panel("What limits connections", null, this.chart, this.limits), this.hopPanel, panel("By pair", null, this.pairs), panel("Connections", this.note, this.table.element)];
    this.element = h("div", { class: "view stack" }, this.none, this.parts);
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const asked = { limited: shown.limited, order: shown.order, limit: MOST_ROWS };
    const [found, pairs] = await Promise.all([ask("tcp", span, asked, signal), ask("tcp", span, { by: "pair", limit: 1 }, signal)]);
    this.none.hidden = found.sums.length > 0;
    for (const part of this.parts) part.hidden = !found.sums.length;
    this.chart.replaceChildren(...stackedChart({
      points: found.series.points.map((point) => [point.begin_ns, point.limited, Number(point.us)]), period: found.series.period_ns, span, most: LIMITS.length,
      classOf: limitClass, text: us, note: (most) => `at most ${us(most)} of connection time in ${duration(Number(found.series.period_ns))}`, label: "Time of connections by what limits them",
    }));
    this.limits.replaceChildren(limitTable(found.sums, shown.limited));
    this.pairs.replaceChildren(pairRows(pairs.sums));
    this.hopPanel.hidden = !found.hops.hops.length;
    this.hops.replaceChildren(hopTable(found.hops));
    const words = { retransmitted: "most retransmissions", bytes: "most bytes", rtt: "longest round-trip time", newest: "newest state" };
    const which = shown.limited && `limited by ${WORDS[shown.limited]}`;
    const connections = found.connections.length === MOST_ROWS ? `the first ${MOST_ROWS}` : found.connections.length;
    this.note.replaceChildren(`${[connections, which].filter(Boolean).join(" ")}, ${words[shown.order]} first`,
      ...(which ? [" · ", h("a", { href: link({ limited: "" }) }, "all connections")] : []));
    this.table.update(connectionRows(found.connections), { sorted: shown.order, none: which ? `No connections ${which} in this period.` : "No connections in this period." });
  }
}
