// Tables of pairs and flows: a row links to its pair or flow, and arrow keys move between rows.

import { ms } from "./api.js";
import { lateness, severity } from "./colour.js";
import { h } from "./dom.js";
import { basis, basisTitle, clocksTitle, errorOf, latencyText, meanText } from "./figures.js";
import { staleSince } from "./freshness.js";
import { called, named } from "./names.js";
import { link } from "./state.js";
import { count, duration, endpoint, exact, lossOf, share, time } from "./units.js";

const PROTOCOLS = { 1: "icmp", 6: "tcp", 17: "udp", 58: "icmpv6", 132: "sctp" };

// An old row is grey and says since when.
function staleAttributes(row) {
  const since = staleSince(row);
  return since ? { class: "stale", title: `no report since ${time(since)}` } : {};
}

// `columns` have a name, a title, a function for the cell's content and, if rows can be sorted by them, a key.
export class Table {
  constructor(label, columns, { href, sort }) {
    this.columns = columns;
    this.href = href;
    this.sort = sort;
    this.heads = columns.map(({ name, title, key, left, minor }) => {
      const inside = key ? h("button", { type: "button", onclick: () => sort(key) }, name) : name;
      return h("th", { scope: "col", title, class: [left && "left", minor && "minor"].filter(Boolean).join(" ") || undefined }, inside);
    });
    this.body = h("tbody", {});
    this.table = h("table", { class: "rows", "aria-label": label }, h("thead", {}, h("tr", {}, this.heads)), this.body);
    this.none = h("p", { class: "none", hidden: true });
    this.element = h("div", { class: "scroll" }, this.table, this.none);
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      if (event.target.closest("a, button") || String(getSelection())) return;
      event.target.closest("tr")?.querySelector("a")?.click();
    });
  }

  update(rows, { sorted, none }) {
    const focused = this.body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : undefined;
    this.columns.forEach(({ key }, i) => {
      if (key) this.heads[i].setAttribute("aria-sort", key === sorted ? "descending" : "none");
    });
    this.body.replaceChildren(...rows.map((row) => h("tr", staleAttributes(row), this.columns.map((column, i) => this.cell(column, row, i)))));
    this.none.textContent = none;
    this.none.hidden = rows.length > 0;
    this.table.hidden = rows.length === 0;
    if (focused) [...this.body.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
  }

  cell({ of, exactly, left, wraps, minor, trouble }, row, i) {
    const value = of(row) ?? "";
    const inside = i === 0 ? h("a", { href: this.href(row) }, value) : value;
    const classes = [left && "left", minor && "minor", wraps && "wraps", trouble?.(row)].filter(Boolean).join(" ");
    return h(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : undefined, class: classes || undefined, title: exactly?.(row) }, inside);
  }

  key(event) {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const next = step && event.target.closest("tr")?.[step]?.querySelector("a");
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}

const latency = (name, key, trouble) => ({
  trouble,
  name, key, title: `${name} of the one-way latencies`,
  of: (row) => latencyText(row, row.latency?.[`${name}_ns`]),
  exactly: (row) => (row.latency?.[`${name}_ns`] === undefined ? undefined : `${exact(row.latency[`${name}_ns`])} ns${errorOf(row)} ${basisTitle(row)}${clocksTitle(row)}`),
});

const FIGURES = {
  loss: { name: "loss", key: "loss", title: "share of sent packets that were lost", of: (row) => share(lossOf(row)), exactly: (row) => `${exact(row.lost)} of ${exact(row.packets)}`, trouble: (row) => severity("loss", lossOf(row), row) },
  lost: { name: "lost", title: "packets lost", of: (row) => count(row.lost), exactly: (row) => exact(row.lost) },
  p50: latency("p50"),
  p99: latency("p99", "latency", lateness),
  jitter: { name: "jitter", key: "jitter", title: "p99 - p50", of: (row) => duration(row.latency?.jitter_ns), exactly: (row) => (row.latency?.jitter_ns === undefined ? undefined : `${exact(row.latency.jitter_ns)} ns`) },
  packets: { name: "packets", key: "packets", title: "packets sent", of: (row) => count(row.packets), exactly: (row) => exact(row.packets) },
  of: { name: "of", title: "what the figures are of: all packets, or a number of reported latencies", of: basis, exactly: basisTitle },
  reordered: { name: "reord.", title: "packets that arrived after later ones; known if sinks send summaries", of: (row) => count(row.reordered), exactly: (row) => exact(row.reordered) },
};

export const protocolName = (protocol) => PROTOCOLS[protocol] ?? `protocol-${protocol}`;

// Pods go by their names; their addresses are told on request.
function end(address, port, pod) {
  return pod ? h("span", { title: endpoint(address, port) }, `${pod.namespace}/${pod.pod}${port ? `:${port}` : ""}`) : endpoint(address, port);
}

export function flowName({ flow, src_pod: from, dst_pod: to }) {
  const vlan = [flow.outer_vlan, flow.vlan].filter(Boolean).join(".");
  return [h("span", { class: "protocol" }, protocolName(flow.protocol)), " ", end(flow.src, flow.sport, from), " → ", end(flow.dst, flow.dport, to), vlan && ` vlan ${vlan}`];
}

// Left out where there is little room.
const minor = (column) => ({ ...column, minor: true });

export function flowTable(label, sort, { withPair }) {
  const pair = { name: "nodes", minor: true, title: "from INT source to INT sink", left: true, of: (row) => `${named(row.source)} → ${named(row.sink)}` };
  const columns = [
    { name: "flow", left: true, wraps: true, of: flowName, exactly: (row) => row.name },
    ...(withPair ? [pair] : []),
    { name: "class", left: true, minor: true, of: (row) => row.class && h("a", { href: link({ view: "flows", class: row.class }) }, row.class) },
    { ...FIGURES.loss, key: undefined }, { ...FIGURES.lost, key: "loss" }, minor(FIGURES.p50), FIGURES.p99, minor(FIGURES.jitter), FIGURES.packets, minor(FIGURES.reordered), minor(FIGURES.of),
    { name: "last report", minor: true, of: (row) => time(ms(row.last_ns)) },
  ];
  return new Table(label, columns, { href: (row) => link({ view: "flow", flow: String(row.id) }), sort });
}

export function classTable(label, sort) {
  const columns = [
    { name: "class", left: true, of: (row) => row.class },
    { ...FIGURES.p50, key: "p50" }, { ...FIGURES.p99, key: "p99" }, FIGURES.loss, { ...FIGURES.packets, key: undefined },
  ];
  return new Table(label, columns, { href: (row) => link({ view: "flows", class: row.class }), sort });
}

export function pairTable(label, sort) {
  const columns = [
    { name: "from → to", title: "from INT source to INT sink", left: true, wraps: true, of: (row) => [`${named(row.source)} → ${named(row.sink)}`, staleSince(row) && ` since ${time(staleSince(row))}`] },
    { ...FIGURES.p50, key: "p50" }, { ...FIGURES.p99, key: "p99" }, FIGURES.loss,
    { ...FIGURES.packets, key: undefined },
  ];
  return new Table(label, columns, { href: (row) => link({ view: "pair", source: row.source, sink: row.sink }), sort });
}

// Hosts with all packets to each and from each; what is not the chosen figure is left out where there is little room.
export function hostTable(label, metric) {
  const name = metric === "p50" ? "p50" : "p99";
  const columns = ["to", "from"].flatMap((side) => [
    {
      name: `${name} ${side}`, minor: metric === "loss", title: `${name} latency of packets ${side} this host; half of its pairs have a higher one`,
      of: (row) => row[side] && latencyText(row[side], row[side].latency?.[`${name}_ns`]), trouble: (row) => row[side] && lateness(row[side]),
    },
    {
      name: `loss ${side}`, minor: metric !== "loss", title: `share of all packets ${side} this host that were lost`, of: (row) => row[side] && share(lossOf(row[side])),
      exactly: (row) => row[side] && `${count(row[side].lost)} of ${count(row[side].packets)}`, trouble: (row) => row[side] && severity("loss", lossOf(row[side]), row[side]),
    },
    { name: `pairs ${side}`, minor: true, title: `pairs ${side} this host`, of: (row) => exact(row[side]?.members) },
  ]);
  const host = { name: "host", left: true, wraps: true, of: (row) => named(row.node) };
  return new Table(label, [host, ...columns], { href: (row) => link({ view: "host", host: called(row.node) }), sort: () => {} });
}

// The interval of the loss of all flows, if some were left out and those that were measured tell it.
function ofAllText(of) {
  if (!of) return "–";
  return of.least_ppb === null ? "not known" : `${share(of.least_ppb / 1e9)} to ${share(of.most_ppb / 1e9)}`;
}

export function figuresList(row) {
  const of = row.latency ?? {};
  const items = [
    ["loss", share(lossOf(row)), `${exact(row.lost)} of ${exact(row.packets)}`, severity("loss", lossOf(row), row)],
    ["usual loss", row.usual?.more_lost ? share(row.usual.loss) : "–", "of this pair in the last hours, or in this hour of earlier days"],
    ["loss of all flows", ofAllText(row.loss_of_all), "A budget or a sample left flows out. With a probability of 95 %, the loss of all flows together is between these."],
    ["measured", row.loss_of_all ? share(row.loss_of_all.measured_ppm / 1e6) : "–", "of the packets that rules ask for; a budget or a sample left out the other flows"],
    ["lost", exact(row.lost)], ["packets", count(row.packets), exact(row.packets)], ["reordered", exact(row.reordered)],
    ["min", latencyText(row, of.min_ns)], ["mean", meanText(row), clocksTitle(row).slice(2)], ["p50", latencyText(row, of.p50_ns)], ["p90", latencyText(row, of.p90_ns)],
    ["p99", latencyText(row, of.p99_ns), undefined, lateness(row)],
    ["usual p99", row.usual?.slower ? duration(row.usual.p99_ns) : "–", "of this pair in the last hours, or in this hour of earlier days"], ["max", latencyText(row, of.max_ns)], ["jitter", duration(of.jitter_ns), "p99 - p50"], ["reports", count(row.reports), exact(row.reports)],
    ["figures of", basis(row), basisTitle(row)],
  ].filter(([, value]) => value !== "–");
  return h("dl", { class: "figures" }, items.map(([name, value, title, trouble]) =>
    h("div", { title, class: trouble || undefined }, h("dt", {}, name), h("dd", {}, value))));
}
