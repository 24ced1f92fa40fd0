// Flows folded by service, which is a port, then by pair of hosts; a fold opens to what is in it.

import { h } from "./dom.js";
import { severity } from "./colour.js";
import { latencyText } from "./figures.js";
import { named } from "./names.js";
import { link } from "./state.js";
import { flowName, protocolName } from "./tables.js";
import { count, exact, lossOf, share } from "./units.js";

// The most flows that one fold lists.
const MOST_LISTED = 50;

function folded(key, flows) {
  const slowest = flows.reduce((a, b) => ((b.latency?.p99_ns ?? -Infinity) > (a.latency?.p99_ns ?? -Infinity) ? b : a));
  const total = (name) => flows.reduce((sum, flow) => sum + Number(flow[name] ?? 0), 0);
  return { key, flows, slowest, lost: total("lost"), packets: total("packets"), latency: slowest.latency, clocks: slowest.clocks, ofReports: slowest.ofReports };
}

const ORDERS = {
  loss: (fold) => fold.lost, latency: (fold) => fold.latency?.p99_ns ?? -Infinity, jitter: (fold) => fold.latency?.jitter_ns ?? -Infinity, packets: (fold) => fold.packets,
};

function foldBy(flows, keyOf, order) {
  const groups = new Map();
  for (const flow of flows) {
    const key = keyOf(flow);
    if (groups.has(key)) groups.get(key).push(flow);
    else groups.set(key, [flow]);
  }
  const of = ORDERS[order];
  return [...groups].map(([key, inside]) => folded(key, inside)).toSorted((a, b) => of(b) - of(a) || b.packets - a.packets);
}

// Of the two ports of a flow, the service's is the one that more flows have; of two equal ones, the lower.
export function services(flows, order) {
  const uses = new Map();
  const at = ({ protocol }, port) => `${protocol}/${port}`;
  for (const { flow } of flows) for (const port of [flow.sport, flow.dport]) uses.set(at(flow, port), (uses.get(at(flow, port)) ?? 0) + 1);
  const portOf = (flow) => {
    const [from, to] = [uses.get(at(flow, flow.sport)), uses.get(at(flow, flow.dport))];
    return from > to || (from === to && flow.sport < flow.dport) ? flow.sport : flow.dport;
  };
  return foldBy(flows, ({ flow }) => at(flow, portOf(flow)), order).map((fold) => {
    const [protocol, port] = fold.key.split("/").map(Number);
    return { ...fold, protocol, port, pairs: foldBy(fold.flows, ({ source, sink }) => `${source}>${sink}`, order) };
  });
}

const HEADS = [["service, hosts, flow", "left"], ["flows", "minor"], ["lost", "minor"], ["loss"], ["worst p99", "", "the p99 of the slowest flow"], ["packets"]];

export class ServiceTable {
  constructor() {
    this.open = new Set();
    this.body = h("tbody", {});
    this.none = h("p", { class: "none", hidden: true });
    this.table = h("table", { class: "rows folds", "aria-label": "Flows by service" },
      h("thead", {}, h("tr", {}, HEADS.map(([name, side, title]) => h("th", { scope: "col", class: side || undefined, title }, name)))), this.body);
    this.element = h("div", { class: "scroll" }, this.table, this.none);
    this.body.addEventListener("click", (event) => {
      if (event.target.closest("a, button") || String(getSelection())) return;
      event.target.closest("tr")?.querySelector("a, button")?.click();
    });
  }

  update(flows, order, none) {
    this.services = services(flows, order);
    this.none.textContent = none;
    this.none.hidden = flows.length > 0;
    this.table.hidden = flows.length === 0;
    this.draw();
  }

  draw() {
    const focused = this.body.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    this.body.replaceChildren(...this.services.flatMap((service) => this.service(service)));
    if (focused) [...this.body.querySelectorAll("button")].find((one) => one.dataset.key === focused)?.focus();
  }

  toggle(key) {
    if (!this.open.delete(key)) this.open.add(key);
    this.draw();
  }

  service(service) {
    const { key, port, protocol, flows, pairs } = service;
    const [own, ...others] = new Set(flows.map((flow) => flow.class));
    const name = [h("span", { class: "protocol" }, protocolName(protocol)), port ? ` ${port}` : "", own && others.length === 0 && h("span", { class: "tag" }, own)];
    return [this.fold(key, "level-1", name, service), ...(this.open.has(key) ? pairs.flatMap((pair) => this.pair(key, pair)) : [])];
  }

  pair(of, pair) {
    const key = `${of} ${pair.key}`;
    const [flow] = pair.flows;
    const listed = pair.flows.slice(0, MOST_LISTED).map((one) => this.flow(one));
    const rest = pair.flows.length - listed.length;
    const more = rest > 0 ? [h("tr", {}, h("td", { class: "left dim", colspan: "6" }, `and ${exact(rest)} more`))] : [];
    return [this.fold(key, "level-2", `${named(flow.source)} → ${named(flow.sink)}`, pair), ...(this.open.has(key) ? [...listed, ...more] : [])];
  }

  fold(key, level, name, of) {
    const isOpen = this.open.has(key);
    const button = h("button", { type: "button", "data-key": key, "aria-expanded": String(isOpen), onclick: () => this.toggle(key) }, h("i", { "aria-hidden": "true" }, isOpen ? "▾" : "▸"), name);
    return h("tr", { class: level }, h("th", { scope: "row", class: "left wraps" }, button), this.figures(of, count(of.flows.length)));
  }

  flow(flow) {
    const name = h("a", { href: link({ view: "flow", flow: String(flow.id) }) }, flowName(flow));
    return h("tr", { class: "level-3" }, h("th", { scope: "row", class: "left wraps" }, name), this.figures(flow, ""));
  }

  figures(of, flows) {
    const loss = lossOf(of);
    return [h("td", { class: "minor" }, flows), h("td", { class: "minor", title: exact(of.lost) }, count(of.lost)),
      h("td", { class: severity("loss", loss, of), title: `${exact(of.lost)} of ${exact(of.packets)}` }, share(loss)),
      h("td", {}, latencyText(of, of.latency?.p99_ns)), h("td", { title: exact(of.packets) }, count(of.packets))];
  }
}
