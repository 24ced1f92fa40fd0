// What hosts dropped: by the kernel's reason over time, and by place and flow.

import { ask, ms } from "./api.js";
import { h, panel, svg } from "./dom.js";
import { named } from "./names.js";
import { setAbove } from "./state.js";
import { flowName } from "./tables.js";
import { bytes, count, exact, time } from "./units.js";

const MOST_REASONS = 6;
const MOST_ROWS = 50;
const WIDTH = 1000;
const HEIGHT = 160;
const OTHERS = "others";

const WHERE = {
  "before-tag": "before the tag", "behind-tag": "behind the tag", between: "between source and sink",
  "before-strip": "before the strip", "behind-strip": "behind the strip",
};

// The reasons with most packets, the others as one, and the packets of each in each period.
export function stacked({ points }) {
  const sums = new Map();
  for (const { reason, packets } of points) sums.set(reason, (sums.get(reason) ?? 0) + Number(packets));
  const order = [...sums].toSorted(([, a], [, b]) => b - a).map(([reason]) => reason);
  const shown = order.slice(0, MOST_REASONS);
  const periods = new Map();
  for (const { begin_ns: begin, reason, packets } of points) {
    const parts = periods.get(begin) ?? new Map();
    periods.set(begin, parts);
    const name = shown.includes(reason) ? reason : OTHERS;
    parts.set(name, (parts.get(name) ?? 0) + Number(packets));
  }
  return { reasons: order.length > shown.length ? [...shown, OTHERS] : shown, periods };
}

const reasonName = (one) => (one.without_packet ? "without a packet" : one.reason === undefined || one.reason === "0" ? "no reason given" : one.reason);

function chart(series, span) {
  const { reasons, periods } = stacked(series);
  const most = Math.max(1, ...[...periods.values()].map((parts) => [...parts.values()].reduce((sum, packets) => sum + packets, 0)));
  const at = (begin) => ((begin - span.since) / (span.until - span.since)) * WIDTH;
  const wide = Math.max(1, (ms(series.period_ns) / (span.until - span.since)) * WIDTH - 1);
  const bars = [...periods].flatMap(([begin, parts]) => {
    let top = HEIGHT;
    return reasons.filter((reason) => parts.has(reason)).map((reason) => {
      const tall = (parts.get(reason) / most) * (HEIGHT - 4);
      top -= tall;
      return svg("rect", { class: `part p${reasons.indexOf(reason)}`, x: at(ms(begin)), y: top, width: wide, height: tall },
        svg("title", {}, `${time(ms(begin))}: ${reason} ${exact(parts.get(reason))}`));
    });
  });
  const keys = reasons.map((reason, i) => h("span", { class: "key" }, h("i", { class: `p${i}` }), reason));
  const names = `Dropped packets over time by reason: ${reasons.join(", ")}`;
  return [h("div", { class: "readout drops-keys" }, keys, h("span", {}, `at most ${count(most)} packets in a period`)),
    svg("svg", { class: "drops-chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": names }, bars)];
}

function table(label, heads, rows) {
  return h("div", { class: "scroll" }, h("table", { class: "rows", "aria-label": label },
    h("thead", {}, h("tr", {}, heads.map(([name, left]) => h("th", { scope: "col", class: left }, name)))), h("tbody", {}, rows)));
}

const counts = (one) => [h("td", { title: exact(one.packets) }, count(one.packets)), h("td", { title: exact(one.segments) }, count(one.segments)), h("td", {}, bytes(Number(one.bytes)))];

export class DropsView {
  constructor() {
    this.chart = h("div", {});
    this.places = h("div", {});
    this.flows = h("div", {});
    this.none = h("p", { class: "none", hidden: true }, "No host told drops in this period: ", h("code", {}, "hostint postcards --drops --collector"), " tells them.");
    this.parts = [panel("Dropped packets by reason", null, this.chart), panel("By place", null, this.places), panel("By flow", null, this.flows)];
    this.element = h("div", { class: "view stack" }, this.none, this.parts);
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const [places, flows] = await Promise.all(["place", "flow"].map((by) => ask("drops", span, { by, limit: MOST_ROWS }, signal)));
    this.none.hidden = places.drops.length > 0;
    for (const part of this.parts) part.hidden = !places.drops.length;
    this.chart.replaceChildren(...chart(places.series, span));
    this.places.replaceChildren(table("Drops by place", [["reason", "left"], ["function of the kernel", "left"], ["interface", "left"], ["host", "left"], ["packets"], ["segments"], ["bytes"]],
      places.drops.map((one) => h("tr", {}, h("th", { scope: "row", class: "left" }, one.ignored ? `${reasonName(one)} (no loss)` : reasonName(one)),
        h("td", { class: "left" }, one.place ?? ""), h("td", { class: "left" }, one.interface ?? ""), h("td", { class: "left" }, named(one.node)), counts(one)))));
    this.flows.replaceChildren(table("Drops by flow", [["flow", "left"], ["reason", "left"], ["function of the kernel", "left"], ["where INT sees it", "left"], ["host", "left"], ["packets"], ["segments"], ["bytes"]],
      flows.drops.filter((one) => one.flow).map((one) => h("tr", {}, h("th", { scope: "row", class: "left" }, flowName(one)), h("td", { class: "left" }, reasonName(one)),
        h("td", { class: "left" }, one.place ?? ""), h("td", { class: "left" }, WHERE[one.position] ?? ""), h("td", { class: "left" }, named(one.node)), counts(one)))));
  }
}
