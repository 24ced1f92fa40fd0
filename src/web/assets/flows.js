// All flows, worst first, or those that match a search.

import { ask } from "./api.js";
import { h, panel } from "./dom.js";
import { go, link, setAbove } from "./state.js";
import { flowTable } from "./tables.js";

const MOST = 200;

export class FlowsView {
  constructor() {
    this.table = flowTable("Flows", (sort) => go({ sort }), { withPair: true });
    this.note = h("p", { class: "dim" });
    this.element = h("div", { class: "view stack" }, panel("Flows", this.note, this.table.element));
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const { flows } = await ask("flows", span, { order: shown.sort, search: shown.q, class: shown.class, limit: MOST }, signal);
    const words = { loss: "most packets lost", latency: "highest p99", jitter: "largest jitter", packets: "most packets" };
    const which = [shown.q && `that contain “${shown.q}”`, shown.class && `of class ${shown.class}`].filter(Boolean).join(", ");
    this.note.replaceChildren(
      `${[flows.length === MOST ? `the first ${MOST}` : flows.length, which].filter(Boolean).join(" ")}, ${words[shown.sort]} first`,
      ...(which ? [" · ", h("a", { href: link({ q: "", class: "" }) }, "all flows")] : []));
    this.table.update(flows, { sorted: shown.sort, none: which ? `No flows ${which} in this period.` : "No flows in this period." });
  }
}
