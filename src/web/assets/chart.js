// Figures over time: latency as a band from p50 to p99, and hatched the bound of its mean; loss and packets as bars; unknown
// values are gaps.

import { ms, now } from "./api.js";
import { LIMITS, severity } from "./colour.js";
import { h, svg } from "./dom.js";
import { withoutEdge } from "./edge.js";
import { basis, boundText, latencyText } from "./figures.js";
import { count, duration, exact, lossOf, niceStep, share, tick, time } from "./units.js";

export const LEFT = 62;
export const RIGHT = 10;
const AXIS = 20;
const LANES = [["latency", 150], ["loss", 46], ["packets", 40]];
const BETWEEN = 14;
// The width of an event's mark, what it is of if several are at one place, and how many of them it names.
const MARK = 6;
const KINDS = ["degraded", "measurement", "cannot-tell", "healthy", "event", "path", "seen"];
const MOST_SAID = 6;

const FIGURES = [
  ["p50", (point) => latencyText(point, point.latency?.p50_ns)],
  ["p90", (point) => latencyText(point, point.latency?.p90_ns)],
  ["p99", (point) => latencyText(point, point.latency?.p99_ns)],
  ["bound", (point) => boundText(point) ?? "–", "true mean"],
  ["loss", (point) => share(lossOf(point))],
  ["packets", (point) => count(point.packets)],
  ["of", basis],
];

const HATCH = svg("defs", {}, svg("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  svg("line", { x1: 0, x2: 0, y1: 0, y2: 6 })));

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800].map((s) => s * 1000);

export class Chart {
  // `zoom` is called with a span that was selected with the pointer.
  constructor(zoom) {
    this.zoom = zoom;
    this.readout = h("div", { class: "readout" });
    this.picture = svg("svg", {
      class: "chart", tabindex: "0", role: "application", "aria-roledescription": "chart",
      "aria-label": "Latency, loss and packets over time. Arrow keys move the cursor.",
    });
    this.table = h("details", { class: "as-table" }, h("summary", {}, "Values as a table"));
    this.element = h("div", { class: "chart-box" }, this.readout, this.picture, this.table);
    this.cursor = undefined;
    this.events = [];
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.picture.addEventListener("pointermove", (event) => this.pointer(event));
    this.picture.addEventListener("pointerleave", () => { this.drag = undefined; this.point(undefined); });
    this.picture.addEventListener("pointerdown", (event) => { this.drag = this.timeAt(event); event.preventDefault(); this.picture.focus(); });
    this.picture.addEventListener("pointerup", (event) => this.release(event));
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.picture.addEventListener("blur", () => this.point(undefined));
    this.table.addEventListener("toggle", () => this.fillTable());
  }

  update(series, span) {
    const period = ms(series.period_ns);
    const chosen = this.points?.[this.cursor]?.begin;
    this.period = period;
    this.span = span;
    const points = series.points.map((point) => {
      const begin = ms(point.begin_ns);
      return { ...point, begin, middle: Math.min(Math.max(begin + period / 2, span.since), span.until) };
    });
    this.points = withoutEdge(points, now());
    const again = this.points.findIndex((point) => point.begin === chosen);
    this.cursor = again < 0 ? undefined : again;
    this.draw();
    this.fillTable();
  }

  x(at) {
    return LEFT + ((at - this.span.since) / (this.span.until - this.span.since)) * (this.width - LEFT - RIGHT);
  }

  draw() {
    this.width = Math.max(280, this.element.clientWidth);
    if (!this.points || this.element.clientWidth < 50) return;
    let top = 6;
    const parts = [];
    for (const [name, height] of LANES) {
      const lane = { name, top, height, bottom: top + height };
      parts.push(this.lane(lane));
      top += height + BETWEEN;
    }
    this.bottom = top - BETWEEN;
    this.marks = svg("g", {});
    this.picture.setAttribute("height", this.bottom + AXIS);
    this.picture.setAttribute("width", this.width);
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${this.bottom + AXIS}`);
    this.picture.replaceChildren(this.gaps(), this.times(), ...parts, this.eventLines(), this.marks);
    this.point(this.cursor);
  }

  // Spans of a period or more without reports.
  gaps() {
    const { since, until } = this.span;
    const ends = this.points.map((point) => [point.begin, point.begin + this.period]);
    const gaps = [];
    let last = since;
    for (const [begin, end] of [...ends, [until, until]]) {
      if (begin - last > this.period / 2 && (begin < until || until - last > this.period * 1.5)) gaps.push([last, begin]);
      last = Math.max(last, end);
    }
    // If reports are rare, the time between them is not a gap.
    const missing = gaps.reduce((sum, [from, to]) => sum + to - from, 0);
    if (missing > (until - since) / 2) return svg("g", {});
    return svg("g", { class: "gaps" }, gaps.map(([from, to]) =>
      svg("rect", { x: this.x(from), y: 6, width: Math.max(0, this.x(Math.min(to, until)) - this.x(from)), height: this.bottom - 6 },
        svg("title", {}, `no reports from ${time(from)} to ${time(to)}`))));
  }

  // Marks of events: a thin line each, with a title that is easily pointed at.
  mark(events) {
    this.events = events;
    this.draw();
  }

  // Marks that would cover each other are one, of which the kind that says most is shown.
  eventLines() {
    const places = new Map();
    for (const event of this.events.filter(({ at }) => at > this.span.since && at < this.span.until).toSorted((a, b) => a.at - b.at)) {
      const place = Math.round(this.x(event.at) / MARK);
      if (places.has(place)) places.get(place).push(event);
      else places.set(place, [event]);
    }
    return svg("g", { class: "events" }, [...places.values()].map((events) => {
      const { at, kind } = events.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))[0];
      const x = this.x(at);
      const more = events.length > MOST_SAID ? [`and ${events.length - MOST_SAID} more`] : [];
      const words = [...events.slice(0, MOST_SAID).map((one) => `${time(one.at)}: ${one.title}`), ...more].join("\n");
      return svg("g", { class: `event ${kind}`, role: "img", "aria-label": words }, svg("title", {}, words),
        svg("rect", { x: x - 5, y: 0, width: 10, height: this.bottom }), svg("line", { x1: x, x2: x, y1: 0, y2: this.bottom }),
        svg("path", { d: `M${x - 4} 0h8l-4 6z` }));
    }));
  }

  times() {
    const { since, until } = this.span;
    const most = Math.max(2, Math.floor((this.width - LEFT) / 90));
    const step = STEPS.find((one) => (until - since) / one <= most) ?? STEPS.at(-1);
    const zone = new Date(since).getTimezoneOffset() * 60_000;
    const ticks = [];
    for (let at = Math.ceil((since - zone) / step) * step + zone; at < until; at += step) {
      const x = this.x(at);
      ticks.push(svg("line", { x1: x, x2: x, y1: 6, y2: this.bottom }));
      if (x < this.width - 20) ticks.push(svg("text", { x, y: this.bottom + 14, "text-anchor": "middle" }, tick(at, step)));
    }
    return svg("g", { class: "times" }, ticks);
  }

  lane(lane) {
    const title = svg("text", { class: "lane", x: LEFT + 4, y: lane.top + 10 }, lane.name);
    return svg("g", { class: lane.name }, lane.name === "latency" ? this.latency(lane) : this.bars(lane), title);
  }

  // The latency axis, logarithmic if the values spread widely.
  axis(values, lane) {
    const low = values.reduce((a, b) => Math.min(a, b), Infinity);
    const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    if (low > 0 && high / low > 12) {
      const [from, to] = [Math.log10(low / 1.3), Math.log10(high * 1.3)];
      const marks = [];
      for (let power = Math.floor(from); power <= to; power += 1) {
        for (const factor of to - from > 2.5 ? [1] : [1, 3]) {
          if (Math.log10(factor * 10 ** power) >= from && Math.log10(factor * 10 ** power) <= to) marks.push(factor * 10 ** power);
        }
      }
      return { marks, y: (value) => lane.bottom - ((Math.log10(value) - from) / (to - from)) * lane.height };
    }
    const [from, to] = [Math.min(0, low), Math.max(high * 1.08, 1)];
    const step = niceStep(to - from, lane.height / 34);
    const marks = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) marks.push(at);
    return { marks, y: (value) => lane.bottom - ((value - from) / (to - from)) * lane.height };
  }

  grid({ marks, y }, text) {
    return marks.map((value) => svg("g", { class: "grid" },
      svg("line", { x1: LEFT, x2: this.width - RIGHT, y1: y(value), y2: y(value) }),
      svg("text", { x: LEFT - 6, y: y(value) + 3.5, "text-anchor": "end" }, text(value))));
  }

  // Runs of points without a gap, with latencies of which this holds.
  runs(holds = () => true) {
    const runs = [];
    let last;
    for (const point of this.points) {
      if (point.latency?.p50_ns === undefined || !holds(point)) continue;
      if (last && point.begin - last.begin <= this.period * 1.5) runs.at(-1).push(point);
      else runs.push([point]);
      last = point;
    }
    return runs;
  }

  latency(lane) {
    const runs = this.runs();
    if (!runs.length) return svg("text", { class: "empty", x: (LEFT + this.width) / 2, y: lane.top + lane.height / 2, "text-anchor": "middle" }, "no latencies, or fewer than 20 reports");
    // A latency below 0 is the clocks' difference, and no packet's.
    const values = runs.flat().flatMap(({ latency }) => [latency.p50_ns, latency.p99_ns]).map((ns) => Math.max(0, ns));
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    const bounds = runs.flat().flatMap(({ clocks }) => (clocks ? [Math.min(clocks.bound_ns[1], 2 * most)] : []));
    const axis = this.axis([...values, ...bounds], lane);
    const inside = (ns) => Math.min(lane.bottom, Math.max(lane.top, axis.y(Math.max(0, ns))));
    const line = (run, name) => run.map((point) => `${this.x(point.middle).toFixed(1)},${inside(point.latency[name]).toFixed(1)}`);
    const edge = (run, end) => run.map((point) => `${this.x(point.middle).toFixed(1)},${inside(point.clocks.bound_ns[end]).toFixed(1)}`);
    const hatched = this.runs((point) => point.clocks).filter((run) => run.length > 1).map((run) =>
      svg("polygon", { class: "bound", points: [...edge(run, 0), ...edge(run, 1).reverse()].join(" ") },
        svg("title", {}, "The true mean lies here, whatever the clocks of both hosts show")));
    const unknown = runs.flat().some((point) => !point.clocks)
      ? svg("text", { class: "empty unknown", x: this.width - RIGHT - 4, y: lane.top + 10, "text-anchor": "end" }, "?: clocks not known to agree") : [];
    const shapes = runs.map((run) => {
      if (run.length === 1) {
        const [x, y] = line(run, "p50_ns")[0].split(",");
        const above = line(run, "p99_ns")[0].split(",")[1];
        return [svg("line", { class: "p99", x1: x, x2: x, y1: y, y2: above }), svg("circle", { class: "p50-dot", cx: x, cy: y, r: 2.5 })];
      }
      return [
        svg("polygon", { class: "band", points: [...line(run, "p50_ns"), ...line(run, "p99_ns").reverse()].join(" ") }),
        ["p99", "p90", "p50"].map((name) => svg("polyline", { class: name, points: line(run, `${name}_ns`).join(" ") })),
      ];
    });
    return [HATCH.cloneNode(true), this.grid(axis, duration), hatched, shapes, unknown];
  }

  bars(lane) {
    const of = lane.name === "loss" ? lossOf : (point) => point.packets;
    const highest = this.points.reduce((high, point) => Math.max(high, of(point)), 0);
    // The lane of loss is as high as the limit at least, so that little loss looks little.
    const most = lane.name === "loss" && highest > 0 ? Math.max(highest, LIMITS.loss.bad) : highest;
    const text = lane.name === "loss" ? share : count;
    const y = (value) => lane.bottom - (most > 0 ? (value / most) * (lane.height - 12) : 0);
    const ground = svg("line", { class: "ground", x1: LEFT, x2: this.width - RIGHT, y1: lane.bottom, y2: lane.bottom });
    if (!most) {
      const word = lane.name === "loss" && this.points.length ? "none" : "";
      return [ground, svg("text", { x: LEFT - 6, y: lane.bottom + 3, "text-anchor": "end" }, "0"), svg("text", { class: "empty", x: LEFT + 40, y: lane.top + 10 }, word)];
    }
    const bars = this.points.filter((point) => of(point) > 0).map((point) => {
      const [from, to] = [Math.max(LEFT, this.x(point.begin)), Math.min(this.width - RIGHT, this.x(point.begin + this.period))];
      const width = Math.max(1, to - from - (to - from > 4 ? 1 : 0));
      const top = Math.min(y(of(point)), lane.bottom - 1.5);
      const kind = lane.name === "loss" && severity("loss", of(point));
      return svg("rect", { class: kind ? `bar ${kind}` : "bar", x: from, width, y: top, height: lane.bottom - top });
    });
    return [this.grid({ marks: [most], y }, text), ground, bars];
  }

  timeAt(event) {
    const box = this.picture.getBoundingClientRect();
    const part = (event.clientX - box.left - LEFT) / (this.width - LEFT - RIGHT);
    return this.span.since + Math.min(1, Math.max(0, part)) * (this.span.until - this.span.since);
  }

  pointer(event) {
    if (!this.points?.length) return;
    const at = this.timeAt(event);
    const far = (i) => Math.abs(this.points[i].middle - at);
    let nearest = 0;
    for (let i = 1; i < this.points.length; i += 1) if (far(i) < far(nearest)) nearest = i;
    this.point(far(nearest) <= this.period * 1.5 ? nearest : undefined, at);
  }

  release(event) {
    const from = this.drag;
    this.drag = undefined;
    if (from === undefined) return;
    const to = this.timeAt(event);
    if (Math.abs(this.x(to) - this.x(from)) > 8) this.zoom({ since: Math.floor(Math.min(from, to)), until: Math.ceil(Math.max(from, to)) });
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || !this.points?.length) return;
    event.preventDefault();
    const last = this.points.length - 1;
    this.point(Math.min(last, Math.max(0, (this.cursor ?? last + (step < 0 ? 1 : 0)) + step)));
  }

  // The cursor and its values; without a cursor, the values of the newest period.
  point(index, at) {
    this.cursor = index;
    if (!this.marks) return;
    const point = index === undefined ? undefined : this.points[index];
    const x = point ? this.x(point.middle) : at && this.x(at);
    const lines = x ? [svg("line", { class: "cursor", x1: x, x2: x, y1: 6, y2: this.bottom })] : [];
    if (this.drag !== undefined && at) {
      const [from, to] = [this.x(this.drag), this.x(at)].sort((a, b) => a - b);
      lines.push(svg("rect", { class: "drawn", x: from, width: to - from, y: 6, height: this.bottom - 6 }));
    }
    this.marks.replaceChildren(...lines);
    const shown = point ?? (at === undefined ? this.points.at(-1) : undefined);
    const when = shown ? (point ? time(shown.begin) : `newest, ${time(shown.begin)}`) : at ? `${time(at)}, no reports` : "no reports";
    this.readout.replaceChildren(
      h("span", { class: "when", title: shown ? new Date(shown.begin).toISOString() : undefined }, when),
      ...FIGURES.map(([name, text, label]) => h("span", { class: `key ${name}` }, h("i", {}), label ?? name, h("b", {}, shown ? text(shown) : "–"))));
  }

  fillTable() {
    if (!this.table.open || !this.points) return;
    const rows = this.points.toReversed().map((point) => h("tr", {}, h("td", {}, time(point.begin)),
      [point.latency?.p50_ns, point.latency?.p90_ns, point.latency?.p99_ns].map((ns) => h("td", {}, latencyText(point, ns))),
      h("td", {}, boundText(point) ?? "–"),
      [point.lost, point.packets, point.reordered].map((value) => h("td", {}, count(value))), h("td", {}, basis(point))));
    const heads = ["from", "p50", "p90", "p99", "true mean", "lost", "packets", "reordered", "of"].map((name) => h("th", { scope: "col" }, name));
    this.table.replaceChildren(this.table.firstChild, h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows))));
  }
}
