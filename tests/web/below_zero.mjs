// What two clocks explain is no negative latency, in words or in drawings.

import { check, checkAll, equal, holds, result } from "./check.mjs";
import "./fake_document.mjs";

const assets = process.argv[2];
const { boundText, clocksTitle, latencyText, meanText, shown } = await import(`${assets}/figures.js`);
const { METRICS } = await import(`${assets}/matrix.js`);
const { Chart } = await import(`${assets}/chart.js`);
const { waterfall } = await import(`${assets}/waterfall.js`);

// Stamps that tell 30 to 10 us less than nothing, on average 20, of a hundred packets.
const stamped = { samples: 100, min_ns: -30_000, mean_ns: -20_000, p50_ns: -21_000, p90_ns: -12_000, p99_ns: -11_000, max_ns: -10_000, jitter_ns: 10_000 };
const row = (latency, corrected) => shown({ reports: 0, latency: null, measured: { packets: 100, duplicates: 0, lost: 0, reordered: 0, steps: 32, latency, corrected } });
const known = (mean_ns, error_ns, bound_ns) => ({ packets: 100, mean_ns, error_ns, bound_ns });

// Means without the difference of the clocks, and where they lie.
const CASES = [
  ["just above 0", known(3_000, 5_000, [0, 40_000])],
  ["at 0", known(0, 90_000, [0, 90_000])],
  ["at 0 for certain", known(0, 0, [0, 0])],
  ["far from 0, with quick packets below the mean", known(6_000, 900, [5_000, 7_000])],
];
const negative = /[-\u2212]\s?\d/;
const texts = (one) => [
  ...["min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "mean_ns"].map((key) => latencyText(one, one.latency[key])),
  meanText(one), boundText(one), clocksTitle(one),
];

for (const [name, corrected] of CASES) {
  check(`${name}: no figure in words is below 0`, () => {
    for (const words of texts(row(stamped, corrected))) holds(!negative.test(words), words);
  });
  check(`${name}: no cell of the matrix is`, () => {
    for (const metric of Object.values(METRICS)) holds(metric.of(row(stamped, corrected)) >= 0, metric.name);
  });
  check(`${name}: no line of a chart is`, () => {
    const drawn = draw(row(stamped, corrected));
    // The readout and the table of values come from the figures above.
    holds(!negative.test(drawn.picture.text), drawn.picture.text);
    inLane(drawn);
  });
  check(`${name}: no bar of a waterfall is`, () => {
    const times = { packets: 100, reports: 100, latency: stamped, corrected, share: null };
    const wire = { kind: "wire", from: { node: 1, port: 7 }, to: { node: 2, port: 8 }, ...times };
    const drawing = waterfall({
      path_hash: "1", nodes: [1, 2], repeated_nodes: [], lacking: [], unknown_mean_ns: null, first_ns: "0", until_ns: "0", period_ns: 1, presence: [],
      whole: times, segments: [wire], queues: [], host_segments: [], tail: null,
    });
    holds(!negative.test(drawing.text), drawing.text);
    for (const box of [...drawing.all("rect"), ...drawing.all("line")]) {
      for (const place of ["x", "x1", "x2", "width"]) holds(!(parseFloat(box.attributes[place] ?? 0) < 0), `${place} ${box.attributes[place]}`);
    }
  });
}

check("unknown clocks: the figure is marked, and the drawing begins at 0", () => {
  const unknown = row(stamped, null);
  holds(latencyText(unknown, unknown.latency.p50_ns).endsWith("?"), "a mark");
  const drawn = draw(unknown);
  holds(!negative.test(drawn.picture.text), drawn.picture.text);
  inLane(drawn);
});

function draw(figures) {
  const chart = new Chart(() => {});
  const points = [0, 10_000, 20_000].map((begin) => ({ ...figures, begin_ns: String(begin * 1_000_000) }));
  chart.update({ period_ns: 10_000_000_000, points }, { since: 0, until: 30_000 });
  equal(chart.points.length, 3);
  return chart;
}

// All that is drawn of latencies lies between the top of their lane and its bottom, which is 0.
function inLane({ picture }) {
  const lines = [...picture.all("polyline"), ...picture.all("polygon")];
  holds(lines.length > 0, "something is drawn");
  const places = lines.flatMap(({ attributes }) => attributes.points.split(" ").map((pair) => Number(pair.split(",")[1])));
  holds(places.every((y) => y >= 6 && y <= 156), String(places));
}

await checkAll(4);
process.exitCode = result() > 0 ? 1 : 0;
