// What hosts dropped: by the kernel's reason over time, and by place and flow.

import { ask } from "./api.js";
import { h, panel } from "./dom.js";
import { tunnelText } from "./hops.js";
import { named } from "./names.js";
import { stackedChart } from "./stacked.js";
import { setAbove } from "./state.js";
import { flowName } from "./tables.js";
import { bytes, count, duration, exact } from "./units.js";

const MOST_REASONS = 6;
const MOST_ROWS = 50;

const WHERE = {
  "before-tag": "before it was tagged", "behind-tag": "after it was tagged", between: "between source and sink",
  "before-strip": "before it was measured", "behind-strip": "after it was measured",
};

const reasonName = (one) => (one.without_packet ? "without a packet" : one.reason === undefined || one.reason === "0" ? "no reason given" : one.reason);

function chart({ points, period_ns: period }, span) {
  return stackedChart({
    points: points.map((point) => [point.begin_ns, point.reason, Number(point.packets)]), period, span, most: MOST_REASONS,
    classOf: (_, i) => `p${i}`, text: exact, note: (most) => `at most ${count(most)} packets in ${duration(Number(period))}`, label: "Dropped packets over time by reason",
  });
}

function table(label, heads, rows) {
  return h("div", { class: "scroll" }, h("table", { class: "rows", "aria-label": label },
    h("thead", {}, h("tr", {}, heads.map(([name, left]) => h("th", { scope: "col", class: left }, name)))), h("tbody", {}, rows)));
}

const counts = (one) => [h("td", { title: exact(one.packets) }, count(one.packets)), h("td", { title: exact(one.segments) }, count(one.segments)), h("td", {}, bytes(Number(one.bytes)))];

export function placeTable(drops) {
  return table("Drops by place", [["reason", "left"], ["function of the kernel", "left"], ["interface", "left"], ["host", "left"], ["packets"], ["segments"], ["bytes"]],
    drops.map((one) => h("tr", {}, h("th", { scope: "row", class: "left" }, one.ignored ? `${reasonName(one)} (no loss)` : reasonName(one)),
      h("td", { class: "left" }, one.place ?? ""), h("td", { class: "left" }, one.interface ?? ""), h("td", { class: "left" }, named(one.node)), counts(one))));
}

export class DropsView {
  constructor() {
    this.chart = h("div", {});
    this.places = h("div", {});
    this.flows = h("div", {});
    this.none = h("p", { class: "none", hidden: true }, "No host reported drops in this period: ", h("code", {}, "hostint postcards --drops --collector"), " does.");
    this.parts = [panel("Dropped packets by reason", null, this.chart), panel("By place", null, this.places), panel("By flow", null, this.flows)];
    this.element = h("div", { class: "view stack" }, this.none, this.parts);
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const [places, flows] = await Promise.all(["place", "flow"].map((by) => ask("drops", span, { by, limit: MOST_ROWS }, signal)));
    this.none.hidden = places.drops.length > 0;
    for (const part of this.parts) part.hidden = !places.drops.length;
    this.chart.replaceChildren(...chart(places.series, span));
    this.places.replaceChildren(placeTable(places.drops));
    this.flows.replaceChildren(table("Drops by flow", [["flow", "left"], ["reason", "left"], ["function of the kernel", "left"], ["when", "left"], ["host", "left"], ["packets"], ["segments"], ["bytes"]],
      flows.drops.filter((one) => one.flow).map((one) => h("tr", {}, h("th", { scope: "row", class: "left" }, flowName(one), tunnelText(one)), h("td", { class: "left" }, reasonName(one)),
        h("td", { class: "left" }, one.place ?? ""), h("td", { class: "left" }, WHERE[one.position] ?? ""), h("td", { class: "left" }, named(one.node)), counts(one)))));
  }
}
