// One pair of nodes: its figures in all, over time and by flow, and its newest reports.

import { ask, now, pairs, series as seriesOf } from "./api.js";
import { Chart } from "./chart.js";
import { h, panel } from "./dom.js";
import { staleNote } from "./freshness.js";
import { networkMarks, pathMarks } from "./marks.js";
import { called, named, nodeNamed } from "./names.js";
import { PathPanel } from "./path.js";
import { go, link, setAbove } from "./state.js";
import { Reports } from "./reports.js";
import { splitBar } from "./split.js";
import { figuresList, flowTable } from "./tables.js";

// The span of single reports: up to now, or to the open one, so that its link still shows it later.
export function reportsIn(span, { at, range }) {
  if (!at) return range === "custom" ? span : { ...span, until: Math.ceil(now()) };
  const until = Math.ceil(Number(at) / 1e6) + 1;
  return { since: Math.min(span.since, until - 60_000), until };
}

export class PairView {
  constructor(shown, { zoom, alone }) {
    this.alone = alone;
    this.chart = new Chart(zoom);
    this.paths = new PathPanel();
    this.flows = flowTable("Flows of this pair", (sort) => go({ sort }), { withPair: false });
    this.reports = new Reports({ withFlow: true });
    this.figures = h("div", {}, h("p", { class: "loading" }, "Loading…"));
    this.name = h("span", {}, `node ${shown.source} → node ${shown.sink}`);
    this.back = h("a", { class: "more" }, "");
    this.crumb = h("a", {}, "Matrix");
    this.element = h("div", { class: "view stack" },
      h("h1", {}, alone ? "The only pair: " : [this.crumb, h("span", { class: "dim" }, " / ")], this.name, alone ? null : this.back),
      panel("Figures", null, this.figures), panel("By time", null, this.chart.element), this.paths.element,
      panel("Flows", null, this.flows.element), panel("Newest reports", null, this.reports.element));
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const pair = { source: shown.source, sink: shown.sink };
    const [{ pairs: [found] }, series, { flows }, { reports }, { paths, loss }, marks] = await Promise.all([
      pairs(span, pair, signal),
      seriesOf(span, { ...pair, points: 300 }, signal),
      ask("flows", span, { ...pair, order: shown.sort, limit: 100 }, signal),
      ask("reports", reportsIn(span, shown), { ...pair, limit: 25 }, signal),
      ask("paths", span, pair, signal),
      networkMarks(span, signal),
    ]);
    this.crumb.setAttribute("href", link({ view: "overview" }));
    const host = (node) => h("a", { href: link({ view: "host", host: called(node) }) }, nodeNamed(node));
    this.name.replaceChildren(host(shown.source), " → ", host(shown.sink));
    this.back.setAttribute("href", link({ view: "pair", source: shown.sink, sink: shown.source }));
    this.back.textContent = `reverse direction, ${named(shown.sink)} → ${named(shown.source)}`;
    this.figures.replaceChildren(staleNote(found) || "", found ? figuresList(found) : h("p", { class: "none" }, "No reports in this period."), splitBar(found?.loss_split, shown));
    this.chart.update(series, span);
    this.chart.mark([...marks([shown.source, shown.sink]), ...pathMarks(paths, span)]);
    this.paths.update(paths, loss, span);
    this.flows.update(flows, { sorted: shown.sort, none: "No flows in this period." });
    this.reports.update(reports);
  }
}
