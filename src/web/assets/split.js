// INT's loss, split into what the source host, the network and the sink host dropped.

import { h } from "./dom.js";
import { nodeNamed } from "./names.js";
import { exact } from "./units.js";

// The parts of the bar, in the order of the path. What a host does not tell is a part of the rest.
export function partsOf(split) {
  const number = (value) => Number(value ?? 0);
  const [source, sink, unsplit] = [number(split.source_host), number(split.sink_host), number(split.unsplit)];
  const rest = split.network === null ? number(split.lost) - source - sink : number(split.network);
  const hosts = [split.source_host === null && "source host", split.sink_host === null && "sink host"].filter(Boolean);
  return [
    ["source", "source host", source],
    ["network", ["network", ...hosts].join(" or "), rest],
    ["sink", "sink host", sink],
    ["unsplit", "cannot be split", unsplit],
  ].filter(([, , packets]) => packets > 0);
}

function part([kind, name, packets]) {
  const element = h("span", { class: kind, title: `${name}: ${exact(packets)}` }, name);
  element.style.flexGrow = packets;
  return element;
}

// The hosts that tell no drops, and so leave the place unknown.
function silentEnds(split, { source, sink }) {
  return [split.source_host === null && source, split.sink_host === null && sink].filter((node) => node !== false && node !== null && node !== undefined).map(nodeNamed);
}

const next = (hosts) => ["run ", h("code", {}, "hostint postcards --drops"), ` on ${hosts.join(" and ")}`];

// Where packets of this pair were lost, as a bar and in words; or the hosts that would know it.
export function splitBar(split, ends = {}) {
  if (!split || Number(split.lost) === 0) return "";
  const parts = partsOf(split);
  const hosts = silentEnds(split, ends);
  const lost = `${exact(split.lost)} lost`;
  // A bar of one part that may be anywhere says nothing.
  if (parts.length < 2 && hosts.length > 0) return h("p", { class: "split" }, `${lost}; the place is not known: `, next(hosts));
  const words = parts.map(([, name, packets]) => `${name} ${exact(packets)}`).join(", ");
  const notes = [
    Number(split.between) > 0 && `${exact(split.between)} of the network's were dropped by hosts between`,
    Number(split.behind_strip) > 0 && `the sink host dropped ${exact(split.behind_strip)} more after they had arrived for INT`,
  ].filter(Boolean);
  return h("div", { class: "split" }, h("p", {}, `${lost}${words && ": "}${words}`),
    h("div", { class: "split-bar", role: "img", "aria-label": words }, parts.map(part)),
    notes.length > 0 && h("p", { class: "dim" }, notes.join("; ")),
    hosts.length > 0 && h("p", { class: "dim" }, "to know the rest ", next(hosts)));
}
