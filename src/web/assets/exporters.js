// Who sends reports, what was lost of them, and what the collector dropped.

import { ms, now } from "./api.js";
import { h, panel } from "./dom.js";
import { setAbove } from "./state.js";
import { ago, bytes, count, exact, time } from "./units.js";

const SILENT = 60_000;

// What is wrong with one, in words.
export function troubles(exporter) {
  const found = [];
  if (exporter.last_seen_ns && now() - ms(exporter.last_seen_ns) > SILENT) found.push("silent");
  if (exporter.lost > 0) found.push("reports lost");
  if (exporter.clock_synchronised === false) found.push("clock not kept to UTC");
  return found;
}

const COUNTS = [
  ["datagrams", "Datagrams taken from sockets"], ["socket_drops", "Dropped by the kernel at a full socket", true],
  ["receive_errors", "Receive calls that failed", true], ["probes", "Questions of sinks whether the collector is there"],
  ["probes_unanswered", "Of these, those whose answer could not be sent", true], ["queue_drops", "Datagrams that found the queue to the decoder full", true],
  ["undecodable", "Datagrams that were no report", true], ["reports_refused", "Reports refused", true], ["reports", "Individual reports"],
  ["reports_lost", "Numbers missing in the exporters' sequences", true], ["reports_duplicate", "Reports that came twice"],
  ["lines", "Lines written"], ["lines_lost", "Lines that could not be written", true],
  ["stored", "Reports that are in the store"], ["rolled_up_only", "Reports that are in its figures only: more came than could be written singly", true],
  ["store_drops", "Reports that are in neither, because its queue was full or it could not be written", true],
  ["exporters_untracked", "Datagrams of exporters beyond the most that are followed", true],
];

export class ExportersView {
  constructor(shown, { status }) {
    this.ask = status;
    this.counts = h("dl", { class: "figures" });
    const heads = [["exporter", "left"], ["node"], ["hw id"], ["reports"], ["lost", "", "numbers missing in its sequence"], ["twice"], ["restarts"], ["last seen"], ["clock", "left"], ["", "left"]];
    this.body = h("tbody", {});
    this.none = h("p", { class: "none" }, "No exporter has sent a report since the collector began.");
    this.note = h("p", { class: "dim" });
    const table = h("table", { class: "rows", "aria-label": "Exporters" },
      h("thead", {}, h("tr", {}, heads.map(([name, left, title]) => h("th", { scope: "col", class: left || undefined, title }, name || h("span", { class: "unseen" }, "trouble"))))), this.body);
    this.unkept = h("p", { class: "none", hidden: true }, "This collector keeps no history, so there is nothing by node, flow or time to show (see ", h("code", {}, "--store"), " in hostint-collect(8)).");
    this.element = h("div", { class: "view stack" }, panel("This collector", null, this.unkept, this.counts), panel("Exporters", this.note, h("div", { class: "scroll" }, table, this.none)));
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const status = await this.ask(signal);
    const began = h("div", {}, h("dt", {}, "running since"), h("dd", {}, time(ms(status.started_ns))));
    const size = h("div", {}, h("dt", {}, "received"), h("dd", {}, bytes(Number(status.bytes))));
    this.unkept.hidden = status.keeps_history;
    this.counts.replaceChildren(began, size, ...COUNTS.filter(([name]) => name in status).map(([name, title, bad]) =>
      h("div", { title: `${title}: ${exact(status[name])}`, class: bad && status[name] > 0 ? "trouble" : undefined }, h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, count(status[name])))));
    const worst = status.exporters.map((one) => [one, troubles(one)]).toSorted(([, a], [, b]) => b.length - a.length);
    this.none.hidden = worst.length > 0;
    this.note.textContent = `${status.exporters.length} of ${exact(status.exporters_total)}, those in trouble first`;
    this.body.replaceChildren(...worst.map(([one, found]) => this.row(one, found)));
  }

  row(one, found) {
    const seen = ms(one.last_seen_ns);
    const kept = one.clock_synchronised;
    const clock = [one.clock ?? "", kept === null || kept === undefined ? "not told" : kept ? "kept to UTC" : "not kept to UTC"].filter(Boolean).join(", ");
    return h("tr", {}, h("th", { scope: "row", class: "left" }, one.exporter), h("td", {}, one.node ?? ""), h("td", {}, one.hw_id),
      h("td", { title: exact(one.reports) }, count(one.reports)), h("td", { class: one.lost > 0 ? "trouble" : undefined }, exact(one.lost)),
      h("td", {}, exact(one.duplicates)), h("td", {}, exact(one.restarts)), h("td", { title: seen ? new Date(seen).toISOString() : undefined }, seen ? ago(now() - seen) : "–"),
      h("td", { class: "left" }, clock), h("td", { class: "left trouble" }, found.join(", ")));
  }
}
