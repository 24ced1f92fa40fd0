// A waterfall: a row for each segment of a path, which begins where the one before usually ends.

import { h, svg } from "./dom.js";
import { named, portNamed, portsNamed } from "./names.js";
import { count, duration, exact, share } from "./units.js";

// Fewer packets have no quantiles.
const LEAST_SAMPLES = 20;
const ROW = 16;

// The segments of all paths that take longest.
export function segmentTable(segments) {
  const heads = [["segment", "left"], ["", "left"], ["packets", "", "all that the sink counted, or those of reports"], ["mean"], ["p50"], ["p99"], ["share", "", "of the mean of the paths that it is a part of"]];
  const rows = segments.map((segment) => h("tr", { title: about(segment) },
    h("td", { class: "left dim" }, segment.kind), h("th", { scope: "row", class: "left" }, ends(segment)), h("td", { class: segment.packets === null ? "dim" : undefined }, count(segment.packets ?? segment.reports)),
    h("td", {}, mean(segment)), h("td", {}, quantile(segment, "p50_ns")), h("td", {}, quantile(segment, "p99_ns")), h("td", {}, segment.share === null ? "" : share(segment.share))));
  return h("div", { class: "scroll" }, h("table", { class: "rows", "aria-label": "Slowest segments" },
    h("thead", {}, h("tr", {}, heads.map(([name, side, title]) => h("th", { scope: "col", class: side || undefined, title }, name)))), h("tbody", {}, rows)));
}

// A packet may wait in the queue of the interface where such a segment begins.
const beginsWithQueue = (kind) => kind === "wire" || kind === "guest";

// "leaf (28673) eth0 → eth1" for a hop, its port for a queue and within a host, both ports with their nodes for a wire.
export function ends({ kind, from, to }) {
  if (kind === "queue" || kind === "read" || kind === "answer") return portNamed(from);
  if (kind === "buffer" || kind === "stack") return portNamed(to);
  return kind === "hop" ? portsNamed(from, to) : `${portNamed(from)} → ${portNamed(to)}`;
}

// The usual time of a segment, and its 99th percentile; nothing if the clocks are unknown.
function drawn({ latency }) {
  if (!latency) return undefined;
  if (latency.samples < LEAST_SAMPLES || latency.p50_ns === null) return { usual: Math.max(0, latency.mean_ns), slow: Math.max(0, latency.mean_ns) };
  return { usual: Math.max(0, latency.p50_ns), slow: Math.max(0, latency.p99_ns) };
}

// The place of each segment on the common axis.
export function places(segments) {
  let begin = 0;
  const found = segments.map((segment) => {
    const times = drawn(segment);
    if (!times) return undefined;
    const place = { begin, usual: begin + times.usual, slow: begin + times.slow, error: segment.corrected?.error_ns ?? 0 };
    begin = place.usual;
    return place;
  });
  const last = Math.max(1, ...found.filter(Boolean).map(({ usual, slow, error }) => Math.max(slow, usual + error)));
  return { found, last };
}

// The bar to the usual time, the whisker to the 99th percentile, and the hatched error of the clocks.
function bar(place, last, kind) {
  const at = (ns) => `${(100 * Math.max(0, ns) / last).toFixed(3)}%`;
  const box = svg("svg", { class: `waterfall-bar ${kind}`, width: "100%", height: ROW, role: "presentation" });
  if (!place) {
    box.append(svg("line", { class: "unknown", x1: "0%", x2: "100%", y1: ROW / 2, y2: ROW / 2 }));
    return box;
  }
  const { begin, usual, slow, error } = place;
  if (slow > usual) box.append(svg("line", { class: "whisker", x1: at(usual), x2: at(slow), y1: ROW / 2, y2: ROW / 2 }), svg("line", { class: "whisker", x1: at(slow), x2: at(slow), y1: 4, y2: ROW - 4 }));
  box.append(svg("rect", { class: "usual", x: at(begin), width: at(usual - begin), y: 2, height: ROW - 4 }));
  if (error > 0) box.append(svg("line", { class: "clock-error", x1: at(usual - error), x2: at(usual + error), y1: ROW / 2, y2: ROW / 2 }));
  return box;
}

function mean({ latency, corrected, packets, reports }) {
  if (corrected) return `${duration(corrected.mean_ns)} ± ${duration(corrected.error_ns)}`;
  if (latency) return duration(latency.mean_ns);
  return (packets ?? reports) > 0 ? "?" : "–";
}

function quantile(times, name) {
  if (!times.latency) return (times.packets ?? times.reports) > 0 ? "?" : "–";
  const ns = times.latency[name];
  // A segment between two clocks is told without their difference.
  return times.latency.samples < LEAST_SAMPLES ? "–" : duration(times.corrected && ns !== null ? Math.max(0, ns) : ns);
}

// "of all 1,234 packets", or "of 60 reports, which favour slow packets".
export function ofWhat({ packets, reports }, number = exact) {
  return packets === null ? `of ${number(reports)} reports, which favour slow packets` : `of all ${number(packets)} packets`;
}

function about(times) {
  const { latency, corrected, packets, reports } = times;
  const bound = corrected && `between ${duration(corrected.bound_ns[0])} and ${duration(corrected.bound_ns[1])} for certain`;
  const unknown = !latency && (packets ?? reports) > 0 && "two clocks whose difference is not known";
  return [ofWhat(times), bound, unknown].filter(Boolean).join(", ");
}

// The parts whose times vary by half of what the slowest packets took longer, or more; those that vary most first.
function explaining(parts, excess) {
  const all = parts.map((part) => ({ part, varies: variesBy(part) }));
  return all.filter(({ varies }) => varies !== null && varies >= excess / 2).sort((one, other) => other.varies - one.varies);
}

// The 99th percentile less the median.
function variesBy({ latency }) {
  return !latency || latency.p99_ns === null || latency.p50_ns === null ? null : latency.p99_ns - latency.p50_ns;
}

const CANNOT_TELL = "not in a hop that knows its time; links, queues of hosts and drifting clocks cannot be told apart.";

// Where the slowest packets lost their time, in a sentence.
export function tailText({ tail, whole, segments, queues }) {
  if (!tail) return spreadText(whole, segments, queues);
  const begin = `The slowest ${exact(tail.slowest)} of ${exact(tail.of_reports)} reports took ${duration(tail.excess_ns)} more than the median: `;
  const [most, at] = tail.shares.reduce((best, part, i) => (part !== null && part > best[0] ? [part, i] : best), [0, -1]);
  const slow = at < 0 || most < 0.5 ? explaining(queues, tail.excess_ns)[0] : undefined;
  if (slow) return `${begin}the queue of ${ends(slow.part)} can explain it: its waits vary by ${duration(slow.varies)} (p99 less p50).`;
  if (at < 0 || most < 0.5) return `${begin}${CANNOT_TELL}`;
  return `${begin}${share(most)} of it in ${segments[at].kind} ${ends(segments[at])}.`;
}

// The same by the distributions of all packets, which know less: not which part the slowest packets were slow in.
function spreadText(whole, segments, queues) {
  const excess = variesBy(whole);
  if (excess === null || excess <= 0 || whole.latency.samples < LEAST_SAMPLES) return "";
  const hasOneClock = ({ kind }) => kind === "hop" || kind === "guest";
  const slow = explaining([...segments.filter(hasOneClock), ...queues], excess);
  const of = whole.packets === null ? `${exact(whole.reports)} reports` : `all ${exact(whole.packets)} packets`;
  const begin = `The 99th percentile of ${of} is ${duration(excess)} above the median: `;
  if (slow.length === 0) return `${begin}${CANNOT_TELL}`;
  const parts = slow.map(({ part }) => `${part.kind === "queue" ? "the queue of" : part.kind} ${ends(part)}`);
  return `${begin}${parts.join(" or ")} can explain it: ${slow.length === 1 ? "its" : "their"} times vary by ${slow.map(({ varies }) => duration(varies)).join(" and ")} (p99 less p50).`;
}

// The packets that a segment lost, in red if there are any; "?" if the hosts on both ends do not tell all.
function lostCell({ loss }) {
  if (!loss) return h("td", { class: "dim" }, "?");
  return h("td", { class: loss.lost > 0 ? "trouble" : undefined, title: `${exact(loss.lost)} of ${exact(loss.packets)}` }, count(loss.lost));
}

// The segments that lost packets, those with most first. What a queue lost is not the rest of its wire's.
function lostIn({ segments, queues }) {
  const lost = ({ loss }) => loss?.lost ?? 0;
  const inQueue = ({ kind, from }) => (beginsWithQueue(kind) ? lost(queues.find((queue) => queue.from.node === from.node && queue.from.port === from.port) ?? {}) : 0);
  const own = segments.map((segment) => ({ segment, lost: Math.max(0, lost(segment) - inQueue(segment)) }));
  const all = [...own, ...queues.map((segment) => ({ segment, lost: lost(segment) }))];
  return all.filter((one) => one.lost > 0).sort((one, other) => other.lost - one.lost);
}

// Where the packets of the pair were lost, in a sentence.
export function lossText(path) {
  const { loss } = path.whole;
  if (!loss) return "";
  if (loss.lost === 0) return `No packet of ${exact(loss.packets)}${path.of_flow ? " of this pair" : ""} was lost.`;
  const at = lostIn(path);
  const places = at.map(({ segment, lost }) => `${exact(lost)} in ${segment.kind === "queue" ? "the queue of" : segment.kind} ${ends(segment)}`);
  const rest = loss.lost - at.reduce((sum, { lost }) => sum + lost, 0);
  if (rest > 0) places.push(`${exact(rest)} where it is not known`);
  else if (path.of_flow && at.length === 1) places.push("any of this flow, too");
  return `${exact(loss.lost)} of ${exact(loss.packets)} packets ${path.of_flow ? "of all flows of this pair " : ""}were lost: ${places.join("; ")}.`;
}

// The hops that this path lacks of another one, in a sentence.
export function lackingText({ lacking }) {
  return `Another path of this pair differs in ${lacking.map(named).join(" and ")} alone, which reported nothing of these packets; hostint status there says why (too_long, no_budget, postcard_lost).`;
}

// The hosts on the way that tell which lost packets they dropped.
export function lostAt(loss) {
  if (!loss || loss.at.length === 0) return "";
  const hosts = loss.at.map(({ node, segments }) => `${named(node)} ${exact(segments)}`).join(", ");
  return h("p", {}, `Of ${exact(loss.lost)} lost packets, hosts on the way dropped: ${hosts}.`);
}

// The queues that packets met at hops, in a sentence.
export function depthText({ segments }) {
  const known = segments.filter(({ queue_depth: depth }) => depth);
  if (known.length === 0) return "";
  const begin = `Queues that packets met at hops, by the newest ${exact(Math.max(...known.map(({ queue_depth: depth }) => depth.reports)))} reports: `;
  const filled = known.filter(({ queue_depth: depth }) => depth.most > 0);
  if (filled.length === 0) return `${begin}empty.`;
  const each = filled.map(({ to, queue_depth: { in_bytes: inBytes, mean, most } }) => {
    const unit = inBytes ? " bytes" : "";
    return `${portNamed(to)} ${mean.toFixed(1)}${unit} (mean), ${exact(most)}${unit} at most`;
  });
  return `${begin}${each.join("; ")}${known.some(({ queue_depth: depth }) => !depth.in_bytes) ? " (hostint's hops count packets)" : ""}.`;
}

// The routers on a wire that pushed no entry, as a dashed line.
function unseenRow({ unseen_hops: routers }, knowsLosses) {
  if (!routers) return [];
  const dashed = svg("svg", { class: "waterfall-bar router", width: "100%", height: ROW, role: "presentation" }, svg("line", { class: "router-line", x1: "0%", x2: "100%", y1: ROW / 2, y2: ROW / 2 }));
  return [h("tr", { title: "by the difference of the TTL" }, h("td", { class: "left dim" }, "router"), h("th", { scope: "row", class: "left dim" }, `${routers} router${routers === 1 ? "" : "s"} without INT`),
    h("td", { class: "waterfall-cell" }, dashed), knowsLosses && h("td", {}), h("td", {}), h("td", {}), h("td", {}), h("td", {}))];
}

const IN_HOSTS = { buffer: "in the source's host, until TCP sends what the application wrote", stack: "in the source's host, from TCP to the stamp", read: "in the sink's host, until the application reads", answer: "in the application there, from a request that it read to its answer" };

// What is in the host at an end of the path: neither a part of its mean, nor of what is lost on it.
function hostRow(segment, knowsLosses) {
  return h("tr", { title: about(segment) }, h("td", { class: "left dim" }, segment.kind), h("th", { scope: "row", class: "left" }, ends(segment)),
    h("td", { class: "dim left" }, IN_HOSTS[segment.kind]), knowsLosses && h("td", {}), h("td", {}, mean(segment)), h("td", {}, quantile(segment, "p50_ns")), h("td", {}, quantile(segment, "p99_ns")), h("td", {}));
}

export function waterfall(path) {
  const { found, last } = places(path.segments);
  const knowsLosses = [path.whole, ...path.segments, ...path.queues].some(({ loss }) => loss);
  const lostHead = knowsLosses ? [["lost", "", "of all packets of the pair, by the counts of the hosts on both ends; of a wire, with its queue"]] : [];
  const lostOf = (times) => knowsLosses && lostCell(times);
  const heads = [["segment", "left"], ["", "left"], [duration(last), "axis"], ...lostHead, ["mean"], ["p50"], ["p99"], ["share", "", "of the mean of the whole way"]];
  const row = (segment, drawing) => h("tr", { title: about(segment) },
    h("td", { class: "left dim" }, segment.kind), h("th", { scope: "row", class: "left" }, ends(segment)),
    h("td", { class: "waterfall-cell" }, drawing), lostOf(segment),
    h("td", {}, mean(segment)), h("td", {}, quantile(segment, "p50_ns")), h("td", {}, quantile(segment, "p99_ns")),
    h("td", {}, segment.share === null ? "" : share(segment.share)));
  // A queue is a part of the wire that begins there, and stands below it.
  const rows = path.segments.flatMap((segment, i) => {
    const begins = ({ from }) => beginsWithQueue(segment.kind) && from.node === segment.from.node && from.port === segment.from.port;
    return [row(segment, bar(found[i], last, segment.kind)), path.queues.filter(begins).map((queue) => row(queue, "part of the wire")), unseenRow(segment, knowsLosses)].flat();
  });
  const within = (kind) => path.host_segments.filter((segment) => segment.kind === kind).map((segment) => hostRow(segment, knowsLosses));
  const whole = h("tr", { class: "waterfall-whole", title: about(path.whole) }, h("td", { class: "left dim" }, "in all"), h("th", { scope: "row" }), h("td", {}), lostOf(path.whole),
    h("td", {}, mean(path.whole)), h("td", {}, quantile(path.whole, "p50_ns")), h("td", {}, quantile(path.whole, "p99_ns")), h("td", {}));
  const rest = path.unknown_mean_ns !== null && h("p", { class: "dim" }, `Segments marked ? take ${duration(path.unknown_mean_ns)} in all (mean): what the whole way takes longer than the others.`);
  const again = path.repeated_nodes.map((node) => h("p", { class: "trouble" }, `Node ${named(node)} is on this path more than once: packets pass it again, as in a forwarding loop, or two hosts have one node id.`));
  const lacking = path.lacking.length > 0 && h("p", { class: "dim" }, lackingText(path));
  const tail = tailText(path);
  const depth = depthText(path);
  const losses = lossText(path);
  return h("div", { class: "waterfall" },
    h("div", { class: "scroll" }, h("table", { class: "rows", "aria-label": `segments of path ${path.path_hash}` },
      h("thead", {}, h("tr", {}, heads.map(([name, side, title]) => h("th", { scope: "col", class: side || undefined, title }, name)))), h("tbody", {}, within("buffer"), within("stack"), rows, within("read"), within("answer"), whole))),
    rest, again, lacking, tail && h("p", {}, tail), depth && h("p", {}, depth), losses && h("p", { class: path.whole.loss.lost > 0 ? "trouble" : "dim" }, losses), h("p", { class: "dim" }, `Figures ${ofWhat(path.whole, count)}.`));
}
