// All nodes: the matrix, the worst pairs and flows, and all traffic over time.

import { ask, pairs } from "./api.js";
import { Chart } from "./chart.js";
import { choice, h, panel } from "./dom.js";
import { grouped, pairsWithin, readWithin, within } from "./groups.js";
import { networkMarks } from "./marks.js";
import { Matrix, METRICS } from "./matrix.js";
import { SegmentPanel } from "./path.js";
import { RANGE_NAMES, go, link, setAbove } from "./state.js";
import { classTable, flowTable, pairTable } from "./tables.js";
import { exact } from "./units.js";

const FEW = 12;
// Stands in the address for the grouping by class, which no label's key can be.
const CLASS = "(class)";

function wide(panel) {
  panel.classList.add("wide");
  return panel;
}

export class Overview {
  constructor(shown, { zoom, collectsOn, labels }) {
    this.labels = labels;
    this.classRows = [];
    this.collectsOn = collectsOn;
    this.zoom = zoom;
    this.metrics = choice("Figure", Object.entries(METRICS).map(([key, { name }]) => [key, name.replace(" latency", ""), name]), shown.metric, (metric) => go({ metric }));
    this.order = choice("Order of nodes", [["id", "by ID"], ["worst", "worst first"]], shown.nodes, (nodes) => go({ nodes }));
    this.by = h("select", { "aria-label": "Group by", onchange: () => go({ by: this.by.value, within: "" }) });
    this.part = h("p", { class: "dim", hidden: true });
    this.matrix = new Matrix((pair) => go(pair.members ? { within: within(pair) } : { view: "pair", source: String(pair.source), sink: String(pair.sink) }));
    this.classes = classTable("Classes", (metric) => go({ metric }));
    this.chart = new Chart(zoom);
    this.pairTable = pairTable("Pairs, worst first", (key) => go({ metric: key }));
    this.flowTable = flowTable("Worst flows", (sort) => go({ sort }), { withPair: true });
    this.segments = new SegmentPanel();
    this.more = h("a", { class: "more" }, "All flows");
    this.title = h("p", { class: "dim" });
    this.element = h("div", { class: "view" }, h("p", { class: "loading" }, "Loading…"));
    this.full = h("div", { class: "overview" },
      panel("Node by node", h("div", { class: "tools" }, this.by, this.metrics, this.order), this.part, this.matrix.element, this.classes.element),
      panel("Pairs, worst first", this.title, this.pairTable.element),
      wide(panel("All traffic", null, this.chart.element)),
      wide(panel("Worst flows", this.more, this.flowTable.element)), wide(this.segments.element));
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    // Each part is shown as soon as its data has arrived; the view waits for the matrix only.
    const matrix = pairs(span, {}, signal);
    const series = ask("series", span, { points: 400 }, signal).then((answer) => { this.chart.update(answer, span); return answer; });
    const flows = ask("flows", span, { order: shown.sort, limit: FEW }, signal).then((answer) => {
      this.flowTable.update(answer.flows, { sorted: shown.sort, none: "No flows in this period." });
      return answer;
    });
    const segments = ask("segments", span, { limit: FEW }, signal).then((answer) => { this.segments.update(answer.segments); });
    const classes = ask("classes", span, {}, signal);
    networkMarks(span, signal).then((marks) => this.chart.mark(marks()));
    // Only the first failure is reported.
    segments.catch(() => {});
    flows.catch(() => {});
    classes.catch(() => {});
    series.catch(() => {});
    const found = await matrix;
    if (found.pairs.length === 1) return this.single(found.pairs[0], shown, span, signal);
    this.only = undefined;
    if (!found.pairs.length && !(await series).points.length && !(await flows).flows.length) return this.empty(shown);
    // Classes are a choice above the matrix, for which it does not wait.
    classes.then(({ classes: rows }) => { this.classRows = rows; this.group(found.pairs, shown); }, () => {});
    this.fill(found, shown);
    await Promise.all([series, flows, segments]);
    return undefined;
  }

  fill({ pairs: found, total }, shown) {
    if (this.element.firstChild !== this.full) this.element.replaceChildren(this.full);
    this.metrics.choose(shown.metric);
    this.order.choose(shown.nodes);
    this.group(found, shown);
    const { of, name } = METRICS[shown.metric];
    const most = Math.max(10, Math.floor(this.matrix.element.clientHeight / 25) - 1);
    const worst = found.toSorted((a, b) => (of(b) ?? -Infinity) - (of(a) ?? -Infinity)).slice(0, most);
    this.title.textContent = `${worst.length} of ${exact(total)} by ${name}`;
    this.pairTable.update(worst, { sorted: shown.metric, none: "No report names both ends of a pair." });
    this.more.setAttribute("href", link({ view: "flows" }));
  }

  // The matrix by host, or by what hosts or flows have in common.
  group(found, shown) {
    const classes = this.classRows;
    const labels = this.labels();
    const options = [["", "by host"], ...[...labels.keys()].map((key) => [key, `by ${key}`]), ...(classes.length > 0 ? [[CLASS, "by class"]] : [])];
    if (this.options !== String(options)) this.by.replaceChildren(...options.map(([value, text]) => h("option", { value }, text)));
    this.options = String(options);
    this.by.hidden = options.length < 2;
    const by = options.some(([value]) => value === shown.by) ? shown.by : "";
    this.by.value = by;
    this.matrix.element.hidden = by === CLASS;
    this.order.hidden = by === CLASS;
    this.order.firstChild.textContent = by ? "by name" : "by ID";
    this.classes.element.hidden = by !== CLASS;
    const ends = by && readWithin(shown.within);
    this.part.hidden = !ends;
    if (by === CLASS) return this.classes.update(classes, { sorted: shown.metric, none: "" });
    if (!by) return this.matrix.update(found, shown.metric, shown.nodes);
    if (!ends) return this.matrix.update(grouped(found, labels.get(by)), shown.metric, shown.nodes, String);
    this.part.replaceChildren(`from ${by} ${ends[0]} to ${by} ${ends[1]} · `, h("a", { href: link({ within: "" }) }, `all by ${by}`));
    return this.matrix.update(pairsWithin(found, labels.get(by), ends), shown.metric, shown.nodes);
  }

  // One pair needs no matrix.
  async single(pair, shown, span, signal) {
    const of = { ...shown, source: String(pair.source), sink: String(pair.sink) };
    const which = `${of.source}>${of.sink}`;
    const { PairView } = await import("./pair.js");
    if (this.only?.which !== which) this.only = Object.assign(new PairView(of, { zoom: this.zoom, alone: true }), { which });
    await this.only.update(of, span, signal);
    if (this.element.firstChild !== this.only.element) this.element.replaceChildren(this.only.element);
  }

  empty(shown) {
    const addresses = this.collectsOn();
    const first = addresses[0] ?? "0.0.0.0:32766";
    const port = first.slice(first.lastIndexOf(":") + 1);
    const usual = shown.range === "custom" ? "in the selected period" : `in the last ${RANGE_NAMES[shown.range]}`;
    this.element.replaceChildren(h("section", { class: "panel nothing" },
      h("h2", {}, `No reports ${usual}`),
      h("p", {}, "This collector listens on ", addresses.map((address, i) => [i ? ", " : "", h("code", {}, address)]), "."),
      h("p", {}, "On the receiving host, an INT sink sends reports here:"),
      h("pre", {}, `hostint sink --dev eth1 --node-id 2 --collector ADDRESS-OF-THIS-HOST:${port}`),
      h("p", {}, "On the sending host, an INT source tags packets to it:"),
      h("pre", {}, "hostint source attach --dev eth1\nhostint source add-dest ADDRESS-OF-THE-RECEIVING-HOST"),
      h("p", { class: "dim" }, "This page shows reports some ten seconds after the first one arrives. Datagrams that are not reports are counted under ", h("a", { href: link({ view: "hosts" }) }, "Hosts"), ".")));
  }
}
