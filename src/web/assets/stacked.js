// Bars over time, stacked by kind.

import { ms } from "./api.js";
import { h, svg } from "./dom.js";
import { time } from "./units.js";

const WIDTH = 1000;
const HEIGHT = 160;
const OTHERS = "others";

// The kinds with the largest sums, the others as one, and the value of each in each period. A point is [begin, kind, value].
export function stacked(points, most) {
  const sums = new Map();
  for (const [, kind, value] of points) sums.set(kind, (sums.get(kind) ?? 0) + value);
  const order = [...sums].toSorted(([, a], [, b]) => b - a).map(([kind]) => kind);
  const shown = order.slice(0, most);
  const periods = new Map();
  for (const [begin, kind, value] of points) {
    const parts = periods.get(begin) ?? new Map();
    periods.set(begin, parts);
    const name = shown.includes(kind) ? kind : OTHERS;
    parts.set(name, (parts.get(name) ?? 0) + value);
  }
  return { kinds: order.length > shown.length ? [...shown, OTHERS] : shown, periods };
}

// When a chart over time begins and ends, for below it.
export function timeEnds(span) {
  return h("div", { class: "time-ends" }, h("span", {}, time(span.since)), h("span", {}, time(span.until)));
}

// `classOf` is a kind's class by its name and place; `text` says a value, `note` the largest sum, `label` the whole.
export function stackedChart({ points, period, span, most, classOf, text, note, label }) {
  const { kinds, periods } = stacked(points, most);
  const highest = Math.max(1, ...[...periods.values()].map((parts) => [...parts.values()].reduce((sum, value) => sum + value, 0)));
  const at = (begin) => ((begin - span.since) / (span.until - span.since)) * WIDTH;
  const wide = Math.max(1, (ms(period) / (span.until - span.since)) * WIDTH - 1);
  const bars = [...periods].flatMap(([begin, parts]) => {
    let top = HEIGHT;
    return kinds.filter((kind) => parts.has(kind)).map((kind) => {
      const tall = (parts.get(kind) / highest) * (HEIGHT - 4);
      top -= tall;
      return svg("rect", { class: `part ${classOf(kind, kinds.indexOf(kind))}`, x: at(ms(begin)), y: top, width: wide, height: tall },
        svg("title", {}, `${time(ms(begin))}: ${kind} ${text(parts.get(kind))}`));
    });
  });
  const keys = kinds.map((kind, i) => h("span", { class: "key" }, h("i", { class: classOf(kind, i) }), kind));
  return [h("div", { class: "readout stacked-keys" }, keys, h("span", {}, note(highest))),
    svg("svg", { class: "stacked-chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `${label}: ${kinds.join(", ")}` }, bars), timeEnds(span)];
}
