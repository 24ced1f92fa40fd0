// All flows: folded by service, or those that match a search, worst first.

import { ask } from "./api.js";
import { choice, h, panel } from "./dom.js";
import { ServiceTable } from "./services.js";
import { go, link, setAbove } from "./state.js";
import { flowTable } from "./tables.js";
import { exact } from "./units.js";

const MOST = 200;
// As many as the collector answers at once.
const MOST_FOLDED = 1000;

const WORDS = { loss: "most packets lost", latency: "highest p99", jitter: "largest jitter", packets: "most packets" };

export class FlowsView {
  constructor(shown) {
    this.table = flowTable("Flows", (sort) => go({ sort }), { withPair: true });
    this.services = new ServiceTable();
    this.note = h("p", { class: "dim" });
    this.fold = choice("Folding", [["service", "by service"], ["none", "single flows"]], shown.fold, (fold) => go({ fold, q: "", class: "" }));
    this.order = choice("Order", Object.entries({ loss: "lost", latency: "p99", packets: "packets" }), shown.sort, (sort) => go({ sort }));
    this.element = h("div", { class: "view stack" }, panel("Flows", h("div", { class: "tools" }, this.fold, this.order), this.note, this.services.element, this.table.element));
  }

  async update(shown, span, signal) {
    setAbove({ view: "overview" });
    const which = [shown.q && `that contain “${shown.q}”`, shown.class && `of class ${shown.class}`].filter(Boolean).join(", ");
    // What was searched for is not folded away.
    const folds = shown.fold === "service" && !which;
    const limit = folds ? MOST_FOLDED : MOST;
    const { flows } = await ask("flows", span, { order: shown.sort, search: shown.q, class: shown.class, limit }, signal);
    this.fold.choose(folds ? "service" : "none");
    this.order.choose(shown.sort);
    this.note.replaceChildren(
      `${[flows.length === limit ? `the first ${exact(limit)}` : exact(flows.length), "flows", which].filter(Boolean).join(" ")}, ${WORDS[shown.sort]} first`,
      ...(which ? [" · ", h("a", { href: link({ q: "", class: "" }) }, "all flows")] : []));
    this.services.element.hidden = !folds;
    this.table.element.hidden = folds;
    const none = which ? `No flows ${which} in this period.` : "No flows in this period.";
    if (folds) this.services.update(flows, shown.sort, none);
    else this.table.update(flows, { sorted: shown.sort, none });
  }
}
