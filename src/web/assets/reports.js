// Single reports, newest first; a row opens to show the whole report.

import { ms } from "./api.js";
import { h } from "./dom.js";
import { link, state } from "./state.js";
import { duration, endpoint, exact, time } from "./units.js";

function fine(ns) {
  const text = String(ns).padStart(19, "0");
  const at = Number(text.slice(0, -6));
  return `${time(at)}.${text.slice(-9)}`;
}

function measured(report) {
  if (report.gap) return `${exact(report.gap.count)} lost`;
  if (report.drop_reason !== undefined) return report.drop_reason_name ?? `drop reason ${report.drop_reason}`;
  if (report.summary) return `${exact(report.summary.packets)} packets`;
  return duration(report.latency_ns);
}

function number(report) {
  if (report.gap) return `${report.gap.first_seq} – ${report.gap.last_seq}`;
  return report.seq ?? "";
}

// An explanation that follows the raw value.
function meaning(name, value) {
  if (name === "received_ns") return new Date(ms(value)).toISOString();
  if (name === "latency_ns" || name === "hop_latency_ns") return value === null ? "one hop only" : duration(Number(value));
  if (name === "report_time_s" || name === "time_s") return new Date(Number(value) * 1000).toISOString();
  return "";
}

function value(name, of) {
  if (Array.isArray(of)) return h("dd", {}, of.length ? of.map((one) => (typeof one === "object" ? fields(one) : h("span", {}, `${one} `))) : "none");
  if (of !== null && typeof of === "object") return h("dd", {}, fields(of));
  const means = meaning(name, of);
  return h("dd", {}, String(of), means && h("span", { class: "dim" }, `  ${means}`));
}

function fields(object) {
  return h("dl", { class: "record" }, Object.entries(object).map(([name, of]) => h("div", {}, h("dt", {}, name), value(name, of))));
}

// What hops tell of a packet in INT-MX joins the sink's report, or this flag stays set.
const isIncomplete = (report) => report.kind === "latency" && report.flags?.intermediate;

// The packet's path, hop by hop.
function way(report) {
  // A report lists transit hops newest first.
  const hops = [report.source, ...(report.transit ?? []).toReversed(), report.sink].filter(Boolean);
  if (hops.length < 2) return [];
  const shown = hops.map((hop, i) => {
    const next = hops[i + 1];
    // Timestamps are the low 32 bits of the time.
    const took = next?.ingress_ts_ns !== undefined && hop.egress_ts_ns !== undefined && ((next.ingress_ts_ns - hop.egress_ts_ns) | 0);
    const link = next && h("span", { class: "way-link" }, typeof took === "number" ? duration(took) : "");
    const inside = hop.ingress_ts_ns !== undefined && hop.egress_ts_ns !== undefined ? duration((hop.egress_ts_ns - hop.ingress_ts_ns) | 0) : "";
    const queue = hop.queue_bytes !== undefined ? `${hop.queue_bytes} bytes queued` : hop.queue_occupancy !== undefined ? `${hop.queue_occupancy} queued` : "";
    const role = i === 0 ? "INT source" : next ? "transit" : "INT sink";
    return [h("li", {}, h("span", { class: "dim" }, role), h("b", {}, `node ${hop.node}`), h("span", { class: "dim" }, [inside && `${inside} inside`, queue].filter(Boolean).join(", "))), link && h("li", { class: "way-to" }, link)];
  });
  const drawn = h("ol", { class: "way", "aria-label": "the packet's path" }, shown);
  if (!isIncomplete(report)) return drawn;
  return [drawn, h("p", { class: "trouble" }, "Incomplete: a transit hop on the path of this packet reported nothing of it (INT-MX).")];
}

function whole(report) {
  const json = JSON.stringify(report, null, 2).replace(/"(-?\d{16,})"/g, "$1");
  // Browsers offer a clipboard only to pages of this host and of HTTPS.
  const copy = navigator.clipboard && h("button", { type: "button", onclick: async () => {
    await navigator.clipboard.writeText(json);
    copy.textContent = "Copied";
  } }, "Copy JSON");
  return h("div", { class: "whole" }, way(report), fields(report), copy);
}

export class Reports {
  constructor({ withFlow }) {
    this.withFlow = withFlow;
    this.body = h("tbody", {});
    this.none = h("p", { class: "none", hidden: true }, "No single reports in this period: they are kept for a shorter time than figures.");
    const heads = [["received", "left"], ["kind", "left"], ["value"], ["seq"], ...(withFlow ? [["flow", "left"]] : []), ["report"], ["exporter", "left"]];
    this.table = h("table", { class: "rows", "aria-label": "Reports" },
      h("thead", {}, h("tr", {}, heads.map(([name, left]) => h("th", { scope: "col", class: left }, name)))), this.body);
    this.element = h("div", { class: "scroll reports" }, this.table, this.none);
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      if (event.target.closest("a, button, .whole") || String(getSelection())) return;
      event.target.closest("tr")?.querySelector("a")?.click();
    });
  }

  update(reports) {
    const open = state().at;
    const focused = this.body.contains(document.activeElement) ? document.activeElement.dataset.at : undefined;
    this.none.hidden = reports.length > 0;
    this.table.hidden = reports.length === 0;
    this.body.replaceChildren(...reports.flatMap((report) => this.rows(report, open)));
    if (focused) this.body.querySelector(`a[data-at="${focused}"]`)?.focus();
  }

  rows(report, open) {
    const at = String(report.received_ns ?? "");
    const isOpen = at !== "" && at === open;
    const name = h("a", { href: link({ at: isOpen ? "" : at }), "data-at": at, "aria-expanded": String(isOpen) }, fine(at));
    const flow = report.inner_flow ?? report.flow;
    const row = h("tr", { class: isOpen ? "open" : undefined },
      h("th", { scope: "row", class: "left" }, name), h("td", { class: "left" }, isIncomplete(report) ? "latency, incomplete" : report.kind),
      h("td", { class: report.gap ? "trouble" : undefined }, measured(report)), h("td", {}, number(report)),
      this.withFlow && h("td", { class: "left" }, flow ? `${endpoint(flow.src, flow.sport)} → ${endpoint(flow.dst, flow.dport)}` : ""),
      h("td", { title: "sequence number of the report" }, report.report_seq), h("td", { class: "left" }, report.exporter ?? ""));
    return isOpen ? [row, h("tr", { class: "whole-row" }, h("td", { colspan: "7" }, whole(report)))] : [row];
  }

  key(event) {
    const links = [...this.body.querySelectorAll("a[data-at]")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = step && links[links.indexOf(event.target) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}
