// What the page makes of figures before it draws them: the live edge, folds of flows, groups of hosts, limits and marks.

import { readFileSync } from "node:fs";
import { check, checkAll, equal, holds, result } from "./check.mjs";
import "./fake_document.mjs";

const assets = process.argv[2];
const load = (name) => import(`${assets}/${name}.js`);
const [{ edge, nextEdge, withoutEdge }, { services }, { askedPairs, groupOf, hostsWithBoth, labelsOf, readWithin, usualGrouping, within }, { lateness, learnLimits, scale, severity }, { eventMarks, pathMarks, verdictMarks }, { Chart }, hosts, { splitBar }] =
  await Promise.all(["edge", "services", "groups", "colour", "marks", "chart", "hosts", "split"].map(load));
globalThis.matchMedia = () => ({ matches: false });
document.documentElement = { dataset: {} };

const plain = (words) => words.replaceAll("\u00a0", " ");

check("what the first view needs is asked for at once, and nothing else", () => {
  const read = (name) => readFileSync(`${assets}/${name}`, "utf8");
  const needed = new Set(["app.js"]);
  for (const name of needed) for (const [, other] of read(name).matchAll(/^import .* from "\.\/(\w+\.js)";/gm)) needed.add(other);
  const asked = [...read("index.html").matchAll(/<link rel="modulepreload" href="(.*)">/g)].map(([, name]) => name);
  equal(asked, [...needed].filter((name) => name !== "app.js").toSorted());
});

check("live figures end with the last ten seconds of which summaries have come", () => {
  equal([100_000, 102_999, 103_000, 109_999, 113_000].map(edge), [90_000, 90_000, 100_000, 100_000, 110_000]);
  equal([102_999, 103_000].map(nextEdge), [103_000, 113_000]);
});

const latency = (p99_ns) => ({ samples: 100, min_ns: 1, mean_ns: 2, p50_ns: 10_000, p90_ns: 20_000, p99_ns, max_ns: 2 * p99_ns });
const ofAll = (begin) => ({ begin, begin_ns: String(begin * 1_000_000), ofReports: undefined, packets: 900, lost: 0, latency: latency(30_000) });
const ofReports = (begin) => ({ ...ofAll(begin), ofReports: 40, latency: latency(900_000) });

check("the newest points are held back while they are of reports alone", () => {
  const now = 1_000_000;
  const begins = (points) => withoutEdge(points, now).map(({ begin }) => begin);
  equal(begins([ofAll(970_000), ofAll(980_000), ofReports(990_000)]), [970_000, 980_000]);
  equal(begins([ofReports(970_000), ofAll(980_000)]), [970_000, 980_000], "old ones stay");
  equal(begins([ofReports(970_000), ofReports(980_000)]), [970_000, 980_000], "without summaries reports are all there is");
  equal(begins([ofAll(800_000), ofReports(900_000)]), [800_000, 900_000], "a summary that is so late will not come");
});

check("so a chart has no peak at its right edge", () => {
  const chart = new Chart(() => {});
  const now = Math.floor(Date.now() / 10_000) * 10_000;
  const points = [ofAll(now - 20_000), ofAll(now - 10_000), ofReports(now)];
  chart.update({ period_ns: 10_000_000_000, points }, { since: now - 20_000, until: now + 10_000 });
  equal(chart.points.length, 2);
  holds(!plain(chart.readout.text).includes("900 µs"), chart.readout.text);
});

const flow = (id, sport, dport, source, sink, lost, p99) => ({ id, flow: { protocol: 6, src: "192.0.2.1", sport, dst: "192.0.2.2", dport }, source, sink, lost, packets: 100, latency: latency(p99) });

check("flows are folded by the port of the service, and by pair of hosts within", () => {
  const found = services([flow(1, 40_001, 5432, 1, 2, 0, 50_000), flow(2, 5432, 40_001, 2, 1, 3, 70_000), flow(3, 40_002, 5432, 1, 2, 2, 60_000), flow(4, 40_003, 443, 1, 3, 1, 10_000)], "loss");
  equal(found.map(({ port, lost, packets, flows, latency }) => [port, lost, packets, flows.length, latency.p99_ns]), [[5432, 5, 300, 3, 70_000], [443, 1, 100, 1, 10_000]]);
  equal(found[0].pairs.map(({ key, lost, flows }) => [key, lost, flows.map(({ id }) => id)]), [["2>1", 3, [2]], ["1>2", 2, [1, 3]]]);
});

check("the port that more flows have is the service's, even if it is the higher one", () => {
  equal(services([flow(1, 1001, 9000, 1, 2, 0, 1), flow(2, 1002, 9000, 1, 2, 0, 1)], "loss").map(({ port }) => port), [9000]);
  equal(services([flow(1, 40_000, 80, 1, 2, 0, 1)], "loss").map(({ port }) => port), [80], "of two equal ones the lower");
});

const group = (source, sink, notes) => groupOf({ source, sink, pairs: 2, packets: 400, lost: 1, of_source: 2, of_sink: 3, p50_ns: 10, p99_ns: null, error_ns: 7, of_reports: null, steps: 32, lossiest: null, more_lost: false, slower: false, last_ns: null, ...notes });

check("a group of pairs has sums, and the latencies of one pair", () => {
  const found = group("r1", "r2", { lossiest: [1, 3], slower: true });
  equal([found.members, found.packets, found.lost, found.latency, found.clocks, found.error], [2, 400, 1, { p50_ns: 10 }, { error_ns: 7, bound_ns: [undefined, undefined] }, "+3.2%"]);
  equal([found.slowest.source, found.lossiest.source, found.usual], [2, 1, { more_lost: false, slower: true }]);
  const ofReports = group("r1", "r2", { of_reports: 30, steps: null });
  equal([ofReports.ofReports, ofReports.usual ?? "", ofReports.error ?? ""], [30, "", ""]);
  equal(readWithin(within(found)), ["r1", "r2"]);
  equal(readWithin(within({ source: "a>b", sink: "%" })), ["a>b", "%"], "any value");
});

check("hosts have both directions beside each other, in the order of the answer", () => {
  const rows = hostsWithBoth([group(null, 7, {}), group(7, null, {}), group(3, null, {})]);
  equal(rows.map(({ node, to, from }) => [node, to?.sink ?? "", from?.source ?? ""]), [[7, 7, 7], [3, "", 3]]);
});

check("few hosts are shown one by one, many by the finest label that fits, or else the worst", () => {
  const label = (hosts, size) => new Map(Array.from({ length: hosts }, (_, i) => [String(i), `v${i % size}`]));
  const of = (sizes, hosts = 1000) => usualGrouping(new Map(sizes.map(([key, size, some = hosts]) => [key, label(some, size)])), hosts);
  equal(of([["rack", 8]], 50), "(host)");
  equal(of([["rack", 8]], 51), "rack");
  equal(of([["rack", 50], ["zone", 3]]), "rack");
  equal(of([["rack", 51], ["zone", 3]]), "zone");
  equal(of([["rack", 51]]), "(hosts)");
  equal(of([["rack", 8, 100]]), "(hosts)", "a label that few hosts have is none");
  const asked = [["(host)"], ["(hosts)"], ["(class)"], ["rack"], ["rack", ["r1", "r2"]]].map(([by, ends]) => new URLSearchParams(askedPairs(by, ends, "loss", 1000)).toString());
  equal(asked, ["", "by=host&metric=loss&limit=40", "metric=loss&limit=40", "by=rack&metric=loss&limit=40", "by=rack&from=r1&to=r2"]);
});

check("a label that all hosts share separates nothing", () => {
  const status = { exporters: [{ node: 1, labels: { rack: "r1", site: "x" } }, { node: 2, labels: { rack: "r2", site: "x" } }, { node: null, labels: { role: "db" } }] };
  equal([...labelsOf(status).keys()], ["rack"]);
});

check("colours have fixed limits, whatever the worst value is", () => {
  const { colour } = scale("loss");
  const [few, unusual, bad] = [0.0005, 0.005, 0.05].map(colour).map(String);
  holds(new Set([few, unusual, bad]).size === 3, "three colours");
  equal([0.00001, 0.001, 0.01, 1].map(colour).map(String), [few, few, unusual, bad]);
  equal(colour(0), undefined);
  equal([0, 0.001, 0.0011, 0.01, 0.011].map((share) => severity("loss", share) ?? ""), ["", "", "trouble", "trouble", "bad"]);
  const latencies = scale("latency");
  equal(String(latencies.colour(1_000)), String(latencies.colour(10_000)), "below the scale is its end");
  holds(String(latencies.colour(20_000)) !== String(latencies.colour(200_000)), "a larger one is darker");
  equal(latencies.ends.map(plain), ["10 µs", "100 ms"]);
});

check("a limit that somebody set holds for the pairs that it is for", () => {
  const slow = (source, sink) => ({ source, sink, latency: latency(2_000_000) });
  learnLimits({ verdict: { limits: [{ class: null, from: [1], to: null, latency_ns: 1_000_000, loss: 0.0005 }, { class: "web", from: null, to: null, latency_ns: null, loss: 0.5 }] } });
  equal([severity("loss", 0.0006, slow(1, 2)), severity("loss", 0.0006, slow(2, 1)) ?? ""], ["bad", ""]);
  equal([lateness(slow(1, 2)), lateness(slow(2, 1)) ?? ""], ["bad", ""]);
  equal(severity("loss", 0.02, { ...slow(2, 1), class: "web" }), "trouble", "a limit may be a higher one");
  learnLimits({});
  equal(severity("loss", 0.0006, slow(1, 2)) ?? "", "");
});

check("what is usual for a pair is no alarm, and what is more than usual is one", () => {
  const of = (usual) => ({ source: 1, sink: 2, latency: latency(2_000_000), usual });
  const [usual, unusual] = [{ loss: 0.02, more_lost: false, p99_ns: 2_000_000, slower: false }, { loss: 0, more_lost: true, p99_ns: 100_000, slower: true }];
  for (const [share, without, asUsual, asUnusual] of [[0.0005, "", "", "trouble"], [0.005, "trouble", "", "trouble"], [0.02, "bad", "", "bad"]]) {
    equal([undefined, usual, unusual].map((one) => severity("loss", share, of(one)) ?? ""), [without, asUsual, asUnusual], String(share));
  }
  equal([undefined, usual, unusual].map((one) => lateness(of(one)) ?? ""), ["", "", "trouble"]);
  learnLimits({ verdict: { limits: [{ class: null, from: [1], to: null, latency_ns: 1_000_000, loss: 0.01 }] } });
  equal([severity("loss", 0.02, of(usual)), lateness(of(usual))], ["bad", "bad"], "a limit holds whatever is usual");
  learnLimits({});
  equal(lateness(group("r1", "r2", { slower: true })), "trouble", "a group has what one of its pairs has");
});

check("a chart is marked where the verdict changed, and where a path began", () => {
  const at = (s) => `${s}000000000`;
  const past = [{ begin_ns: at(1), state: "healthy", text: "" }, { begin_ns: at(2), state: "degraded", text: "degraded: x" }, { begin_ns: at(3), state: "degraded", text: "degraded: x" }, { begin_ns: at(4), state: "healthy", text: "" }];
  equal(verdictMarks(past).map(({ at, kind, title }) => [at, kind, title]), [[2000, "degraded", "degraded: x"], [4000, "healthy", "healthy"]]);
  const deploy = { kind: "deploy", time_ns: at(3), text: "web 1.2.3" };
  equal(eventMarks([{ ...deploy, host: "web-1" }, { ...deploy, host: "a", to: "b" }, deploy]).map(({ at, title }) => [at, title]),
    [[3000, "deploy web 1.2.3 at web-1"], [3000, "deploy web 1.2.3 from a to b"], [3000, "deploy web 1.2.3"]]);
  const seen = [{ kind: "restart", time_ns: at(3), text: "", host: "7" }, { kind: "clock-step", time_ns: at(4), text: "", host: "8" }, { kind: "restart", time_ns: at(5), text: "at 12 hosts" }];
  equal(eventMarks(seen).map(({ title }) => title), ["restart of hostint at 7", "the clock was set at 8", "restart of hostint at 12 hosts"]);
  equal(eventMarks([...seen, { ...deploy, host: "8" }], [7, 9]).map(({ title }) => title), ["restart of hostint at 7", "restart of hostint at 12 hosts", "deploy web 1.2.3 at 8"], "of a pair, that of its hosts");
  const paths = [[100, [1, 2]], [500, [1, 7, 2]]].map(([first, nodes]) => ({ first_ns: at(first), nodes, period_ns: at(10) }));
  equal(pathMarks(paths, { since: 90_000, until: 600_000 }).map(({ at, title }) => [at, title]), [[500_000, "path over 1 → 7 → 2 began"]]);
});

check("lost packets are split among hosts, or it is said who would know the place", () => {
  const split = { lost: "3428", source_host: null, sink_host: null, network: null, between: "0", unsplit: "0", behind_strip: "0" };
  const words = (change) => {
    const said = splitBar({ ...split, ...change }, { source: 2, sink: 4 });
    return said === "" ? [] : [plain(said.text).replace(/\s+/g, " ").trim(), said.all("div").length];
  };
  equal(words({}), ["3,428 lost; the place is not known: run hostint postcards --drops on node 2 and node 4", 0]);
  equal(words({ source_host: "0" }), ["3,428 lost; the place is not known: run hostint postcards --drops on node 4", 0]);
  equal(words({ lost: "0" }), [], "without loss there is no place");
  const known = words({ lost: "150", source_host: "100", sink_host: "0", network: "50", between: "20" });
  holds(known[0].startsWith("150 lost: source host 100, network 50") && known[0].includes("20 of the network's were dropped by hosts between") && known[1] > 0, String(known));
});

const exporter = { exporter: "192.0.2.1", node: 1, reports: 1000, lost: 0, last_seen_ns: "1000000000000", reporting: true, silent_after_ns: "60000000000", clock: "realtime", clock_synchronised: false, version: "0.2.0", name_contested: false, unnumbered: 0, labels: {} };
const told = (change) => ({ now_ns: "1002000000000", exporters: [{ ...exporter, ...change }], drops: [{ node: 1 }], tcp: [] });
const HOSTS = [
  ["one that reports", {}, "Reports packets and drops; runs hostint 0.2.0; last seen 4 s ago; clock realtime, not synchronised.", "", 0],
  ["one that is silent", { reporting: false }, /^Reported packets and drops until /, "silent for 4 s", 1],
  ["one that loses reports", { lost: 10 }, /^Reports packets/, "10 of its reports were lost (0.99 %)", 1],
  ["one that lost a report once", { lost: 1 }, /^Reports packets/, "", 0],
];
for (const [name, change, says, wrong, badge] of HOSTS) {
  check(`${name} is said in a sentence, and counts only if it is in trouble`, () => {
    const status = told(change);
    const [host] = hosts.hostsOf(status);
    const words = plain(hosts.sentence(host, 1_004_000));
    holds(typeof says === "string" ? words === says : says.test(words), words);
    equal(plain(hosts.troubles(host, 1_004_000).join("; ")), wrong);
    equal(hosts.inTrouble(status).length, badge);
  });
}

await checkAll(1);
process.exitCode = result() > 0 ? 1 : 0;
