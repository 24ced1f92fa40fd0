// The paths of a pair or a flow over transit hops: when packets took which one, and where they spent their time.

import { ms } from "./api.js";
import { h, panel, svg } from "./dom.js";
import { named } from "./names.js";
import { count, time } from "./units.js";
import { lostAt, segmentTable, waterfall } from "./waterfall.js";

const STRIP = 10;

// The periods in which packets came over this path.
function strip(path, span) {
  const length = span.until - span.since;
  const at = (time) => `${(100 * Math.min(1, Math.max(0, (time - span.since) / length))).toFixed(3)}%`;
  const period = ms(path.period_ns);
  const marks = path.presence.map(([begin, packets]) => {
    const from = ms(begin);
    const width = `${(100 * Math.max(0.002, (Math.min(from + period, span.until) - Math.max(from, span.since)) / length)).toFixed(3)}%`;
    return svg("rect", { x: at(from), width, y: 0, height: STRIP }, svg("title", {}, `${time(from)}: ${count(packets)} ${path.whole.packets === null ? "reports" : "packets"}`));
  });
  return svg("svg", { class: "path-times", width: "100%", height: STRIP, role: "img", "aria-label": `seen from ${time(ms(path.first_ns))} to ${time(ms(path.until_ns))}` }, marks);
}

export class PathPanel {
  constructor() {
    this.inside = h("div", {});
    this.note = h("span", { class: "dim" });
    this.element = panel("Path", this.note, this.inside);
    this.element.hidden = true;
  }

  update(paths, loss, span) {
    this.element.hidden = paths.length === 0;
    this.note.textContent = paths.length > 1 ? `${paths.length} paths, those with most packets first` : "";
    this.inside.replaceChildren(...paths.map((path) => h("section", { class: "path" },
      h("h3", {}, path.nodes.map(named).join(" → "), " ", h("span", { class: "dim" }, path.path_hash)), strip(path, span), waterfall(path))), lostAt(loss));
  }
}

// The slowest segments of all paths; hidden if no packet passed a transit hop.
export class SegmentPanel {
  constructor() {
    this.inside = h("div", {});
    this.note = h("span", { class: "dim" });
    this.element = panel("Slowest segments of paths", this.note, this.inside);
    this.element.hidden = true;
  }

  update(segments) {
    this.element.hidden = segments.length === 0;
    this.note.textContent = segments.some(({ packets }) => packets === null) ? "figures of reports, in grey, favour slow packets" : "";
    this.inside.replaceChildren(segmentTable(segments));
  }
}
