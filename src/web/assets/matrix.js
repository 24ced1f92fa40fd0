// The matrix of nodes: a cell for each pair, on a canvas, so that 200 nodes are as fast as two.

import { alarms, css, ink, lateness, rgb, scale, severity } from "./colour.js";
import { h, say, style } from "./dom.js";
import { latencyText } from "./figures.js";
import { isSilent, staleSince } from "./freshness.js";
import { legend } from "./legend.js";
import { named } from "./names.js";
import { tipWords } from "./tip.js";
import { duration, lossOf, share, time } from "./units.js";

// Sizes of a cell, in pixels.
const SMALLEST = 3;
const WIDEST = 96;
const HIGHEST = 44;
const MARK = 11;
const MANY = 40_000;
const FONT = "11px system-ui, sans-serif";

export const METRICS = {
  p50: { name: "p50 latency", kind: "latency", of: (pair) => pair.latency?.p50_ns },
  p99: { name: "p99 latency", kind: "latency", of: (pair) => pair.latency?.p99_ns, alarm: lateness },
  loss: { name: "loss", kind: "loss", of: lossOf },
};

// Nodes by their number, groups by name.
const inOrder = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));

export class Matrix {
  // `open` is called with the chosen pair.
  constructor(open) {
    this.open = open;
    this.base = h("canvas", { class: "base" });
    this.over = h("canvas", {
      class: "over", tabindex: "0", role: "application", "aria-roledescription": "heat map",
      "aria-label": "Pairs of nodes. Arrow keys move from cell to cell, Enter opens a pair.",
    });
    this.tip = h("div", { class: "tip", hidden: true });
    this.legend = h("div", { class: "legend" });
    const zoom = (text, title, by) => h("button", { type: "button", title, "aria-label": title, onclick: () => this.zoom(by) }, text);
    this.tools = h("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
      zoom("−", "Smaller (-)", 1 / 1.5), zoom("+", "Larger (+)", 1.5), zoom("fit", "Whole matrix (0)", 0));
    this.field = h("div", { class: "matrix" }, this.base, this.over, this.tip);
    this.element = h("div", {}, h("div", { class: "under-head" }, this.legend, this.tools), this.field);
    this.name = named;
    this.nodes = [];
    this.cells = new Map();
    this.chosen = undefined;
    this.pointed = undefined;
    this.factor = 1;
    this.left = 0;
    this.top = 0;
    this.listen();
  }

  listen() {
    const over = this.over;
    new ResizeObserver(() => this.draw()).observe(this.field);
    over.addEventListener("pointermove", (event) => this.pointer(event));
    over.addEventListener("pointerleave", () => { this.pointed = undefined; this.drag = undefined; this.drawOver(); });
    over.addEventListener("pointerdown", (event) => { this.drag = { x: event.clientX, y: event.clientY, moved: false }; });
    over.addEventListener("pointerup", (event) => {
      const moved = this.drag?.moved;
      this.drag = undefined;
      const cell = this.cellAt(event);
      if (!moved && cell && this.pairAt(cell)) this.open(this.pairAt(cell));
    });
    over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    over.addEventListener("keydown", (event) => this.key(event));
    over.addEventListener("focus", () => { this.chosen ??= this.worst(); this.drawOver(); });
    over.addEventListener("blur", () => this.drawOver());
  }

  // `name` says what a node, or a group of them, is called.
  update(pairs, metric, order, name = named) {
    this.metric = METRICS[metric];
    this.name = name;
    this.cells = new Map(pairs.map((pair) => [`${pair.source}>${pair.sink}`, pair]));
    const worst = new Map();
    for (const pair of pairs) {
      const value = this.metric.of(pair) ?? 0;
      for (const node of [pair.source, pair.sink]) worst.set(node, Math.max(worst.get(node) ?? 0, value));
    }
    const nodes = [...worst.keys()];
    nodes.sort(order === "worst" ? (a, b) => worst.get(b) - worst.get(a) || inOrder(a, b) : inOrder);
    const key = (cell) => cell && [this.nodes[cell.row], this.nodes[cell.column]];
    const [chosen, pointed] = [key(this.chosen), key(this.pointed)];
    this.nodes = nodes;
    this.places = new Map(nodes.map((node, i) => [node, i]));
    const back = (names) => {
      const cell = names && { row: nodes.indexOf(names[0]), column: nodes.indexOf(names[1]) };
      return cell && cell.row >= 0 && cell.column >= 0 ? cell : undefined;
    };
    [this.chosen, this.pointed] = [back(chosen), back(pointed)];
    this.scale = scale(this.metric.kind);
    this.draw();
  }

  pairAt(cell) {
    return this.cells.get(`${this.nodes[cell.row]}>${this.nodes[cell.column]}`);
  }

  worst() {
    let found;
    let most = -Infinity;
    for (const pair of this.cells.values()) {
      const value = this.metric.of(pair) ?? -Infinity;
      if (value > most || !found) [found, most] = [pair, value];
    }
    return found && { row: this.nodes.indexOf(found.source), column: this.nodes.indexOf(found.sink) };
  }

  layout() {
    const width = this.field.clientWidth;
    const context = this.base.getContext("2d");
    context.font = FONT;
    const longest = this.nodes.reduce((most, node) => Math.max(most, context.measureText(this.name(node)).width), 8);
    const count = Math.max(1, this.nodes.length);
    const gutter = Math.ceil(longest) + 26;
    const room = { width: width - gutter - 2, height: Math.max(320, window.innerHeight - 230) };
    this.fitted = { width: Math.max(SMALLEST, Math.min(WIDEST, room.width / count)), height: Math.max(SMALLEST, Math.min(HIGHEST, room.height / count)) };
    this.size();
    this.turned = longest > this.cell.width - 4;
    this.gutter = { x: gutter, y: this.turned ? gutter : 34 };
    const [across, down] = [this.cell.width * count, this.cell.height * count];
    this.shown = { width: Math.min(room.width, across), height: Math.min(Math.max(room.height, this.fitted.height * count), down) };
    this.left = Math.min(Math.max(0, this.left), across - this.shown.width);
    this.top = Math.min(Math.max(0, this.top), down - this.shown.height);
    return { width, height: Math.ceil(this.shown.height + this.gutter.y + 2) };
  }

  size() {
    const of = (fitted, most) => Math.min(most, fitted * this.factor);
    this.cell = { width: of(this.fitted.width, WIDEST), height: of(this.fitted.height, HIGHEST) };
  }

  paper(canvas, { width, height }) {
    const dots = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.scale(dots, dots);
    context.font = FONT;
    return context;
  }

  // The indices that are visible along one axis.
  seen(offset, length, cell) {
    return [Math.floor(offset / cell), Math.min(this.nodes.length - 1, Math.floor((offset + length - 0.01) / cell))];
  }

  draw() {
    if (!this.scale || !this.field.isConnected || this.field.clientWidth < 50) return;
    const size = this.layout();
    this.field.style.height = `${size.height}px`;
    const context = this.paper(this.base, size);
    const { x, y } = this.gutter;
    context.save();
    context.beginPath();
    context.rect(x, y, this.shown.width, this.shown.height);
    context.clip();
    const small = Math.min(this.cell.width, this.cell.height);
    const gap = small >= 7 ? 1 : small >= 5 ? 0.5 : 0;
    const [top, bottom] = this.seen(this.top, this.shown.height, this.cell.height);
    const [left, right] = this.seen(this.left, this.shown.width, this.cell.width);
    const colours = { none: style("--cell-none"), zero: style("--cell-zero"), negative: style("--cell-negative"), bad: style("--bad"), trouble: style("--loss"), dim: style("--dim") };
    for (const cell of this.visible(top, bottom, left, right)) this.drawCell(context, cell, gap, colours);
    context.restore();
    this.drawLabels(context, top, bottom, left, right);
    this.drawOver();
    this.drawLegend();
  }

  // The cells to draw: of many nodes only those that have a pair, because few of them talk to each other.
  * visible(top, bottom, left, right) {
    if ((bottom - top + 1) * (right - left + 1) > MANY) {
      for (const { source, sink } of this.cells.values()) {
        const [row, column] = [this.places.get(source), this.places.get(sink)];
        if (row >= top && row <= bottom && column >= left && column <= right) yield { row, column };
      }
      return;
    }
    for (let row = top; row <= bottom; row += 1) for (let column = left; column <= right; column += 1) yield { row, column };
  }

  drawCell(context, cell, gap, colours) {
    const pair = this.pairAt(cell);
    const value = pair && this.metric.of(pair);
    const colour = value > 0 && !staleSince(pair) ? this.colourOf(value, pair) : undefined;
    if (!pair && (cell.row !== cell.column || gap === 0)) return;
    const x = this.gutter.x + cell.column * this.cell.width - this.left;
    const y = this.gutter.y + cell.row * this.cell.height - this.top;
    if (colour) context.fillStyle = css(colour);
    else if (!pair || value === undefined || staleSince(pair)) context.fillStyle = colours.none;
    else context.fillStyle = value < 0 ? colours.negative : colours.zero;
    context.fillRect(x, y, this.cell.width - gap, this.cell.height - gap);
    if (this.marksLoss(pair)) this.drawLoss(context, x + this.cell.width - gap, y, colours[severity("loss", lossOf(pair), pair) ?? "dim"]);
    if (this.cell.width < 50 || this.cell.height < 14 || !pair) return;
    context.fillStyle = colour ? ink(colour) : colours.dim;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(this.metric.kind === "latency" ? latencyText(pair, value) : `${pair.ofReports ? "~" : ""}${this.scale.text(value)}`, x + this.cell.width / 2, y + this.cell.height / 2);
  }

  // What is unusual, or beyond a limit, stands out of the scale.
  colourOf(value, pair) {
    const alarm = this.metric.alarm?.(pair);
    return alarm ? rgb(alarms()[alarm]) : this.scale.colour(value, pair);
  }

  // A cell of latency has a mark, too, if packets were lost; a small cell, if it was an unusual part.
  marksLoss(pair) {
    if (this.metric.kind !== "latency" || !(pair?.lost > 0) || staleSince(pair)) return false;
    return Math.min(this.cell.width, this.cell.height) >= MARK || severity("loss", lossOf(pair), pair) !== undefined;
  }

  // A corner, up to `right` and down from `y`.
  drawLoss(context, right, y, colour) {
    const size = Math.min(MARK, this.cell.width / 2, this.cell.height / 2);
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(right, y);
    context.lineTo(right - size, y);
    context.lineTo(right, y + size);
    context.fill();
  }

  drawLabels(context, top, bottom, left, right) {
    const { x, y } = this.gutter;
    const every = (size) => Math.max(1, Math.ceil(13 / size));
    const [rows, columns] = [every(this.cell.height), every(this.turned ? this.cell.width : this.cell.width + 13)];
    context.fillStyle = style("--dim");
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (let row = top; row <= bottom; row += 1) {
      const at = y + (row + 0.5) * this.cell.height - this.top;
      if (row % rows === 0 && at > y + 4) this.drawLabel(context, this.nodes[row], x - 5, at);
    }
    for (let column = left; column <= right; column += 1) {
      const at = x + (column + 0.5) * this.cell.width - this.left;
      if (column % columns !== 0 || at < x + 4) continue;
      context.save();
      context.translate(at, y - 5);
      if (this.turned) context.rotate(-Math.PI / 2);
      context.textAlign = this.turned ? "left" : "center";
      context.textBaseline = this.turned ? "middle" : "bottom";
      this.drawLabel(context, this.nodes[column], 0, 0);
      context.restore();
    }
    context.fillStyle = style("--dim");
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText("to →", x, 1);
    context.save();
    context.translate(1, y + Math.min(this.shown.height, 110));
    context.rotate(-Math.PI / 2);
    context.fillText("← from", 0, 0);
    context.restore();
  }

  // A node's label, in another colour if the node is silent.
  drawLabel(context, node, x, y) {
    context.fillStyle = style(isSilent(node) ? "--trouble" : "--dim");
    context.fillText(this.name(node), x, y);
  }

  // The row, column and values of the cell that is pointed at or chosen.
  drawOver() {
    const size = { width: this.field.clientWidth, height: this.field.clientHeight };
    if (!this.gutter || size.width < 50) return;
    const context = this.paper(this.over, size);
    const focused = document.activeElement === this.over;
    const cell = this.pointed ?? (focused ? this.chosen : undefined);
    this.tip.hidden = !cell;
    if (!cell) return;
    const { x, y } = this.gutter;
    const cx = x + cell.column * this.cell.width - this.left;
    const cy = y + cell.row * this.cell.height - this.top;
    const { cell: { width, height }, shown } = this;
    context.fillStyle = style("--veil");
    for (const [top, bottom] of [[y, cy], [cy + height, y + shown.height]]) {
      for (const [left, right] of [[x, cx], [cx + width, x + shown.width]]) {
        if (bottom > top && right > left) context.fillRect(left, top, right - left, bottom - top);
      }
    }
    context.strokeStyle = style("--text");
    context.lineWidth = 2;
    context.strokeRect(cx - 1, cy - 1, width + 1, height + 1);
    context.fillStyle = style("--accent");
    context.fillRect(x - 4, cy, 3, height);
    context.fillRect(cx, y - 4, width, 3);
    this.tip.replaceChildren(...tipWords(this.nodes[cell.row], this.nodes[cell.column], this.pairAt(cell), this.name));
    const right = cx + width + 12;
    const wide = this.tip.offsetWidth;
    this.tip.style.left = `${right + wide < size.width ? right : Math.max(0, cx - wide - 10)}px`;
    this.tip.style.top = `${Math.max(0, Math.min(cy, size.height - this.tip.offsetHeight))}px`;
  }

  drawLegend() {
    this.legend.replaceChildren(...legend(this.scale, this.metric, [...this.cells.values()], (pair) => this.marksLoss(pair)));
    this.tools.hidden = this.fitted.height >= 20;
  }

  cellAt(event) {
    const box = this.over.getBoundingClientRect();
    const x = event.clientX - box.left - this.gutter.x;
    const y = event.clientY - box.top - this.gutter.y;
    if (x < 0 || y < 0 || x >= this.shown.width || y >= this.shown.height) return undefined;
    return { row: Math.floor((y + this.top) / this.cell.height), column: Math.floor((x + this.left) / this.cell.width) };
  }

  pointer(event) {
    if (this.drag && event.buttons) {
      const [dx, dy] = [event.clientX - this.drag.x, event.clientY - this.drag.y];
      if (this.drag.moved || Math.hypot(dx, dy) > 4) {
        this.drag = { x: event.clientX, y: event.clientY, moved: true };
        this.left -= dx;
        this.top -= dy;
        this.pointed = undefined;
        this.draw();
        return;
      }
    }
    this.pointed = this.cellAt(event);
    const pair = this.pointed && this.pairAt(this.pointed);
    this.over.classList.toggle("pointing", Boolean(pair));
    this.drawOver();
  }

  // The wheel zooms with Ctrl; without, it scrolls the zoomed matrix, or else the page.
  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const cell = this.cellAt(event);
      this.zoom(event.deltaY < 0 ? 1.25 : 0.8, cell);
    } else if (this.factor > 1) {
      event.preventDefault();
      this.left += event.shiftKey ? event.deltaY : event.deltaX;
      this.top += event.shiftKey ? 0 : event.deltaY;
      this.draw();
    }
  }

  zoom(by, around = this.pointed ?? this.chosen) {
    const before = this.cell;
    const most = Math.max(1, HIGHEST / this.fitted.height);
    this.factor = by === 0 ? 1 : Math.min(most, Math.max(1, this.factor * by));
    this.size();
    const middle = around ?? {
      row: (this.top + this.shown.height / 2) / before.height,
      column: (this.left + this.shown.width / 2) / before.width,
    };
    this.left += (middle.column + 0.5) * (this.cell.width - before.width);
    this.top += (middle.row + 0.5) * (this.cell.height - before.height);
    this.draw();
  }

  key(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const zoom = { "+": 1.5, "-": 1 / 1.5, 0: 0 }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (zoom !== undefined) this.zoom(zoom);
    else if (event.key === "Enter" && this.chosen && this.pairAt(this.chosen)) this.open(this.pairAt(this.chosen));
    else if (step && this.nodes.length) this.move(step);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  move([down, right]) {
    const last = this.nodes.length - 1;
    const from = this.chosen ?? { row: 0, column: 0 };
    const within = (at) => Math.min(last, Math.max(0, at));
    this.chosen = { row: within(from.row + down), column: within(from.column + right) };
    this.pointed = undefined;
    const follow = (offset, shown, at, cell) => Math.max(Math.min(offset, at * cell), (at + 1) * cell - shown);
    this.left = follow(this.left, this.shown.width, this.chosen.column, this.cell.width);
    this.top = follow(this.top, this.shown.height, this.chosen.row, this.cell.height);
    this.draw();
    const pair = this.pairAt(this.chosen);
    const which = `${this.name(this.nodes[this.chosen.row])} to ${this.name(this.nodes[this.chosen.column])}`;
    say(pair ? `${which}: p50 ${duration(pair.latency?.p50_ns)}, p99 ${duration(pair.latency?.p99_ns)}, loss ${share(lossOf(pair))}${staleSince(pair) ? `, old: no report since ${time(staleSince(pair))}` : ""}` : `${which}: no reports`);
  }
}
