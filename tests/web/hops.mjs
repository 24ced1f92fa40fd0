// The time of packets through hosts, with as much of a document as it needs.

import { check, checkAll, equal, holds, result } from "./check.mjs";
import "./fake_document.mjs";

const { flowName } = await import(`${process.argv[2]}/tables.js`);
const { flowTable, interfaceText, passageTable, quantile } = await import(`${process.argv[2]}/hops.js`);

const plain = (words) => words.replaceAll("\u00a0", " ");
const figures = (samples, p50_ns) => ({ samples, min_ns: 1, mean_ns: p50_ns, p50_ns, p90_ns: p50_ns, p99_ns: 2 * p50_ns, max_ns: 3 * p50_ns });
const passage = {
  node: 7, start: "sender", in_port: 2, out_port: 3, in_interface: "eth0", out_interface: "veth1", in_pod: null, out_pod: "podman/4f2a",
  sent: figures(100, 40_000), queued: figures(101, 1_000), mean_queue_ns: 39_000,
};
const cells = (table) => table.all("tr").slice(1).map((row) => [...row.all("th"), ...row.all("td")].map((cell) => plain(cell.text)).join("|"));

check("a pair of interfaces has times to the driver and to the queue", () => {
  equal(cells(passageTable([passage]))[0], "7|eth0*|veth1 (podman/4f2a)|101|40 µs|80 µs|120 µs|1 µs|2 µs|39 µs");
});

check("what is not known is a dash, and few packets have no quantiles", () => {
  const none = { ...passage, start: "interface", in_interface: null, out_interface: null, out_pod: null, sent: null, queued: figures(19, 1_000), mean_queue_ns: null };
  equal(cells(passageTable([none]))[0], "7|interface 2|interface 3|19|–|–|–|–|–|–");
  equal(quantile(undefined, "p50_ns"), "–");
});

check("an interface is named with what is behind it", () => {
  equal(interfaceText("eth0", 2, null), "eth0");
  equal(interfaceText(undefined, 2, "netns/blue"), "interface 2 (netns/blue)");
});

check("pods behind interfaces go by their names", () => {
  const named = { ...passage, out_pod: "pod/5b0b3c1e", out_pod_name: { namespace: "shop", pod: "web-0", workload: "web" } };
  holds(cells(passageTable([named]))[0].startsWith("7|eth0*|veth1 (shop/web-0)|"), cells(passageTable([named]))[0]);
});

check("a flow has its interfaces and times", () => {
  const flow = { protocol: 6, src: "192.0.2.1", sport: 1, dst: "192.0.2.2", dport: 2 };
  const one = { node: 7, start: "interface", flow, in_ifindex: 2, out_ifindex: 3, in_interface: "eth0", out_interface: "eth1", packets: 70, mean_hop_ns: 9_000, max_hop_ns: 1_000_000, hop_ns: 12_345 };
  const [row] = cells(flowTable([one]));
  for (const part of ["|7|eth0|eth1|70|", "9 µs|1 ms|12.3 µs"]) holds(row.includes(part), `no ${part} in ${row}`);
});

check("pods at the ends of a flow go by their names, and their addresses are told on request", () => {
  const flow = { protocol: 6, src: "192.0.2.1", sport: 1, dst: "192.0.2.2", dport: 2 };
  const drawn = (one) => { const row = document.createElement("p"); row.append(...flowName({ flow, ...one }).filter(Boolean)); return row; };
  const one = drawn({ src_pod: { namespace: "shop", pod: "web-0", workload: "web" } });
  holds(one.text.includes("shop/web-0:1"), one.text);
  holds(one.text.includes("192.0.2.2:2"), one.text);
  equal(one.all("span")[1].attributes.title, "192.0.2.1:1");
  holds(!drawn({}).text.includes("shop"), "no name without a pod");
});

await checkAll(1);
process.exitCode = result() > 0 ? 1 : 0;
