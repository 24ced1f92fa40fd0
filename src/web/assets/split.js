// INT's loss, split into what the source host, the network and the sink host dropped.

import { h } from "./dom.js";
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

// A bar of three parts, and what it says in words; nothing where no host tells drops.
export function splitBar(split) {
  if (!split) return "";
  const parts = partsOf(split);
  const words = parts.map(([, name, packets]) => `${name} ${exact(packets)}`).join(", ");
  const notes = [
    Number(split.between) > 0 && `${exact(split.between)} of the network's at hosts between`,
    Number(split.behind_strip) > 0 && `the sink host dropped ${exact(split.behind_strip)} more behind the strip, which arrived for INT`,
  ].filter(Boolean);
  return h("div", { class: "split" }, h("p", {}, `lost ${exact(split.lost)}${words && ": "}${words}`),
    h("div", { class: "split-bar", role: "img", "aria-label": words }, parts.map(part)),
    notes.length > 0 && h("p", { class: "dim" }, notes.join("; ")));
}
