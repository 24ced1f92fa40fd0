// Coverage: of the packets that the watchlists ask for, how many were measured, and why the others were not.

import { h } from "./dom.js";
import { named } from "./names.js";
import { count, exact } from "./units.js";

const MOST = 50;

function missedOf(row) {
  return Object.values(row.missed).reduce((sum, packets) => sum + packets, 0);
}

// "97.3 %"; 100 % only if nothing is missing.
export function share(measured, missed) {
  if (measured + missed === 0) return "–";
  const percent = (100 * measured) / (measured + missed);
  return `${missed > 0 ? Math.min(percent, 99.9).toFixed(1) : "100"} %`;
}

export class CoverageTable {
  constructor() {
    const heads = [["from", "left"], ["to", "left"], ["class", "left"], ["tagged"], ["measured"], ["share"], ["not measured, by reason", "left"]];
    this.body = h("tbody", {});
    this.none = h("p", { class: "none" }, "No source has told which packets it did not tag.");
    this.table = h("table", { class: "rows", "aria-label": "Coverage" },
      h("thead", {}, h("tr", {}, heads.map(([name, left]) => h("th", { scope: "col", class: left }, name)))), this.body);
    this.element = h("div", { class: "scroll" }, this.table, this.none);
  }

  update(rows) {
    this.none.hidden = rows.length > 0;
    this.table.hidden = !rows.length;
    this.body.replaceChildren(...byPair(rows).slice(0, MOST).flatMap((pair) => [
      row(pair, "all"), ...pair.rows.filter((one) => one.class !== null).map((one) => row(one, one.class))]));
  }
}

// Pairs with the sums of their classes, those with most packets that were not measured first.
export function byPair(rows) {
  const pairs = new Map();
  for (const one of rows) {
    const key = `${one.source}>${one.sink}`;
    const pair = pairs.get(key) ?? { source: one.source, sink: one.sink, tagged: null, measured: 0, missed: {}, rows: [] };
    pairs.set(key, pair);
    pair.rows.push(one);
    pair.measured += one.measured ?? 0;
    if (one.tagged != null) pair.tagged = (pair.tagged ?? 0) + one.tagged;
    for (const [reason, packets] of Object.entries(one.missed)) pair.missed[reason] = (pair.missed[reason] ?? 0) + packets;
  }
  return [...pairs.values()].toSorted((a, b) => missedOf(b) - missedOf(a));
}

function row({ source, sink, tagged, measured, missed }, name) {
  const lacking = missedOf({ missed });
  const reasons = Object.entries(missed).toSorted(([, a], [, b]) => b - a);
  const unknown = measured === null && !missed.no_sink_told;
  return h("tr", {}, h("th", { scope: "row", class: "left" }, named(source)), h("td", { class: "left" }, sink === null ? "no known sink" : named(sink)),
    h("td", { class: "left" }, name),
    h("td", { title: tagged === null ? "The source tells nothing of this class" : exact(tagged) }, tagged === null ? "–" : count(tagged)),
    h("td", { title: unknown ? "The sink tells nothing of this class" : exact(measured ?? 0) }, unknown ? "–" : count(measured ?? 0)),
    h("td", { class: lacking > 0 ? "trouble" : undefined }, unknown ? "–" : share(measured ?? 0, lacking)),
    h("td", { class: "left" }, reasons.map(([reason, packets]) => `${reason.replaceAll("_", " ")} ${exact(packets)}`).join(", ")));
}
