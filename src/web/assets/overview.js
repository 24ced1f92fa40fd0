// All nodes: the matrix, the worst pairs and flows, and all traffic over time.

import { ask, pairs } from "./api.js";
import { Chart } from "./chart.js";
import { choice, h, panel } from "./dom.js";
import { Matrix, METRICS } from "./matrix.js";
import { PairView } from "./pair.js";
import { SegmentPanel } from "./path.js";
import { RANGE_NAMES, go, link, setAbove } from "./state.js";
import { flowTable, pairTable } from "./tables.js";
import { exact } from "./units.js";

const FEW = 12;

function wide(panel) {
  panel.classList.add("wide");
  return panel;
}

export class Overview {
  constructor(shown, { zoom, collectsOn }) {
    this.collectsOn = collectsOn;
    this.zoom = zoom;
    this.metrics = choice("Figure", Object.entries(METRICS).map(([key, { name }]) => [key, name.replace(" latency", ""), name]), shown.metric, (metric) => go({ metric }));
    this.order = choice("Order of nodes", [["id", "by ID"], ["worst", "worst first"]], shown.nodes, (nodes) => go({ nodes }));
    this.matrix = new Matrix((pair) => go({ view: "pair", source: String(pair.source), sink: String(pair.sink) }));
    this.chart = new Chart(zoom);
    this.pairTable = pairTable("Pairs, worst first", (key) => go({ metric: key }));
    this.flowTable = flowTable("Worst flows", (sort) => go({ sort }), { withPair: true });
    this.segments = new SegmentPanel();
    this.more = h("a", { class: "more" }, "All flows");
    this.title = h("p", { class: "dim" });
    this.element = h("div", { class: "view" }, h("p", { class: "loading" }, "Loading…"));
    this.full = h("div", { class: "overview" },
      panel("Node by node", h("div", { class: "tools" }, this.metrics, this.order), this.matrix.element),
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
    // Only the first failure is reported.
    segments.catch(() => {});
    flows.catch(() => {});
    series.catch(() => {});
    const found = await matrix;
    if (found.pairs.length === 1) return this.single(found.pairs[0], shown, span, signal);
    this.only = undefined;
    if (!found.pairs.length && !(await series).points.length && !(await flows).flows.length) return this.empty(shown);
    this.fill(found, shown);
    await Promise.all([series, flows, segments]);
    return undefined;
  }

  fill({ pairs: found, total }, shown) {
    if (this.element.firstChild !== this.full) this.element.replaceChildren(this.full);
    this.metrics.choose(shown.metric);
    this.order.choose(shown.nodes);
    this.matrix.update(found, shown.metric, shown.nodes);
    const { of, name } = METRICS[shown.metric];
    const most = Math.max(10, Math.floor(this.matrix.element.clientHeight / 25) - 1);
    const worst = found.toSorted((a, b) => (of(b) ?? -Infinity) - (of(a) ?? -Infinity)).slice(0, most);
    this.title.textContent = `${worst.length} of ${exact(total)} by ${name}`;
    this.pairTable.update(worst, { sorted: shown.metric, none: "No report names both ends of a pair." });
    this.more.setAttribute("href", link({ view: "flows" }));
  }

  // One pair needs no matrix.
  async single(pair, shown, span, signal) {
    const of = { ...shown, source: String(pair.source), sink: String(pair.sink) };
    const which = `${of.source}>${of.sink}`;
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
      h("p", { class: "dim" }, "This page shows reports as soon as the first one arrives. Datagrams that are not reports are counted under ", h("a", { href: link({ view: "exporters" }) }, "Exporters"), ".")));
  }
}
