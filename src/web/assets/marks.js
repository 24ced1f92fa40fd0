// Events as marks of charts: when the verdict changed, when a path was first taken, when a host began again or its clock was set,
// and what was posted, as a deploy.

import { ask, ms } from "./api.js";
import { named, nodeCalled } from "./names.js";

const HEALTHY = "healthy";

// Where one verdict followed another.
export function verdictMarks(past) {
  return past.filter((one, i) => i > 0 && one.text !== past[i - 1].text).map((one) => ({
    at: ms(one.begin_ns), kind: one.state, title: one.state === HEALTHY ? HEALTHY : one.text,
  }));
}

// What the collector sees by itself; all else is posted.
const SEEN = { restart: "restart of hostint", "clock-step": "the clock was set" };

// "deploy web 1.2.3 at web-1", "restart of hostint at web-1". Of what was seen at single hosts, that of these nodes.
export function eventMarks(events, nodes) {
  const isThere = ({ kind, host }) => !(kind in SEEN) || !host || !nodes || nodes.some((node) => String(node) === nodeCalled(host));
  return events.filter(isThere).map(({ time_ns: at, kind, text, host, to }) => ({
    at: ms(at), kind: kind in SEEN ? "seen" : "event", title: [SEEN[kind] ?? kind, text, host && (to ? `from ${host} to ${to}` : `at ${host}`)].filter(Boolean).join(" "),
  }));
}

// A path began, or transit hops were first seen, while packets came before.
export function pathMarks(paths, span) {
  const begun = paths.map((path) => ({ at: ms(path.first_ns), nodes: path.nodes }));
  return begun.filter(({ at }) => at > span.since + 2 * (paths.length > 0 ? ms(paths[0].period_ns) : 0)).map(({ at, nodes }) => ({
    at, kind: "path", title: `path over ${nodes.map(named).join(" → ")} began`,
  }));
}

// Those of the whole network, or of packets between nodes, as the answer is asked. Without them a chart is as good.
export async function networkMarks(span, signal) {
  try {
    const { past, events } = await ask("verdict", span, {}, signal);
    return (nodes) => [...verdictMarks(past ?? []), ...eventMarks(events ?? [], nodes)];
  } catch {
    return () => [];
  }
}
