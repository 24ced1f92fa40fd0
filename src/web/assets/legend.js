// What the colours and marks of a matrix mean.

import { alarms, severity } from "./colour.js";
import { h } from "./dom.js";
import { staleSince } from "./freshness.js";
import { lossOf } from "./units.js";

const SLOW = [["trouble", "unusually slow", "slower than is usual for the pair"], ["bad", "beyond the limit", "slower than a limit of the collector"]];
const LOSSY = [["few", "some lost"], ["trouble", "unusual loss"], ["bad", "loss beyond the limit"]];

function field([colour, text, title]) {
  const sample = h("i", {});
  sample.style.background = colour;
  return text ? [sample, h("span", { title }, text)] : [sample];
}

// Of alarms and marks, those that some of these pairs have. `marksLoss` says whether a pair's cell has a mark.
export function legend(scale, metric, pairs, marksLoss) {
  const steps = scale.legend.flatMap(field);
  const [low, high] = scale.ends ?? [];
  const ramp = low ? [h("span", { class: "ramp" }, h("span", {}, low), steps, h("span", {}, high))] : steps;
  const zero = metric.kind === "loss" ? [h("i", { class: "zero" }), h("span", {}, "none lost")] : [];
  const negative = metric.kind === "latency" && pairs.some((pair) => metric.of(pair) < 0)
    ? [h("i", { class: "negative" }), h("span", { title: "The two clocks differ by more than the packet's travel time" }, "below 0: clocks differ")] : [];
  const alarmed = new Set(pairs.filter((pair) => !staleSince(pair)).map((pair) => metric.alarm?.(pair)));
  const slow = SLOW.filter(([kind]) => alarmed.has(kind)).flatMap(([kind, ...words]) => field([alarms()[kind], ...words]));
  const marked = new Set(pairs.filter(marksLoss).map((pair) => severity("loss", lossOf(pair), pair) ?? "few"));
  const lossy = LOSSY.filter(([kind]) => marked.has(kind)).flatMap(([kind, text]) => [h("i", { class: `lossy ${kind}` }), h("span", {}, text)]);
  return [...zero, ...ramp, ...slow, ...negative, ...lossy];
}
