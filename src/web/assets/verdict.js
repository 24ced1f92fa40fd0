// The verdict: one band above everything, what it rests on, and what was said in the last 24 hours.

import { ask, ms, now } from "./api.js";
import { h } from "./dom.js";
import { edge } from "./edge.js";
import { go, link } from "./state.js";
import { ago, exact, share, time } from "./units.js";

const DAY = 86_400_000;
// The strip is asked for again after this time.
const STRIP_EVERY = 60_000;
// A verdict that is older is not about now.
const OLD = 60_000;
// A chart shows this much before the begin of a cause.
const BEFORE = 900_000;

const STATES = {
  healthy: ["✓", "Healthy"],
  degraded: ["✕", "Degraded"],
  measurement: ["!", "Measurement"],
  "cannot-tell": ["?", "Cannot tell"],
};

const CONFIDENCE = { sure: "sure", likely: "likely", "one-of": "not sure" };

// Where a cause can be seen: the pair, or all flows of a host.
function place(cause) {
  const nodes = (cause.subjects ?? []).flatMap((one) => ("node" in one ? [one.node] : []));
  const since = Math.max(0, ms(cause.since_ns) - BEFORE);
  const times = { range: "custom", since: String(Math.floor(since)), until: String(edge(now())) };
  if (cause.kind === "pair" && nodes.length === 2) return { view: "pair", source: String(nodes[0]), sink: String(nodes[1]), ...times };
  if (["host-drops-in", "host-drops-out", "hop"].includes(cause.kind)) return { view: "drops", ...times };
  if (cause.kind === "host-queue") return { view: "queues", ...times };
  return { view: "overview", metric: cause.metric?.includes("loss") ? "loss" : "p99", ...times };
}

function evidence(one) {
  if (one.value === null) return one.says;
  const value = Number.isInteger(one.value) ? exact(Math.abs(one.value)) : one.value <= 1 ? share(one.value) : exact(Math.round(one.value));
  return `${one.says}: ${value}`;
}

function why(cause) {
  const rows = [];
  const row = (name, ...what) => rows.push(h("dt", {}, name), h("dd", {}, ...what));
  const { packets, lost } = cause.now;
  if (packets) {
    row("lost", `${exact(lost)} of ${exact(packets)} packets; usual would be ${exact(Math.round(cause.usual.loss * packets))}`);
    row("shared by", `${exact(cause.shared.bad_cells)} of ${exact(cause.shared.cells)} pairs and classes there`);
  }
  for (const one of cause.evidence) row("evidence", evidence(one));
  if (packets) row("confidence", CONFIDENCE[cause.confidence] ?? cause.confidence);
  if (cause.commands.length) row("next", cause.commands.map((command) => h("code", {}, command)));
  return h("dl", {}, rows);
}

export class VerdictBand {
  constructor(element) {
    this.element = element;
    this.strip = h("div", { class: "strip", role: "img" });
    this.asked = -Infinity;
    this.open = false;
  }

  update(status) {
    const { verdict } = status;
    this.element.hidden = !verdict;
    if (!verdict) return;
    const old = now() - ms(verdict.as_of_ns) > OLD;
    const [icon, word] = STATES[old ? "cannot-tell" : verdict.state];
    this.element.className = `verdict ${old ? "cannot-tell" : verdict.state}`;
    // The word stands in front of the sentence already, and the time, as the reader has it, behind.
    const text = verdict.text.replace(/^[a-z ]+: /, "").replace(/ since [-0-9]+ [:0-9]+ UTC/, "");
    const sentence = old ? `Nothing was judged since ${time(ms(verdict.as_of_ns))}.` : `${text[0].toUpperCase()}${text.slice(1)}.`;
    const since = `since ${time(ms(verdict.since_ns))} (${ago(now() - ms(verdict.since_ns))})`;
    const causes = [...verdict.causes, ...verdict.notes];
    this.element.replaceChildren(
      h("p", {}, h("b", {}, h("i", { "aria-hidden": "true" }, icon), word), h("span", {}, sentence), h("small", {}, since)),
      verdict.causes.slice(1).map((cause) => h("p", { class: "also" }, cause.text)),
      causes.length ? this.details(causes[0]) : "",
      this.strip);
    this.ask();
  }

  details(cause) {
    const details = h("details", { open: this.open }, h("summary", {}, "Why"), why(cause));
    details.addEventListener("toggle", () => { this.open = details.open; });
    const show = h("a", { class: "show", href: link(place(cause)), onclick: (event) => { event.preventDefault(); go(place(cause)); } }, "Show");
    return h("div", { class: "more" }, show, details);
  }

  // The states of the last 24 hours.
  async ask() {
    const until = Math.ceil(now());
    if (until - this.asked < STRIP_EVERY) return;
    this.asked = until;
    try {
      const { past } = await ask("verdict", { since: until - DAY, until }, {});
      const parts = past.map((one) => {
        const begin = Math.max(until - DAY, ms(one.begin_ns));
        const end = Math.min(until, ms(one.until_ns));
        const left = (100 * (begin - (until - DAY))) / DAY;
        const title = `${time(begin)} to ${time(end)}: ${one.state === "healthy" ? "healthy" : one.text}`;
        const part = h("i", { class: one.state, title });
        part.style.left = `${left.toFixed(3)}%`;
        part.style.width = `${((100 * (end - begin)) / DAY).toFixed(3)}%`;
        return part;
      });
      const bad = past.filter((one) => one.state !== "healthy").length;
      this.strip.setAttribute("aria-label", `The last 24 hours: ${bad} times not healthy`);
      this.strip.replaceChildren(...parts);
    } catch {
      // The view reports that the collector does not answer.
    }
  }
}
