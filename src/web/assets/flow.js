// One flow: its figures in all and over time, and its reports.

import { ask, ms, series as seriesOf } from "./api.js";
import { Chart } from "./chart.js";
import { h, panel } from "./dom.js";
import { staleNote } from "./freshness.js";
import { networkMarks, pathMarks } from "./marks.js";
import { nodeNamed } from "./names.js";
import { reportsIn } from "./pair.js";
import { PathPanel } from "./path.js";
import { link, setAbove } from "./state.js";
import { Reports } from "./reports.js";
import { splitBar } from "./split.js";
import { figuresList, flowName } from "./tables.js";
import { TcpChart } from "./tcp_chart.js";
import { time } from "./units.js";

const MOST_CONNECTIONS = 5;

export class FlowView {
  constructor(shown, { zoom }) {
    this.chart = new Chart(zoom);
    this.tcp = new TcpChart();
    this.paths = new PathPanel();
    this.reports = new Reports({ withFlow: false });
    this.figures = h("div", {}, h("p", { class: "loading" }, "Loading…"));
    this.heading = h("h1", {}, `flow ${shown.flow}`);
    this.element = h("div", { class: "view stack" }, this.heading,
      panel("Figures", null, this.figures), panel("By time", null, this.chart.element, this.tcp.element), this.paths.element, panel("Reports", null, this.reports.element));
  }

  async update(shown, span, signal) {
    const one = { flow: shown.flow };
    const [{ flows: [flow] }, series, { reports }, { paths, loss }, tcp, marks] = await Promise.all([
      ask("flows", span, one, signal),
      seriesOf(span, { ...one, points: 300 }, signal),
      ask("reports", reportsIn(span, shown), { ...one, limit: 100 }, signal),
      ask("paths", span, one, signal),
      ask("tcp", span, { ...one, order: "newest", limit: MOST_CONNECTIONS, points: 300 }, signal),
      networkMarks(span, signal),
    ]);
    this.head(flow, shown);
    this.figures.replaceChildren(staleNote(flow) || "", flow ? figuresList(flow) : h("p", { class: "none" }, "No reports of this flow in this period."), splitBar(flow?.loss_split, flow));
    this.chart.update(series, span);
    this.chart.mark([...marks(flow && [flow.source, flow.sink]), ...pathMarks(paths, span)]);
    this.tcp.update(tcp, span);
    this.paths.update(paths, loss, span);
    this.reports.update(reports);
  }

  head(flow, shown) {
    const paired = flow && flow.source !== null && flow.sink !== null;
    const pair = paired && { view: "pair", source: String(flow.source), sink: String(flow.sink) };
    setAbove(pair || { view: "flows" });
    const slash = () => h("span", { class: "dim" }, " / ");
    this.heading.replaceChildren(
      h("a", { href: link({ view: "overview" }) }, "Matrix"), slash(),
      ...(pair ? [h("a", { href: link(pair) }, `${nodeNamed(flow.source)} → ${nodeNamed(flow.sink)}`), slash()] : []),
      ...(flow ? flowName(flow).filter(Boolean) : [`flow ${shown.flow}`]),
      ...(flow?.class ? [h("span", { class: "tag" }, flow.class)] : []),
      ...(flow ? [h("span", { class: "more dim" }, `reported ${time(ms(flow.first_ns))} to ${time(ms(flow.last_ns))}`)] : []));
  }
}
