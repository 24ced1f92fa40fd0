// The views of what hosts report besides packets between them; grey, with the command that feeds them, until one does.

import { ask, now } from "./api.js";
import { h } from "./dom.js";
import { link } from "./state.js";

const PARTS = [
  ["hosts", "All hosts"],
  ["drops", "Drops", "hostint postcards --drops"],
  ["hops", "Hops", "hostint postcards --hops"],
  ["queues", "Queues", "hostint postcards --queue eth0=trigger:200us"],
  ["tcp", "TCP", "hostint tcp"],
];
const DAY = 86_400_000;
// What feeds a view is looked for again after this time.
const AGAIN = 60_000;

export const isOfHosts = (view) => view === "host" || PARTS.some(([name]) => name === view);

export class HostTabs {
  constructor(element) {
    this.element = element;
    this.fed = { hosts: true };
    this.asked = -Infinity;
  }

  update(shown, status) {
    this.element.hidden = !isOfHosts(shown.view) || !status?.keeps_history;
    if (this.element.hidden) return;
    if (status.drops) Object.assign(this.fed, { drops: status.drops.length > 0, tcp: status.tcp.length > 0 });
    this.draw(shown);
    this.look().then((news) => news && this.draw(shown));
  }

  // The status does not have these two.
  async look() {
    const until = Math.ceil(now());
    if (until - this.asked < AGAIN) return false;
    this.asked = until;
    try {
      const span = { since: until - DAY, until };
      const [{ hops, passages }, { queues }] = await Promise.all(["hops", "queues"].map((what) => ask(what, span, { limit: 1 })));
      Object.assign(this.fed, { hops: hops.length + passages.length > 0, queues: queues.length > 0 });
      return true;
    } catch {
      return false;
    }
  }

  draw(shown) {
    const here = shown.view === "host" ? "hosts" : shown.view;
    this.element.replaceChildren(...PARTS.map(([view, name, command]) => {
      const unfed = command && this.fed[view] === false;
      return h("a", { href: link({ view }), class: unfed ? "unfed" : undefined, "aria-current": view === here ? "page" : undefined, title: unfed ? `Nothing yet: ${command} --collector feeds it` : undefined },
        name, unfed && [" ", h("code", {}, command)]);
    }));
  }
}
