// Episodes of queues, with as much of a document as it needs.

import { check, checkAll, equal, holds, result } from "./check.mjs";
import "./fake_document.mjs";

const { culprits, episodeTable, lanes, queueName, sentence } = await import(`${process.argv[2]}/queues.js`);

const { stackedChart } = await import(`${process.argv[2]}/stacked.js`);
const { time } = await import(`${process.argv[2]}/units.js`);

const plain = (words) => words.replaceAll("\u00a0", " ");
const flow = { protocol: 6, src: "192.0.2.1", sport: 1, dst: "192.0.2.2", dport: 2 };
const one = {
  node: 7, began_ns: "1700000000000000000", told_ns: "1700000001000000000", interface: "eth1", ifindex: 3, queue: 0, handle: 0, measure: "time", trigger: 200_000, reset: 100_000, quota: 100,
  episode: 1, begin_ns: "1700000000000000000", last_ns: "1700000000500000000", end_ns: "1700000000500000000", packets: 300, bytes: 450_000, told: 100, suppressed: 200, drops: 12,
  max_bytes: 409_600, max_packets: 271, max_time_ns: 16_400_000, flows: [{ flow, packets: 75, bytes: 102_400 }],
};
const on = { ...one, began_ns: "1700000002000000000", end_ns: undefined, measure: "bytes", trigger: 204_800, max_time_ns: undefined, drops: 0, told: 0, suppressed: 0, flows: [] };
const cells = (table) => table.all("tr").slice(1).map((row) => [...row.all("th"), ...row.all("td")].map((cell) => plain(cell.text)).join("|"));

check("an episode is said in a sentence", () => {
  equal(plain(sentence(one)), "over 200 µs for 500 ms, 300 packets, longest wait 16.4 ms, at most 400 KiB in the queue, 12 dropped by the queue meanwhile");
  equal(plain(sentence(on)), "over 200 KiB for 500 ms so far, 300 packets, at most 400 KiB in the queue");
  equal(queueName(one), "node 7 eth1 queue 0");
});

check("its flows have shares, and what is not known is said", () => {
  const [table, notes] = culprits(one);
  equal(cells(table).length, 1);
  for (const part of ["192.0.2.1:1", "|75 %|75|100 KiB"]) holds(cells(table)[0].includes(part), `no ${part} in ${cells(table)[0]}`);
  equal(plain(notes.text), "25 packets are of further flows, or no IP; the flows of 200 packets beyond the quota of 100 are not known");
  equal(culprits(on)[1], false);
});

check("a row has what an episode was", () => {
  const rows = cells(episodeTable([one, on], on));
  for (const part of ["|node 7 eth1 queue 0|500 ms|16.4 ms|400 KiB|300|12|200 µs|"]) holds(rows[0].includes(part), `no ${part} in ${rows[0]}`);
  holds(rows[1].includes("|500 ms and on|–|400 KiB|300|0|200 KiB|–"), rows[1]);
});

check("a lane for each queue has its episodes where they were", () => {
  const span = { since: 1_700_000_000_000, until: 1_700_000_010_000 };
  const drawn = lanes([one, on, { ...one, queue: 1 }], span, one);
  const bars = drawn.all("rect").map(({ attributes }) => [attributes.x, attributes.width, attributes.class]);
  equal(bars, [[0, 50, "episode chosen"], [200, 50, "episode"], [0, 50, "episode"]]);
  equal(drawn.all("svg").map(({ attributes }) => attributes["aria-label"]), ["node 7 eth1 queue 0: 2 episodes", "node 7 eth1 queue 1: 1 episode"]);
});

check("a stacked chart says when it begins and ends", () => {
  const span = { since: 1_700_000_000_000, until: 1_700_000_010_000 };
  const points = [["1700000000000000000", "QDISC_DROP", 3]];
  const parts = stackedChart({ points, period: "1000000000", span, most: 3, classOf: (_, i) => `p${i}`, text: String, note: String, label: "drops" });
  equal(parts.at(-1).all("span").map((one) => one.text), [time(span.since), time(span.until)]);
});

await checkAll(1);
process.exitCode = result() > 0 ? 1 : 0;
