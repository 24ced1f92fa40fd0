// All nodes: the matrix, the worst pairs and flows, and all traffic over time.

import { ask, pairs, series as seriesOf } from "./api.js";
import { Chart } from "./chart.js";
import { choice, h, panel } from "./dom.js";
import { CLASS, HOST, HOSTS, askedPairs, groupings, hostsWithBoth, readWithin, usualGrouping, within } from "./groups.js";
import { networkMarks } from "./marks.js";
import { Matrix, METRICS } from "./matrix.js";
import { RANGE_NAMES, go, link, setAbove } from "./state.js";
import { classTable, flowTable, hostTable, pairTable } from "./tables.js";
import { exact } from "./units.js";

const FEW = 12;
const MOST_HOSTS = 25;

function wide(panel) {
  panel.classList.add("wide");
  return panel;
}

export class Overview {
  constructor(shown, { zoom, collectsOn, labels, hosts }) {
    this.labels = labels;
    this.hosts = hosts;
    this.classRows = [];
    this.collectsOn = collectsOn;
    this.zoom = zoom;
    this.metrics = choice("Figure", Object.entries(METRICS).map(([key, { name }]) => [key, name.replace(" latency", ""), name]), shown.metric, (metric) => go({ metric }));
    this.order = choice("Order of nodes", [["id", "by ID"], ["worst", "worst first"]], shown.nodes, (nodes) => go({ nodes }));
    this.by = h("select", { "aria-label": "Group by", onchange: () => go({ by: this.by.value === this.usual ? "" : this.by.value, within: "" }) });
    this.part = h("p", { class: "dim", hidden: true });
    this.matrix = new Matrix((pair) => go(pair.members ? { within: within(pair) } : { view: "pair", source: String(pair.source), sink: String(pair.sink) }));
    this.classes = classTable("Classes", (metric) => go({ metric }));
    this.hostPlace = h("div", {});
    this.chart = new Chart(zoom);
    this.pairTable = pairTable("Pairs, worst first", (key) => go({ metric: key }));
    this.flowTable = flowTable("Worst flows", (sort) => go({ sort }), { withPair: true });
    this.more = h("a", { class: "more" }, "All flows");
    this.title = h("p", { class: "dim" });
    this.element = h("div", { class: "view" }, h("p", { class: "loading" }, "Loading…"));
    this.full = h("div", { class: "overview" },
      panel("Node by node", h("div", { class: "tools" }, this.by, this.metrics, this.order), this.part, this.matrix.element, this.classes.element, this.hostPlace),
      panel("Pairs, worst first", this.title, this.pairTable.element),
      wide(panel("All traffic", null, this.chart.element)),
      wide(panel("Worst flows", this.more, this.flowTable.element)));
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    // Each part is shown as soon as its data has arrived; the view waits for the matrix only.
    this.choose(shown);
    const asked = askedPairs(this.grouping, this.ends, shown.metric, this.hosts());
    const matrix = pairs(span, asked, signal);
    const series = seriesOf(span, { points: 400 }, signal).then((answer) => { this.chart.update(answer, span); return answer; });
    const flows = ask("flows", span, { order: shown.sort, limit: FEW }, signal).then((answer) => {
      this.flowTable.update(answer.flows, { sorted: shown.sort, none: "No flows in this period." });
      return answer;
    });
    const segments = ask("segments", span, { limit: FEW }, signal).then((answer) => this.showSegments(answer.segments));
    const classes = ask("classes", span, {}, signal);
    networkMarks(span, signal).then((marks) => this.chart.mark(marks()));
    // Only the first failure is reported.
    segments.catch(() => {});
    flows.catch(() => {});
    classes.catch(() => {});
    series.catch(() => {});
    const found = await matrix;
    if (found.pairs.length === 1 && !this.ends) return this.single(found.pairs[0], shown, span, signal);
    this.only = undefined;
    if (!found.pairs.length && !(await series).points.length && !(await flows).flows.length) return this.empty(shown);
    // Classes are a choice above the matrix, for which it does not wait.
    classes.then(({ classes: rows }) => { this.classRows = rows; this.group(found, shown); }, () => {});
    this.fill(found, shown);
    await Promise.all([series, flows, segments]);
    return undefined;
  }

  fill(found, shown) {
    if (this.element.firstChild !== this.full) this.element.replaceChildren(this.full);
    this.metrics.choose(shown.metric);
    this.order.choose(shown.nodes);
    this.group(found, shown);
    const { pairs: all, total } = found;
    const { of, name } = METRICS[shown.metric];
    const worst = all.toSorted((a, b) => (of(b) ?? -Infinity) - (of(a) ?? -Infinity));
    const show = (most) => {
      const rows = worst.slice(0, Math.max(10, Math.floor(most)));
      this.title.textContent = `${rows.length} of ${exact(total)} by ${name}`;
      this.pairTable.update(rows, { sorted: shown.metric, none: "No report names both ends of a pair." });
    };
    const room = this.matrix.element.clientHeight || this.hostPlace.clientHeight;
    const most = room / 25 - 1;
    show(most);
    // Long names take two lines.
    const height = this.pairTable.element.clientHeight;
    if (height > room) show((most * room) / height);
    this.more.setAttribute("href", link({ view: "flows" }));
  }

  // Most networks have no transit hops, so that their first screen needs no scripts for them.
  async showSegments(segments) {
    if (!this.segments && !segments.length) return;
    const { SegmentPanel } = await import("./path.js");
    if (!this.segments) {
      this.segments = new SegmentPanel();
      this.full.append(wide(this.segments.element));
    }
    this.segments.update(segments);
  }

  // How pairs are grouped, and the two groups whose pairs are shown one by one.
  choose(shown) {
    const labels = this.labels();
    this.usual = usualGrouping(labels, this.hosts());
    this.grouping = labels.has(shown.by) || [HOST, HOSTS, CLASS].includes(shown.by) ? shown.by : this.usual;
    this.ends = labels.has(this.grouping) ? readWithin(shown.within) : undefined;
  }

  // The matrix by host, or by what hosts or flows have in common.
  group({ pairs: found, groups }, shown) {
    const { grouping: by, ends, classRows: classes } = this;
    const isLabel = ![HOST, HOSTS, CLASS].includes(by);
    const options = groupings(this.labels(), this.hosts(), classes.length > 0);
    if (this.options !== String(options)) this.by.replaceChildren(...options.map(([value, text]) => h("option", { value }, text)));
    this.options = String(options);
    this.by.hidden = options.length < 2;
    this.by.value = by;
    for (const one of [this.matrix.element, this.order]) one.hidden = by === CLASS || by === HOSTS;
    this.order.firstChild.textContent = isLabel ? "by name" : "by ID";
    this.classes.element.hidden = by !== CLASS;
    this.hostPlace.hidden = by !== HOSTS;
    this.part.hidden = !ends;
    if (by === CLASS) return this.classes.update(classes, { sorted: shown.metric, none: "No flow has a class." });
    if (by === HOSTS) return this.worstHosts(groups, shown);
    if (!isLabel) return this.matrix.update(found, shown.metric, shown.nodes);
    if (!ends) return this.matrix.update(groups, shown.metric, shown.nodes, String);
    this.part.replaceChildren(`from ${by} ${ends[0]} to ${by} ${ends[1]} · `, h("a", { href: link({ within: "" }) }, `all by ${by}`));
    return this.matrix.update(found, shown.metric, shown.nodes);
  }

  worstHosts(groups, { metric }) {
    if (this.hostTable?.metric !== metric) {
      this.hostTable = Object.assign(hostTable("Hosts, worst first", metric), { metric });
      this.hostPlace.replaceChildren(this.hostTable.element);
    }
    this.hostTable.update(hostsWithBoth(groups).slice(0, MOST_HOSTS), { sorted: metric, none: "" });
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
