// Coverage: of the packets that the watchlists ask for, and of their bytes, how many were measured, and why the others were not.

import { severity } from "./colour.js";
import { h } from "./dom.js";
import { named } from "./names.js";
import { bytes, count, exact } from "./units.js";

const MOST = 50;

function missedOf(row) {
  return Object.values(row.missed).reduce((sum, packets) => sum + packets, 0);
}

// The bytes of the packets that were not measured; null: not all of them are known.
function missedBytesOf({ missed, missed_bytes: known }) {
  return Object.keys(missed).reduce((sum, reason) => plus(sum, known?.[reason]), 0);
}

// A sum is known if both parts are.
function plus(a, b) {
  return a == null || b == null ? null : a + b;
}

// "97.3 %"; 100 % only if nothing is missing.
export function share(measured, missed) {
  if (measured + missed === 0) return "–";
  const percent = (100 * measured) / (measured + missed);
  return `${missed > 0 ? Math.min(percent, 99.9).toFixed(1) : "100"} %`;
}

export class CoverageTable {
  constructor() {
    const heads = [["from", "left"], ["to", "left"], ["class", "left"], ["tagged"], ["measured"], ["share"], ["bytes"], ["share of bytes"], ["not measured, by reason", "left"]];
    this.body = h("tbody", {});
    this.none = h("p", { class: "none" }, "No source has reported which packets it did not tag.");
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
    const pair = pairs.get(key) ?? { source: one.source, sink: one.sink, tagged: null, tagged_bytes: null, measured: null, measured_bytes: null,
      missed: {}, missed_bytes: {}, rows: [] };
    pairs.set(key, pair);
    pair.rows.push(one);
    for (const told of ["measured", "tagged"].filter((name) => one[name] != null)) {
      const known = `${told}_bytes`;
      pair[known] = plus(pair[told] === null ? 0 : pair[known], one[known]);
      pair[told] = (pair[told] ?? 0) + one[told];
    }
    for (const [reason, packets] of Object.entries(one.missed)) {
      const before = reason in pair.missed ? pair.missed_bytes[reason] : 0;
      pair.missed_bytes[reason] = plus(before, one.missed_bytes?.[reason]);
      pair.missed[reason] = (pair.missed[reason] ?? 0) + packets;
    }
  }
  return [...pairs.values()].toSorted((a, b) => missedOf(b) - missedOf(a));
}

// The title of a number of packets, with their bytes if they are known.
function exactly(packets, known) {
  return known == null ? exact(packets) : `${exact(packets)} packets, ${exact(known)} bytes`;
}

function row(of, name) {
  const { source, sink, tagged, measured, missed } = of;
  const lacking = missedOf(of);
  const lackingBytes = missedBytesOf(of);
  // Nothing can have been measured: no packet was tagged where no sink ever answered.
  const without = sink === null && tagged === null;
  const measuredBytes = without ? 0 : of.measured_bytes ?? null;
  const noShare = measuredBytes === null || lackingBytes === null;
  const unknownBytes = "Not known: of packets that no sink reported, or that an older host reports";
  const reasons = Object.entries(missed).toSorted(([, a], [, b]) => b - a);
  const unknown = measured === null && !missed.no_sink_told && !without;
  return h("tr", {}, h("th", { scope: "row", class: "left" }, named(source)), h("td", { class: "left" }, sink === null ? "no known sink" : named(sink)),
    h("td", { class: "left" }, name),
    h("td", { title: tagged === null ? "The source reports nothing of this class" : exactly(tagged, of.tagged_bytes) }, tagged === null ? "–" : count(tagged)),
    h("td", { title: unknown ? "The sink reports nothing of this class" : exact(measured ?? 0) }, unknown ? "–" : count(measured ?? 0)),
    h("td", { class: severity("unmeasured", lacking / ((measured ?? 0) + lacking)) }, unknown ? "–" : share(measured ?? 0, lacking)),
    h("td", { title: measuredBytes === null ? undefined : `${exact(measuredBytes)} bytes measured` }, measuredBytes === null ? "–" : bytes(measuredBytes)),
    h("td", { class: severity("unmeasured", lackingBytes / ((measuredBytes ?? 0) + lackingBytes)), title: noShare ? unknownBytes : `${exact(lackingBytes)} bytes not measured` },
      noShare ? "–" : share(measuredBytes, lackingBytes)),
    h("td", { class: "left" }, reasons.map(([reason, packets], place) => h("span", { title: exactly(packets, of.missed_bytes?.[reason]) },
      `${place > 0 ? ", " : ""}${reason.replaceAll("_", " ")} ${exact(packets)}`))));
}
