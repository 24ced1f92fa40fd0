// Hosts, in a sentence each, and the counts of the collector.

import { ms, now } from "./api.js";
import { CoverageTable } from "./coverage.js";
import { h, panel } from "./dom.js";
import { hostsOf, labelsText, sentence, troubles } from "./hosts.js";
import { MxPanel } from "./mx_pairs.js";
import { called } from "./names.js";
import { link, setAbove } from "./state.js";
import { bytes, count, exact, time } from "./units.js";

function details(host) {
  return host.all.map(({ exporter, name_origin: origin, reports, lost, duplicates, restarts }) => [
    exporter, origin === "dns" && "name from DNS", `${exact(reports)} reports`, lost && `${exact(lost)} lost`, duplicates && `${exact(duplicates)} twice`, restarts && `${exact(restarts)} restarts`,
  ].filter(Boolean).join(", ")).join("; ");
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

function counter(status, [name, title, bad]) {
  const words = name.replaceAll("_", " ").replace("rolled up only", "summarised only");
  return h("div", { title: `${title}: ${exact(status[name])}`, class: bad && status[name] > 0 ? "trouble" : undefined }, h("dt", {}, words), h("dd", {}, count(status[name])));
}

export class HostsView {
  constructor(shown, { status }) {
    this.ask = status;
    this.said = h("p", {});
    this.counts = h("dl", { class: "figures" });
    this.zeros = h("dl", { class: "figures" });
    this.zerosTitle = h("summary", {});
    this.folded = h("details", { class: "folded" }, this.zerosTitle, this.zeros);
    this.body = h("tbody", {});
    this.none = h("p", { class: "none" }, "No host has sent a report since the collector started.");
    this.note = h("p", { class: "dim" });
    const heads = [["host", "left"], ["what it does", "left"], ["what is wrong", "left"], ["labels", "left minor"]];
    this.table = h("table", { class: "rows", "aria-label": "Hosts" },
      h("thead", {}, h("tr", {}, heads.map(([name, left]) => h("th", { scope: "col", class: left }, name)))), this.body);
    this.coverage = new CoverageTable();
    this.mx = new MxPanel();
    const asked = "Of the packets that watchlists ask for, since the collector started";
    this.unkept = h("p", { class: "none", hidden: true }, "This collector keeps no history, so it cannot show nodes, flows or past times (see ", h("code", {}, "--store"), " in hostint-collect(8)).");
    this.wrong = h("p", { class: "old", hidden: true });
    this.element = h("div", { class: "view stack" }, panel("Hosts", this.note, this.unkept, h("div", { class: "scroll" }, this.table, this.none)),
      this.mx.element, panel("Coverage", h("p", { class: "dim" }, asked), this.coverage.element),
      panel("This collector", null, this.said, this.wrong, this.counts, this.folded));
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const status = await this.ask(signal);
    const at = now();
    this.unkept.hidden = status.keeps_history;
    const hosts = hostsOf(status).map((host) => [host, troubles(host, at)]);
    const worst = hosts.toSorted(([a, one], [b, other]) => other.length - one.length || Number(a.reporting) - Number(b.reporting));
    this.none.hidden = worst.length > 0;
    this.table.hidden = worst.length === 0;
    this.note.textContent = hosts.length === 0 ? "" : `${exact(hosts.length)} of ${exact(Math.max(status.hosts_known, hosts.length))}, those with problems first`;
    this.body.replaceChildren(...worst.map(([host, found]) => this.row(host, found, at)));
    this.coverage.update(status.coverage ?? []);
    this.mx.update(status.mx_pairs ?? []);
    this.collector(status);
  }

  collector(status) {
    const missed = status.socket_drops + status.queue_drops + status.store_drops;
    this.said.textContent = `Since ${time(ms(status.started_ns))} it received ${count(status.reports)} reports, ${bytes(Number(status.bytes))}; ${missed ? `${count(missed)} were dropped here` : "none were dropped here"}.`;
    this.wrong.hidden = !status.undecodable_last;
    this.wrong.textContent = `The last unreadable datagram came from ${status.undecodable_last}.`;
    const known = COUNTS.filter(([name]) => name in status);
    const zeros = known.filter(([name]) => Number(status[name]) === 0);
    this.counts.replaceChildren(...known.filter((one) => !zeros.includes(one)).map((one) => counter(status, one)));
    this.folded.hidden = zeros.length === 0;
    this.zerosTitle.textContent = `show ${zeros.length} counters that are 0`;
    this.zeros.replaceChildren(...zeros.map((one) => counter(status, one)));
  }

  row(host, found, at) {
    const name = host.node === null ? host.name : h("a", { href: link({ view: "host", host: called(host.node) }) }, host.name);
    return h("tr", { class: host.reporting ? undefined : "stale" }, h("th", { scope: "row", class: "left", title: details(host) }, name),
      h("td", { class: "left wraps" }, sentence(host, at)), h("td", { class: "left wraps trouble" }, found.join("; ")), h("td", { class: "left dim minor" }, labelsText(host)));
  }
}
