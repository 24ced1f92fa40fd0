// Packets in INT-MX by pair: which reports lack a transit hop, and which hop told nothing.

import { h, panel } from "./dom.js";
import { named } from "./names.js";
import { exact, share } from "./units.js";

// "m2 (28673): 1,234; m3 (28674): 5"
export function missingText({ missing }) {
  return missing.map(({ node, reports }) => `${named(node)}: ${exact(reports)}`).join("; ");
}

// Hidden if no packet is in INT-MX.
export class MxPanel {
  constructor() {
    const heads = [["from", "left"], ["to", "left"], ["joined", "", "reports that all hops of the flow joined"], ["incomplete", "", "reports that lack a hop, or of a packet that came twice"], ["share", "", "of all reports of the pair"], ["hops that reported nothing: of how many packets", "left"]];
    this.body = h("tbody", {});
    this.element = panel("Packets in INT-MX", h("span", { class: "dim" }, "since the collector started, pairs with most incomplete reports first"), h("div", { class: "scroll" },
      h("table", { class: "rows", "aria-label": "Packets in INT-MX" }, h("thead", {}, h("tr", {}, heads.map(([name, side, title]) => h("th", { scope: "col", class: side || undefined, title }, name)))), this.body)));
    this.element.hidden = true;
  }

  update(pairs) {
    this.element.hidden = pairs.length === 0;
    this.body.replaceChildren(...pairs.map((pair) => h("tr", {},
      h("th", { scope: "row", class: "left" }, named(pair.source)), h("td", { class: "left" }, named(pair.sink)), h("td", {}, exact(pair.joined)),
      h("td", { class: pair.incomplete > 0 ? "trouble" : undefined }, exact(pair.incomplete)), h("td", {}, share(pair.incomplete / (pair.joined + pair.incomplete))),
      h("td", { class: "left" }, missingText(pair)))));
  }
}
