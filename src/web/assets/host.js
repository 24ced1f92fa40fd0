// One host: its pairs in both directions, what it dropped, its queues, its TCP connections, and its clock.

import { ask, now, pairs } from "./api.js";
import { CoverageTable } from "./coverage.js";
import { h, panel } from "./dom.js";
import { placeTable } from "./drops.js";
import { passageTable } from "./hops.js";
import { hostsOf, labelsText, sentence, troubles } from "./hosts.js";
import { nodeCalled, nodeNamed } from "./names.js";
import { episodeTable } from "./queues.js";
import { go, link, setAbove } from "./state.js";
import { pairTable } from "./tables.js";
import { connectionRows, connectionTable } from "./tcp.js";
import { exact, lossOf } from "./units.js";

const MOST_ROWS = 50;
const FEW = 10;

// Lossy pairs first, then slow ones.
const worse = (a, b) => lossOf(b) - lossOf(a) || (b.latency?.p99_ns ?? 0) - (a.latency?.p99_ns ?? 0);

// Part of the page that is there if there is anything in it.
function part(title, element, view) {
  const more = view && h("a", { class: "more", href: link({ view }) }, "of all hosts");
  return panel(title, more, element);
}

export class HostView {
  constructor(shown, { status }) {
    this.ask = status;
    this.name = h("span", {}, shown.host);
    this.said = h("p", {});
    this.wrong = h("p", { class: "trouble" });
    const table = (label) => pairTable(label, (metric) => go({ view: "overview", metric }));
    this.directions = [table("Packets to this host"), table("Packets from this host")];
    this.notes = this.directions.map(() => h("p", { class: "dim" }));
    this.tcp = connectionTable();
    this.coverage = new CoverageTable();
    this.inside = { drops: h("div", {}), hops: h("div", {}), queues: h("div", {}) };
    this.panels = {
      drops: part("Drops", this.inside.drops, "drops"), queues: part("Queues", this.inside.queues, "queues"), hops: part("Time through this host", this.inside.hops, "hops"),
      tcp: part("TCP connections", this.tcp.element, "tcp"), coverage: part("What of its packets was not measured, since the collector started", this.coverage.element),
    };
    this.none = h("p", { class: "none dim" });
    const both = ["Packets to this host", "Packets from this host"].map((title, i) => panel(title, this.notes[i], this.directions[i].element));
    this.element = h("div", { class: "view stack" }, h("h1", {}, h("a", { href: link({ view: "hosts" }) }, "Hosts"), h("span", { class: "dim" }, " / "), this.name),
      panel("Now", null, this.said, this.wrong), h("div", { class: "halves" }, both), Object.values(this.panels), this.none);
  }

  async update(shown, span, signal) {
    setAbove({ view: "hosts" });
    const status = await this.ask(signal);
    const node = nodeCalled(shown.host);
    if (node === undefined) return this.unknown(shown.host);
    this.about(status, node);
    const one = { node, limit: MOST_ROWS };
    const [to, from, { drops }, { passages }, { queues }, tcp] = await Promise.all([
      pairs(span, { sink: node }, signal), pairs(span, { source: node }, signal), ask("drops", span, { ...one, by: "place" }, signal),
      ask("hops", span, one, signal), ask("queues", span, one, signal), ask("tcp", span, { ...one, order: "retransmitted" }, signal),
    ]);
    [to, from].forEach(({ pairs: found }, i) => {
      const rows = found.toSorted(worse).slice(0, FEW);
      this.directions[i].update(rows, { sorted: "loss", none: "No reports in this period." });
      this.notes[i].textContent = rows.length < found.length ? `the worst ${rows.length} of ${exact(found.length)}` : "";
    });
    const coverage = (status.coverage ?? []).filter((row) => String(row.source) === node);
    this.inside.drops.replaceChildren(placeTable(drops));
    this.inside.hops.replaceChildren(passageTable(passages));
    this.inside.queues.replaceChildren(episodeTable(queues));
    this.tcp.update(connectionRows(tcp.connections), { sorted: "retransmitted", none: "" });
    this.coverage.update(coverage);
    this.fold({ drops, hops: passages, queues, tcp: tcp.connections, coverage });
    return undefined;
  }

  about(status, node) {
    this.name.textContent = nodeNamed(node);
    const host = hostsOf(status).find(({ key }) => key === node);
    this.said.replaceChildren(host ? sentence(host, now()) : "This host has sent no report since the collector started.", h("span", { class: "dim" }, ` ${host ? labelsText(host) : ""}`));
    this.wrong.textContent = host ? troubles(host, now()).join("; ") : "";
  }

  // What there is nothing of is one line.
  fold(parts) {
    for (const [name, rows] of Object.entries(parts)) this.panels[name].hidden = rows.length === 0;
    const words = { drops: "drops", hops: "hops", queues: "episodes of queues", tcp: "TCP connections" };
    const missing = Object.keys(words).filter((name) => parts[name].length === 0);
    this.none.hidden = missing.length === 0;
    this.none.textContent = `It reported no ${missing.map((name) => words[name]).join(", no ")} in this period.`;
  }

  unknown(name) {
    this.name.textContent = name;
    this.said.textContent = "No host of this name has reported. ";
    for (const one of Object.values(this.panels)) one.hidden = true;
  }
}
