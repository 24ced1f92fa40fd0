// When packets waited in hosts' queues, for how long, and whose they were.

import { ask, ms } from "./api.js";
import { h, panel, svg } from "./dom.js";
import { interfaceText } from "./hops.js";
import { nodeNamed } from "./names.js";
import { timeEnds } from "./stacked.js";
import { go, link, setAbove } from "./state.js";
import { flowName } from "./tables.js";
import { bytes, count, duration, exact, time } from "./units.js";

const MOST_ROWS = 200;
const MOST_LANES = 12;
const WIDTH = 1000;
const LANE = 22;
// An episode is drawn at least this wide.
const LEAST_WIDTH = 3;

const length = (one) => Number(BigInt(one.end_ns ?? one.last_ns) - BigInt(one.begin_ns));
export const queueName = (one) => `${nodeNamed(one.node)} ${interfaceText(one.interface, one.ifindex)} queue ${one.queue}`;
export const limit = (one, value) => (one.measure === "bytes" ? bytes(Number(value)) : duration(Number(value)));
const left = "left";

// What an episode was, in a sentence or two.
export function sentence(one) {
  const parts = [`over ${limit(one, one.trigger)} for ${duration(length(one))}${one.end_ns ? "" : " so far"}`, `${exact(one.packets)} packets`];
  if (one.max_time_ns) parts.push(`longest wait ${duration(one.max_time_ns)}`);
  if (one.max_bytes > 0) parts.push(`at most ${bytes(one.max_bytes)} in the queue`);
  if (one.drops > 0) parts.push(`${exact(one.drops)} dropped by the queue meanwhile`);
  return parts.join(", ");
}

// The flows of an episode, each with its share of the packets that were reported; what is not known of the rest is said.
export function culprits(one) {
  const shares = one.flows.map((flow) => [flow, one.told > 0 ? flow.packets / one.told : 0]);
  const rows = shares.map(([flow, part]) => {
    const bar = h("i", { class: "share-bar" });
    bar.style.width = `${Math.max(1, part * 100)}%`;
    return h("tr", {}, h("th", { scope: "row", class: left }, flowName(flow)), h("td", { class: "share" }, bar), h("td", {}, `${Math.round(part * 100)} %`),
      h("td", { title: exact(flow.packets) }, count(flow.packets)), h("td", {}, bytes(Number(flow.bytes))));
  });
  const listed = shares.reduce((sum, [flow]) => sum + Number(flow.packets), 0);
  const notes = [
    Number(one.told) > listed && `${exact(one.told - listed)} packets are of further flows, or no IP`,
    Number(one.suppressed) > 0 && `the flows of ${exact(one.suppressed)} packets beyond the quota of ${exact(one.quota)} are not known`,
  ].filter(Boolean);
  return [h("div", { class: "scroll" }, h("table", { class: "rows", "aria-label": "Flows in the queue" },
    h("thead", {}, h("tr", {}, [["flow", left], ["share of the packets that were reported", left], [""], ["packets"], ["bytes"]].map(([name, side]) => h("th", { scope: "col", class: side }, name)))),
    h("tbody", {}, rows))), notes.length > 0 && h("p", { class: "dim" }, notes.join("; "))];
}

// A lane for each queue, those that were over for longest, with its episodes over time.
export function lanes(episodes, span, chosen) {
  const queues = new Map();
  for (const one of episodes) {
    const name = queueName(one);
    queues.set(name, [...(queues.get(name) ?? []), one]);
  }
  const sum = (all) => all.reduce((total, one) => total + length(one), 0);
  const order = [...queues].toSorted(([, a], [, b]) => sum(b) - sum(a));
  const at = (when) => ((when - span.since) / (span.until - span.since)) * WIDTH;
  const drawn = order.slice(0, MOST_LANES).map(([name, all]) => {
    const bars = all.map((one) => {
      const begin = Math.max(0, at(ms(one.began_ns)));
      const end = Math.min(WIDTH, at(ms(one.began_ns) + length(one) / 1e6));
      return svg("rect", { class: one === chosen ? "episode chosen" : "episode", x: begin, y: 3, width: Math.max(LEAST_WIDTH, end - begin), height: LANE - 6, onclick: () => go({ at: one.began_ns }) },
        svg("title", {}, `${time(ms(one.began_ns))}: ${sentence(one)}`));
    });
    return h("div", { class: "lane" }, h("span", { title: name }, name),
      svg("svg", { viewBox: `0 0 ${WIDTH} ${LANE}`, preserveAspectRatio: "none", role: "img", "aria-label": `${name}: ${all.length} ${all.length === 1 ? "episode" : "episodes"}` }, bars));
  });
  const more = order.length - drawn.length;
  const ends = h("div", { class: "lane dim" }, h("span", {}, more > 0 ? `and ${more} more queues` : ""), timeEnds(span));
  return h("div", { class: "lanes" }, drawn, ends);
}

export function episodeTable(episodes, chosen) {
  const heads = [["began", left], ["queue", left], ["over", "", "from the first packet over the trigger to the reset"], ["longest wait"], ["most bytes"], ["packets", "", "over the trigger"], ["dropped"], ["trigger"], ["most packets of", left]];
  const rows = episodes.map((one) => h("tr", { class: one === chosen ? "open" : undefined },
    h("th", { scope: "row", class: left }, h("a", { href: link({ view: "queues", at: one.began_ns }), "aria-current": one === chosen ? "true" : undefined }, time(ms(one.began_ns)))),
    h("td", { class: left }, queueName(one)), h("td", {}, `${duration(length(one))}${one.end_ns ? "" : " and on"}`), h("td", {}, one.max_time_ns ? duration(one.max_time_ns) : "–"),
    h("td", {}, one.max_bytes > 0 ? bytes(one.max_bytes) : "–"), h("td", { title: exact(one.packets) }, count(one.packets)), h("td", { class: one.drops > 0 ? "trouble" : undefined }, count(one.drops)),
    h("td", {}, limit(one, one.trigger)), h("td", { class: left }, one.flows.length > 0 ? flowName(one.flows[0]) : "–")));
  return h("div", { class: "scroll" }, h("table", { class: "rows", "aria-label": "Episodes of queues" },
    h("thead", {}, h("tr", {}, heads.map(([name, side, title]) => h("th", { scope: "col", class: side || undefined, title }, name)))), h("tbody", {}, rows)));
}

export class QueuesView {
  constructor() {
    this.lanes = h("div", {});
    this.episode = h("div", {});
    this.table = h("div", {});
    this.none = h("p", { class: "none", hidden: true }, "No host reported episodes of queues in this period: ", h("code", {}, "hostint postcards --queue eth0=trigger:200us --collector"), " does.");
    this.parts = [panel("Episodes over time, by queue", null, this.lanes), panel("Flows that filled the queue", null, this.episode), panel("Episodes, newest first", null, this.table)];
    this.element = h("div", { class: "view stack" }, this.none, this.parts);
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const { queues } = await ask("queues", span, { limit: MOST_ROWS }, signal);
    this.none.hidden = queues.length > 0;
    for (const part of this.parts) part.hidden = queues.length === 0;
    if (queues.length === 0) return;
    // Without a choice the one that was over for longest is shown.
    const longest = queues.reduce((most, one) => (length(one) > length(most) ? one : most));
    const one = queues.find(({ began_ns: began }) => began === shown.at) ?? longest;
    this.lanes.replaceChildren(lanes(queues, span, one));
    this.episode.replaceChildren(h("p", { class: "episode-said" }, h("b", {}, `${queueName(one)}, ${time(ms(one.began_ns))}`), `: ${sentence(one)}`), ...culprits(one).filter(Boolean));
    this.table.replaceChildren(episodeTable(queues, one));
  }
}
