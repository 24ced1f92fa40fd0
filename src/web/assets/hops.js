// How long packets take through hosts: by pair of interfaces, and by flow.

import { ask } from "./api.js";
import { h, panel } from "./dom.js";
import { named } from "./names.js";
import { setAbove } from "./state.js";
import { flowName } from "./tables.js";
import { count, duration, exact } from "./units.js";

const MOST_ROWS = 200;
// Fewer packets have no quantiles.
const LEAST_SAMPLES = 20;

// "eth0", with the pod or container behind it.
export function interfaceText(name, index, pod) {
  const known = name ?? `interface ${index}`;
  return pod ? `${known} (${pod})` : known;
}

export function quantile(figures, name) {
  if (!figures || figures.samples < LEAST_SAMPLES) return "–";
  return duration(figures[name]);
}

// " in vxlan 42", or nothing.
export const tunnelText = ({ tunnel }) => tunnel ? ` in ${tunnel.kind} ${tunnel.id}` : "";

// "shop/web-0" where the API server names the pod, or what its host calls it.
const podText = (name, told) => name ? `${name.namespace}/${name.pod}` : told;
const outText = (one, index) => interfaceText(one.out_interface, index, podText(one.out_pod_name, one.out_pod));
const inText = (one, index) => `${interfaceText(one.in_interface, index, podText(one.in_pod_name, one.in_pod))}${one.start === "sender" ? "*" : ""}`;
const left = "left";

function table(label, heads, rows) {
  return h("div", { class: "scroll" }, h("table", { class: "rows", "aria-label": label },
    h("thead", {}, h("tr", {}, heads.map(([name, side, title]) => h("th", { scope: "col", class: side || undefined, title }, name)))), h("tbody", {}, rows)));
}

export function passageTable(passages) {
  const heads = [["host", left], ["in", left], ["out", left], ["packets", "", "all that the host timed"], ["p50"], ["p99"], ["max"],
    ["to queue p50", "", "from the interface, or the sender, to the queue"], ["to queue p99"], ["mean in queue"]];
  return table("Time through hosts by interfaces", heads, passages.map((one) => {
    const { sent, queued } = one;
    const packets = Math.max(sent?.samples ?? 0, queued?.samples ?? 0);
    return h("tr", {}, h("th", { scope: "row", class: left }, named(one.node)), h("td", { class: left }, inText(one, one.in_port)),
      h("td", { class: left }, outText(one, one.out_port)), h("td", { title: exact(packets) }, count(packets)),
      h("td", {}, quantile(sent, "p50_ns")), h("td", {}, quantile(sent, "p99_ns")), h("td", {}, sent ? duration(sent.max_ns) : "–"),
      h("td", {}, quantile(queued, "p50_ns")), h("td", {}, quantile(queued, "p99_ns")), h("td", {}, one.mean_queue_ns === null ? "–" : duration(one.mean_queue_ns)));
  }));
}

export function flowTable(flows) {
  const heads = [["flow", left], ["host", left], ["in", left], ["out", left], ["packets"], ["mean"], ["max"], ["last"]];
  return table("Time through hosts by flow", heads, flows.map((one) => h("tr", {}, h("th", { scope: "row", class: left }, flowName(one), tunnelText(one)), h("td", { class: left }, named(one.node)),
    h("td", { class: left }, inText(one, one.in_ifindex)), h("td", { class: left }, outText(one, one.out_ifindex)),
    h("td", { title: exact(one.packets) }, count(one.packets)), h("td", {}, duration(one.mean_hop_ns)), h("td", {}, duration(one.max_hop_ns)), h("td", {}, duration(one.hop_ns)))));
}

export class HopsView {
  constructor() {
    this.passages = h("div", {});
    this.flows = h("div", {});
    this.none = h("p", { class: "none", hidden: true }, "No host reported hops in this period: ", h("code", {}, "hostint postcards --hops --collector"), " does.");
    this.sender = h("p", { class: "dim", hidden: true }, "*: since the sender, a TCP socket on the same machine; others since the interface");
    this.parts = [panel("Time through hosts by interfaces, all packets", null, this.passages), panel("By flow, slowest first", null, this.flows)];
    this.element = h("div", { class: "view stack" }, this.none, this.parts, this.sender);
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const { hops, passages } = await ask("hops", span, { limit: MOST_ROWS }, signal);
    const [byInterfaces, byFlow] = this.parts;
    byInterfaces.hidden = passages.length === 0;
    byFlow.hidden = hops.length === 0;
    this.none.hidden = passages.length > 0 || hops.length > 0;
    this.sender.hidden = ![...passages, ...hops].some(({ start }) => start === "sender");
    this.passages.replaceChildren(passageTable(passages));
    this.flows.replaceChildren(flowTable(hops));
  }
}
