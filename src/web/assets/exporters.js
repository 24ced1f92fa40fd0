// Exporters and their lost reports, and the counts of the collector.

import { ms, now } from "./api.js";
import { CoverageTable } from "./coverage.js";
import { MxPanel } from "./mx_pairs.js";
import { h, panel } from "./dom.js";
import { named } from "./names.js";
import { setAbove } from "./state.js";
import { ago, bytes, count, exact, time } from "./units.js";

// The problems of an exporter, in words.
export function troubles(exporter) {
  const found = [];
  if (!exporter.reporting) found.push(`silent since ${time(ms(exporter.last_seen_ns))}`);
  if (exporter.name_contested) found.push("another host claims its name");
  if (exporter.unnumbered > 0) found.push("does not number its reports, so losses are unknown");
  if (exporter.lost > 0) found.push("reports lost");
  if (exporter.clock_synchronised === false) found.push("clock not synchronised");
  for (const { part, missing } of exporter.lacks ?? []) {
    if (missing) found.push(`does not know ${missing}: its kernel lacks or refuses ${part}`);
  }
  return found;
}

// Version, labels, and whether only DNS knows its name.
function aboutNode({ version, labels, name_origin: origin }) {
  return [origin === "dns" && "name from DNS", version && `hostint ${version}`, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)].filter(Boolean).join(", ") || undefined;
}

const COUNTS = [
  ["datagrams", "Datagrams taken from sockets"], ["socket_drops", "Datagrams that the kernel dropped because the socket buffer was full", true],
  ["receive_errors", "Receive calls that failed", true], ["probes", "Probes: datagrams with which sinks ask whether the collector is there"],
  ["probes_unanswered", "Probes whose answer could not be sent", true], ["queue_drops", "Datagrams dropped because the queue to the decoder was full", true],
  ["undecodable", "Datagrams that held no readable report", true], ["reports_refused", "Individual reports that could not be read", true], ["reports", "Individual reports"],
  ["reports_lost", "Numbers missing from the exporters' sequences", true], ["reports_duplicate", "Reports that had been received before"],
  ["reports_unnumbered", "Reports of exporters that do not number them: the number of the one before, and another content"],
  ["mx_incomplete", "Reports about packets in INT-MX of which a transit hop of the flow reported nothing"],
  ["mx_without_sink", "Packets in INT-MX that transit hops reported, and no sink"],
  ["drop_counts_untracked", "Counts of dropped packets for which there was no room"],
  ["queue_reports_untracked", "Reports of episodes of queues beyond the limit of followed ones"],
  ["summaries_repeated", "Summaries of classes that fell silent, which only repeat the ones before, in case those were lost"],
  ["summaries_incomplete", "Summaries that lost a part on the way; the next one has their packets", true], ["summaries_untracked", "Summaries of flows, source nodes and classes beyond the limit of followed ones", true],
  ["connections_untracked", "Reports of TCP connections beyond the limit of followed ones", true],
  ["clock_contradictions", "Contradictions between the clocks of nodes: a stamp was false, or a crystal drifts more than any should", true],
  ["lines", "Lines written"], ["lines_lost", "Lines that could not be written", true],
  ["stored", "Reports that are in the store"], ["rolled_up_only", "Reports that are only in the store's figures, because they came too fast to be written singly", true],
  ["store_drops", "Reports that the store does not have, because its queue was full or they could not be written", true],
  ["exporters_untracked", "Datagrams of exporters beyond the limit of followed ones", true],
];

export class ExportersView {
  constructor(shown, { status }) {
    this.ask = status;
    this.counts = h("dl", { class: "figures" });
    const heads = [["exporter", "left"], ["node"], ["hw id"], ["reports"], ["lost", "", "numbers missing from its sequence"], ["duplicates"], ["restarts"], ["last seen"], ["clock", "left"], ["", "left"]];
    this.body = h("tbody", {});
    this.none = h("p", { class: "none" }, "No exporter has sent a report since the collector started.");
    this.note = h("p", { class: "dim" });
    const table = h("table", { class: "rows", "aria-label": "Exporters" },
      h("thead", {}, h("tr", {}, heads.map(([name, left, title]) => h("th", { scope: "col", class: left || undefined, title }, name || h("span", { class: "unseen" }, "problems"))))), this.body);
    this.coverage = new CoverageTable();
    this.mx = new MxPanel();
    const asked = "Of the packets that watchlists ask for, since the collector started";
    this.unkept = h("p", { class: "none", hidden: true }, "This collector keeps no history, so it cannot show nodes, flows or past times (see ", h("code", {}, "--store"), " in hostint-collect(8)).");
    this.wrong = h("p", { class: "old", hidden: true });
    this.element = h("div", { class: "view stack" }, panel("This collector", null, this.unkept, this.counts, this.wrong), panel("Exporters", this.note, h("div", { class: "scroll" }, table, this.none)),
      this.mx.element, panel("Coverage", h("p", { class: "dim" }, asked), this.coverage.element));
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const status = await this.ask(signal);
    const began = h("div", {}, h("dt", {}, "running since"), h("dd", {}, time(ms(status.started_ns))));
    const size = h("div", {}, h("dt", {}, "received"), h("dd", {}, bytes(Number(status.bytes))));
    this.wrong.hidden = !status.undecodable_last;
    this.wrong.textContent = `The last unreadable datagram came from ${status.undecodable_last}.`;
    this.unkept.hidden = status.keeps_history;
    this.counts.replaceChildren(began, size, ...COUNTS.filter(([name]) => name in status).map(([name, title, bad]) =>
      h("div", { title: `${title}: ${exact(status[name])}`, class: bad && status[name] > 0 ? "trouble" : undefined }, h("dt", {}, name.replaceAll("_", " ").replace("rolled up only", "summarised only")), h("dd", {}, count(status[name])))));
    const worst = status.exporters.map((one) => [one, troubles(one)]).toSorted(([, a], [, b]) => b.length - a.length);
    this.none.hidden = worst.length > 0;
    this.note.textContent = `${status.exporters.length} of ${exact(status.exporters_total)}, those with problems first`;
    this.coverage.update(status.coverage ?? []);
    this.mx.update(status.mx_pairs ?? []);
    this.body.replaceChildren(...worst.map(([one, found]) => this.row(one, found)));
  }

  row(one, found) {
    const seen = ms(one.last_seen_ns);
    const kept = one.clock_synchronised;
    const clock = [one.clock ?? "", kept === null || kept === undefined ? "clock state unknown" : kept ? "synchronised" : "not synchronised"].filter(Boolean).join(", ");
    return h("tr", {}, h("th", { scope: "row", class: "left" }, one.exporter), h("td", { title: aboutNode(one) }, one.node === null ? "" : named(one.node)), h("td", {}, one.hw_id),
      h("td", { title: exact(one.reports) }, count(one.reports)), h("td", { class: one.lost > 0 ? "trouble" : undefined }, exact(one.lost)),
      h("td", {}, exact(one.duplicates)), h("td", {}, exact(one.restarts)), h("td", { title: seen ? new Date(seen).toISOString() : undefined }, seen ? ago(now() - seen) : "–"),
      h("td", { class: "left" }, clock), h("td", { class: "left trouble" }, found.join(", ")));
  }
}
