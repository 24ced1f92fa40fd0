// Colour scales. Lightness alone separates large from small values, so that they work with colour blindness too.

import { duration, share } from "./units.js";

const RAMPS = {
  light: {
    latency: ["#f3f6d8", "#d3ecc0", "#a3d9b8", "#68c2bd", "#389fbf", "#2678b3", "#27549c", "#1f2f6f", "#0b1440"],
    loss: ["#f6ead7", "#eb9a3c", "#a11919"],
  },
  dark: {
    latency: ["#1c2740", "#21406a", "#215f8b", "#23829a", "#35a39a", "#68c08c", "#a6d77f", "#dcea86", "#fbf8b9"],
    loss: ["#3b2d1b", "#c47a26", "#ff9d94"],
  },
};

export function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function at(ramp, part) {
  const place = Math.min(1, Math.max(0, part)) * (ramp.length - 1);
  const below = Math.min(ramp.length - 2, Math.floor(place));
  const rest = place - below;
  const [from, to] = [rgb(ramp[below]), rgb(ramp[below + 1])];
  return from.map((value, i) => Math.round(value + (to[i] - value) * rest));
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// What is out of the ordinary without a limit of the collector.
export const LIMITS = {
  loss: { unusual: 0.001, bad: 0.01 },
  // Retransmitted segments of a TCP connection.
  again: { unusual: 0.01, bad: 0.05 },
  // Packets that were not measured.
  unmeasured: { unusual: 0.1, bad: 0.5 },
};

// The latencies at the ends of the colours: they are the same on each day and for each network.
const LATENCIES = [10_000, 100_000_000];

// The limits that users of the collector have set.
let limits = [];

export function learnLimits(status) {
  limits = status.verdict?.limits ?? [];
}

// The least limit of a pair's or a flow's loss or latency; undefined if there is none.
function limitOf(name, { source, sink, class: of } = {}) {
  const within = (nodes, node) => !nodes || nodes.some((one) => String(one) === String(node));
  const own = limits.filter((one) => one[name] !== null && one[name] !== undefined && within(one.from, source) && within(one.to, sink) && (one.class === null || one.class === of));
  return own.length > 0 ? Math.min(...own.map((one) => Number(one[name]))) : undefined;
}

// The class of a share: none, "trouble" if it is unusual, "bad" beyond the limit. What is usual for a pair is known for some.
export function severity(kind, share, row) {
  const { unusual, bad } = LIMITS[kind];
  const usual = kind === "loss" ? row?.usual : undefined;
  const limit = (kind === "loss" ? limitOf("loss", row) : undefined) ?? (usual && !usual.more_lost ? Infinity : bad);
  const isUnusual = usual ? usual.more_lost : share > unusual;
  return share > limit ? "bad" : isUnusual ? "trouble" : undefined;
}

// The class of a latency: "bad" beyond a limit, "trouble" if it is more than is usual for the pair.
export function lateness(row) {
  const limit = limitOf("latency_ns", row);
  if (limit !== undefined && row.latency?.p99_ns > limit) return "bad";
  return row.usual?.slower ? "trouble" : undefined;
}

const ramp = (kind) => RAMPS[isDark() ? "dark" : "light"][kind];

function latencyScale() {
  const colours = ramp("latency");
  const [low, high] = LATENCIES;
  return {
    // Zero and negative latencies are not on the scale.
    colour: (value) => (value > 0 ? at(colours, Math.log(value / low) / Math.log(high / low)) : undefined),
    text: duration,
    ends: [duration(low), duration(high)],
    legend: colours.map((colour) => [colour]),
  };
}

// The colours of what is unusual, and of what is beyond a limit, in any matrix.
export function alarms() {
  const [, unusual, bad] = ramp("loss");
  return { trouble: unusual, bad };
}

function lossScale() {
  const [usual, unusual, bad] = ramp("loss");
  const { loss } = LIMITS;
  return {
    colour: (value, pair) => (value > 0 ? rgb({ bad, trouble: unusual }[severity("loss", value, pair)] ?? usual) : undefined),
    text: share,
    legend: [[usual, "usual"], [unusual, "unusual", `more than is usual for the pair; where that is not known, more than ${share(loss.unusual)}`], [bad, "beyond the limit", `more than a limit of the collector, or else ${share(loss.bad)}`]],
  };
}

export const scale = (kind) => (kind === "loss" ? lossScale() : latencyScale());

export function css([r, g, b]) {
  return `rgb(${r} ${g} ${b})`;
}

// Black or white, whichever is more readable on this colour.
export function ink([r, g, b]) {
  const linear = [r, g, b].map((value) => (value / 255 <= 0.04045 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return luminance > 0.18 ? "#0b0f14" : "#ffffff";
}
