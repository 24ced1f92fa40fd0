// A waterfall's places, texts and drawing, with as much of a document as it needs.

import { check, checkAll, equal, holds, result } from "./check.mjs";
import "./fake_document.mjs";

const { ends, lossText, lostAt, places, segmentTable, tailText, waterfall } = await import(`${process.argv[2]}/waterfall.js`);

const { learnNames } = await import(`${process.argv[2]}/names.js`);
const { missingText } = await import(`${process.argv[2]}/mx_pairs.js`);

const { parse } = await import(`${process.argv[2]}/api.js`);

const plain = (words) => words.replaceAll("\u00a0", " ");
const latency = (p50_ns, p99_ns, samples = 100) => ({ samples, mean_ns: p50_ns, p50_ns, p99_ns });
const at = (node, port) => ({ node, port });
const wire = (from, to, times) => ({ kind: "wire", from, to, packets: null, reports: 100, latency: null, corrected: null, share: null, ...times });
const path = {
  path_hash: "9f1c", nodes: [1, 28673, 2], repeated_nodes: [], lacking: [], unknown_mean_ns: 4_000, first_ns: "0", until_ns: "0", period_ns: 1, presence: [],
  whole: { packets: null, reports: 100, latency: latency(16_000, 90_000), corrected: { mean_ns: 16_000, error_ns: 900, bound_ns: [14_000, 18_000] } },
  segments: [
    wire(at(1, 7), at(28673, 2), { latency: latency(10_000, 20_000), corrected: { mean_ns: 10_000, error_ns: 2_000, bound_ns: [8_000, 12_000] }, share: 0.625 }),
    { kind: "hop", from: at(28673, 2), to: at(28673, 3), packets: null, reports: 100, latency: latency(2_000, 80_000), corrected: null, share: 0.125 },
    wire(at(28673, 3), at(2, 8), {}),
  ],
  queues: [],
  host_segments: [],
  tail: { of_reports: 100, slowest: 1, excess_ns: 5_000_000, shares: [null, 0.98, null] },
};

check("ports have the names of their interfaces", () => {
  for (const [interfaces, wires, hop] of [
    [{ 2: "eth0", 3: "eth1" }, ["1 port 7 → leaf (28673) eth0", "leaf (28673) eth1 → 2 port 8"], "leaf (28673) eth0 → eth1"],
    [{ 2: "eth0" }, ["1 port 7 → leaf (28673) eth0", "leaf (28673) port 3 → 2 port 8"], "leaf (28673) eth0 → port 3"],
    [{}, ["1 port 7 → leaf (28673) port 2", "leaf (28673) port 3 → 2 port 8"], "leaf (28673) port 2 → 3"],
  ]) {
    learnNames({ exporters: [{ node: 28673, name: "leaf", interfaces }] });
    equal(JSON.stringify(path.segments.map(ends)), JSON.stringify([wires[0], hop, wires[1]]));
  }
  learnNames({ exporters: ["eth0", "wan"].map((name) => ({ node: 1, name: "twin", interfaces: { 7: name, 8: "eth1" } })) });
  equal(ends(path.segments[0]), "twin (1) port 7 → 28673 port 2", "twins with one ID");
  learnNames({ exporters: [] });
});

check("hops that told nothing are named with how many packets they lack", () => {
  equal(missingText({ missing: [{ node: 12, reports: 1408 }, { node: 13, reports: 5 }] }), "12: 1,408; 13: 5");
  equal(missingText({ missing: [] }), "");
});

check("each segment begins where the one before usually ends", () => {
  const { found, last } = places(path.segments);
  equal(JSON.stringify(found[0]), JSON.stringify({ begin: 0, usual: 10_000, slow: 20_000, error: 2_000 }));
  equal(JSON.stringify(found[1]), JSON.stringify({ begin: 10_000, usual: 12_000, slow: 90_000, error: 0 }));
  equal(found[2], undefined, "a wire between unknown clocks");
  equal(last, 90_000, "the end of the axis");
});

check("fewer than 20 reports are drawn by their mean", () => {
  const few = { ...path.segments[1], latency: { ...latency(2_000, 80_000, 19), mean_ns: 5_000 } };
  equal(JSON.stringify(places([few]).found[0]), JSON.stringify({ begin: 0, usual: 5_000, slow: 5_000, error: 0 }));
});

check("the drawing has a bar and a whisker, the error of two clocks, and a dashed row for unknown ones", () => {
  const drawn = waterfall(path);
  const rows = drawn.all("tr").slice(1);
  equal(rows.length, 4, "three segments and all");
  const classes = (row) => [...row.all("rect"), ...row.all("line")].map((one) => one.attributes.class).join(" ");
  equal(classes(rows[0]), "usual whisker whisker clock-error");
  equal(classes(rows[1]), "usual whisker whisker");
  equal(classes(rows[2]), "unknown");
  const bar = rows[1].all("rect")[0].attributes;
  equal(`${bar.x} ${bar.width}`, "11.111% 2.222%", "the hop's bar");
  const words = plain(drawn.text);
  for (const part of ["10 µs ± 2 µs", "28673 port 2 → 3", "62.5 %", "Segments marked ? take 4 µs in all", "98 % of it in hop 28673 port 2 → 3", "Figures of 100 reports, which favour slow packets."]) {
    holds(words.includes(part), `no ${part} in ${words}`);
  }
});

check("the queues that packets met are a sentence", () => {
  const [wire, hop, last] = path.segments;
  const words = (queue_depth) => plain(waterfall({ ...path, segments: [wire, { ...hop, queue_depth }, last] }).text);
  for (const [depth, said] of [
    [{ reports: 1000, in_bytes: true, mean: 2048.25, most: 65536 }, "by the newest 1,000 reports: 28673 port 3 2048.3 bytes (mean), 65,536 bytes at most."],
    [{ reports: 50, in_bytes: false, mean: 0.5, most: 7 }, "by the newest 50 reports: 28673 port 3 0.5 (mean), 7 at most (hostint's hops count packets)."],
    [{ reports: 50, in_bytes: true, mean: 0, most: 0 }, "by the newest 50 reports: empty."],
  ]) {
    holds(words(depth).includes(`Queues that packets met at hops, ${said}`), `no ${said} in ${words(depth)}`);
  }
  holds(!words(null).includes("Queues that packets met"), "no hop says it");
});

check("a guest has a row, with the queue in front of it", () => {
  const guest = { ...wire(at(28673, 4), at(28673, 5), { latency: latency(3_000_000, 7_000_000) }), kind: "guest" };
  const queue = { ...wire(at(28673, 4), at(28673, 4), { latency: latency(1_000, 2_000) }), kind: "queue" };
  const words = plain(waterfall({ ...path, segments: [...path.segments.slice(0, 2), guest, path.segments[2]], queues: [queue], tail: null }).text).replace(/ +/g, " ");
  for (const part of ["guest 28673 port 4 → 28673 port 5", "queue 28673 port 4 part of the wire"]) holds(words.includes(part), `no ${part} in ${words}`);
});

check("figures of all packets say so", () => {
  const words = plain(waterfall({ ...path, whole: { ...path.whole, packets: 1_234 } }).text);
  holds(words.includes("Figures of all 1,234 packets."), words);
});

check("a node that is passed twice is told, and segments are listed", () => {
  const words = plain(waterfall({ ...path, repeated_nodes: [28673] }).text);
  holds(words.includes("Node 28673 is on this path more than once"), words);
  const rows = segmentTable(path.segments).all("tr").slice(1);
  equal(rows.map((row) => plain(row.text).replace(/ +/g, " ")), ["wire 1 port 7 → 28673 port 2 100 10 µs ± 2 µs 10 µs 20 µs 62.5 %", "hop 28673 port 2 → 3 100 2 µs 2 µs 80 µs 12.5 %", "wire 28673 port 3 → 2 port 8 100 ? ? ? "]);
});

check("who is responsible is said only of hops with half of it or more", () => {
  const told = (shares) => plain(tailText({ ...path, tail: { ...path.tail, shares } }));
  holds(told([null, 0.5, null]).endsWith("50 % of it in hop 28673 port 2 → 3."), told([null, 0.5, null]));
  holds(told([null, 0.49, null]).includes("not in a hop that knows its time"), told([null, 0.49, null]));
  const spread = (p50, p99, samples) => plain(tailText({ ...path, tail: null, whole: { ...path.whole, latency: latency(p50, p99, samples) } }));
  equal(spread(16_000, 90_000), "The 99th percentile of 100 reports is 74 µs above the median: hop 28673 port 2 → 3 can explain it: its times vary by 78 µs (p99 less p50).");
  holds(spread(16_000, 200_000).includes("not in a hop that knows its time"), spread(16_000, 200_000));
  equal(spread(16_000, 90_000, 19), "", "too few");
  equal(spread(16_000, 16_000), "", "they are alike");
});

check("a queue stands below the wire that it is a part of, and is named if it explains the slowest", () => {
  const queue = (p99_ns) => ({ kind: "queue", from: at(28673, 3), to: at(28673, 3), packets: 9_000, reports: 0, latency: latency(4_000, p99_ns), corrected: null, share: 0.25 });
  const slow = { ...path, queues: [queue(3_000_000)], tail: { ...path.tail, shares: [null, 0.1, null] } };
  const rows = waterfall(slow).all("tr").slice(1);
  equal(rows.length, 5, "three segments, a queue and all");
  equal(plain(rows[3].text).replace(/ +/g, " "), "queue 28673 port 3 part of the wire 4 µs 4 µs 3 ms 25 %");
  holds(plain(tailText(slow)).endsWith("the queue of 28673 port 3 can explain it: its waits vary by 3.00 ms (p99 less p50)."), tailText(slow));
  const quick = { ...slow, queues: [queue(2_000_000)] };
  holds(plain(tailText(quick)).includes("not in a hop that knows its time"), tailText(quick));
});

check("losses are named with the hosts that tell them", () => {
  equal(lostAt(null), "");
  equal(lostAt({ lost: 3, at: [] }), "");
  const loss = { lost: 30, at: [{ node: 28673, segments: 18 }, { node: 4, segments: 2 }] };
  equal(plain(lostAt(loss).text), "Of 30 lost packets, hosts on the way dropped: 28673 18, 4 2.");
});

check("each segment says what it lost, in red if it lost any", () => {
  const loss = (packets, lost) => ({ packets, lost });
  const queue = { kind: "queue", from: at(28673, 3), to: at(28673, 3), packets: 9_000, reports: 0, latency: latency(4_000, 5_000), corrected: null, share: 0.25, loss: loss(9_900, 50) };
  const told = [loss(10_000, 100), undefined, loss(9_900, 60)];
  const lossy = { ...path, whole: { ...path.whole, loss: loss(10_000, 170) }, segments: path.segments.map((segment, i) => ({ ...segment, loss: told[i] })), queues: [queue] };
  const drawn = waterfall(lossy);
  const cells = drawn.all("tr").slice(1).map((row) => row.all("td").filter(({ attributes }) => attributes.class !== "left dim")[1]);
  equal(cells.map((cell) => cell.text), ["100", "?", "60", "50", "170"]);
  equal(cells.map(({ attributes }) => attributes.class === "trouble"), [true, false, true, true, true], "red");
  const sentence = "170 of 10,000 packets were lost: 100 in wire 1 port 7 → 28673 port 2; 50 in the queue of 28673 port 3; 10 in wire 28673 port 3 → 2 port 8; 10 where it is not known.";
  equal(plain(lossText(lossy)), sentence);
  holds(plain(drawn.text).includes(sentence), drawn.text);
  equal(plain(lossText({ ...lossy, whole: { loss: loss(7, 0) } })), "No packet of 7 was lost.");
  equal(lossText(path), "");
});

check("a hop that pushed no entry on some packets is named", () => {
  const sentence = "Another path of this pair differs in 12 and 13 alone, which reported nothing of these packets; hostint status there says why (too_long, no_budget, postcard_lost).";
  holds(plain(waterfall({ ...path, lacking: [12, 13] }).text).includes(sentence), "lacking");
  holds(!plain(waterfall(path).text).includes("Another path"), "nothing lacks");
});

check("routers without INT have a dashed row, and the hosts at the ends rows in front and behind", () => {
  const told = { packets: 9_000, reports: 0, latency: latency(4_000, 5_000), corrected: null, share: 0.25 };
  const ends = [{ kind: "buffer", from: at(1, 0), to: at(1, 7), ...told }, { kind: "stack", from: at(1, 0), to: at(1, 7), ...told }, { kind: "read", from: at(2, 8), to: at(2, 0), ...told }, { kind: "answer", from: at(2, 8), to: at(2, 0), ...told }];
  const [first, ...others] = path.segments;
  const drawn = waterfall({ ...path, host_segments: ends, segments: [{ ...first, unseen_hops: 2 }, ...others.map((one) => ({ ...one, unseen_hops: 0 }))] });
  const rows = drawn.all("tr").slice(1);
  equal(rows.map((row) => row.all("td")[0].text), ["buffer", "stack", "wire", "router", "hop", "wire", "read", "answer", "in all"]);
  equal(plain(rows[0].text).replace(/ +/g, " ").trim(), "buffer 1 port 7 in the source's host, until TCP sends what the application wrote 4 µs 4 µs 5 µs");
  equal(plain(rows[1].text).replace(/ +/g, " ").trim(), "stack 1 port 7 in the source's host, from TCP to the stamp 4 µs 4 µs 5 µs");
  equal(rows[3].all("line")[0].attributes.class, "router-line");
  holds(plain(rows[3].text).includes("2 routers without INT"), rows[3].text);
  for (const row of rows.slice(6, 8)) holds(plain(row.text).includes("2 port 8"), row.text);
});

check("what is lost on a flow's path is told of its pair", () => {
  const lost = { packets: 10_000, lost: 100 };
  const flow = { ...path, of_flow: true, whole: { loss: lost }, segments: [{ ...path.segments[0], loss: lost }] };
  equal(plain(lossText(flow)), "100 of 10,000 packets of all flows of this pair were lost: 100 in wire 1 port 7 → 28673 port 2; any of this flow, too.");
  equal(plain(lossText({ ...flow, whole: { loss: { packets: 7, lost: 0 } } })), "No packet of 7 of this pair was lost.");
});

check("integers that a number cannot hold become text, and fractions stay numbers", () => {
  const read = parse('{"first_ns":1795718140000000000,"less_ns":-1795718140000000000,"share":0.0022276666715937703,"other":1.5e-7,"name":"1795718140000000000"}');
  equal(JSON.stringify(read), '{"first_ns":"1795718140000000000","less_ns":"-1795718140000000000","share":0.0022276666715937703,"other":1.5e-7,"name":"1795718140000000000"}');
});

await checkAll(1);
process.exitCode = result() > 0 ? 1 : 0;
