// The state of a flow's TCP connections over time, below its one-way latency and on the same axis.

import { LEFT, RIGHT } from "./chart.js";
import { ms } from "./api.js";
import { h, svg } from "./dom.js";
import { besideText, limitClass, limitTag, worstHop } from "./tcp.js";
import { bytes, count, duration, exact, time } from "./units.js";

const LANES = [["limited by", 12], ["rtt", 70], ["cwnd", 46], ["retrans.", 34]];
const BETWEEN = 14;

const us = (value) => (value === undefined ? "–" : duration(value * 1000));

export class TcpChart {
  constructor() {
    this.picture = svg("svg", { class: "chart tcp-chart", role: "img", "aria-label": "State of the TCP connection over time: what limits it, round-trip time, congestion window, retransmissions" });
    this.words = h("ul", { class: "tcp-words" });
    this.element = h("div", { class: "chart-box", hidden: true }, h("h3", {}, "TCP of the sender"), this.words, this.picture);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  update({ connections, states }, span) {
    this.span = span;
    this.period = ms(states.period_ns);
    this.points = states.points.map((point) => ({ ...point, begin: ms(point.begin_ns), middle: ms(point.begin_ns) + this.period / 2 }));
    this.element.hidden = connections.length === 0;
    this.words.replaceChildren(...connections.map((one) => h("li", {}, "limited by ", limitTag(one.limited), ` · ${this.about(one)}`)));
    this.draw();
  }

  about(one) {
    const { tcp } = one;
    const parts = [one.state === "silent" ? `silent since ${time(ms(one.time_ns))}` : `${one.state} at ${time(ms(one.time_ns))}`, `rtt ${us(tcp.srtt_us)}`, `cwnd ${exact(tcp.cwnd_segments)}`,
      `${bytes(Number(tcp.bytes_acked))} acknowledged`, besideText(one)];
    const worst = worstHop(one.option?.worst);
    if (worst) parts.push(`worst: ${worst}`);
    return parts.join(" · ");
  }

  x(at) {
    const part = (at - this.span.since) / (this.span.until - this.span.since);
    return LEFT + Math.min(1, Math.max(0, part)) * (this.width - LEFT - RIGHT);
  }

  draw() {
    this.width = Math.max(280, this.element.clientWidth);
    if (!this.points || this.element.clientWidth < 50) return;
    let top = 6;
    const parts = LANES.map(([name, height]) => {
      const lane = { name, top, height, bottom: top + height };
      top = lane.bottom + BETWEEN;
      return this.lane(lane);
    });
    this.picture.setAttribute("height", top - BETWEEN + 4);
    this.picture.setAttribute("width", this.width);
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${top - BETWEEN + 4}`);
    this.picture.replaceChildren(...parts);
  }

  lane(lane) {
    const shapes = {
      "limited by": () => this.strip(lane),
      rtt: () => this.lines(lane, [["p50", (point) => point.srtt_us], ["p90", (point) => point.min_rtt_us]], us),
      cwnd: () => this.lines(lane, [["p50", (point) => point.cwnd_segments]], count),
      "retrans.": () => this.bars(lane),
    }[lane.name]();
    const title = lane.name === "rtt" ? "rtt, and dashed the least" : lane.name;
    return svg("g", { class: "tcp-lane" }, shapes, svg("text", { class: "lane", x: LEFT + 4, y: lane.top + 10 }, lane.name === "limited by" ? "" : title),
      lane.name === "limited by" ? svg("text", { x: LEFT - 6, y: lane.top + 10, "text-anchor": "end" }, "limited by") : []);
  }

  wide(point) {
    return Math.max(1, this.x(point.begin + this.period) - this.x(point.begin));
  }

  strip(lane) {
    return this.points.map((point) => svg("rect", { class: limitClass(point.limited), x: this.x(point.begin), y: lane.top, width: this.wide(point), height: lane.height },
      svg("title", {}, `${time(point.begin)}: ${point.limited}`)));
  }

  scale(values, lane, text) {
    const most = values.reduce((a, b) => Math.max(a, b), 0) || 1;
    const y = (value) => lane.bottom - (value / most) * (lane.height - 8);
    const grid = [0, most].map((value) => svg("g", { class: "grid" }, svg("line", { x1: LEFT, x2: this.width - RIGHT, y1: y(value), y2: y(value) }),
      svg("text", { x: LEFT - 6, y: y(value) + 3.5, "text-anchor": "end" }, text(value))));
    return { y, grid };
  }

  // A line for each connection; periods without a value are gaps.
  lines(lane, kinds, text) {
    const { y, grid } = this.scale(this.points.flatMap((point) => kinds.map(([, of]) => of(point) ?? 0)), lane, text);
    const ids = [...new Set(this.points.map((point) => point.id))];
    const runs = kinds.flatMap(([kind, of]) => ids.map((id) => {
      const known = this.points.filter((point) => point.id === id && of(point) !== undefined);
      if (known.length === 1) return svg("circle", { class: "p50-dot", cx: this.x(known[0].middle), cy: y(of(known[0])), r: 2.5 });
      return svg("polyline", { class: kind, points: known.map((point) => `${this.x(point.middle).toFixed(1)},${y(of(point)).toFixed(1)}`).join(" ") });
    }));
    return [grid, runs];
  }

  bars(lane) {
    const of = (point) => Number(point.retransmitted_segments);
    const { y, grid } = this.scale(this.points.map(of), lane, count);
    const some = this.points.filter((point) => of(point) > 0);
    return [some.length ? grid : grid[0], svg("g", { class: "loss" }, some.map((point) =>
      svg("rect", { class: "bar", x: this.x(point.begin), y: y(of(point)), width: Math.max(1, this.wide(point) - 1), height: lane.bottom - y(of(point)) },
        svg("title", {}, `${time(point.begin)}: ${exact(of(point))}`))))];
  }
}
