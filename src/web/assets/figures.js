// The figures that are shown: those of all packets if sinks sent summaries, or else those of reports.

import { certain, duration, exact, withError } from "./units.js";

// Fewer reported latencies have no quantiles.
const LEAST_SAMPLES = 20;

// By what quantiles of packets may be too high, by the slots that each power of two has.
const ERRORS = { 1: "×2", 8: "+12.5%", 32: "+3.2%" };
// One that is told in titles alone.
const SMALL = "+3.2%";
const ERROR_TITLES = {
  "×2": "; quantiles may be up to twice the true ones, because a sink has slots of powers of two",
  "+12.5%": "; quantiles are too high by 12.5% at most",
  "+3.2%": "; quantiles are too high by 3.2% at most",
};

// Latencies without the difference of the two hosts' clocks, if that was known for all packets: shifted by its mean. No
// packet takes a negative time.
function withoutClocks({ latency, corrected }) {
  if (!latency || !corrected || corrected.packets !== latency.samples) return undefined;
  const ahead = latency.mean_ns - corrected.mean_ns;
  const shifted = { samples: latency.samples, mean_ns: corrected.mean_ns, jitter_ns: latency.jitter_ns };
  for (const key of ["min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns"]) {
    if (latency[key] !== undefined) shifted[key] = Math.max(0, latency[key] - ahead);
  }
  return shifted;
}

// Without quantiles that are null: those among negative latencies that share one slot.
const known = (latency) => latency && Object.fromEntries(Object.entries(latency).filter(([, value]) => value !== null));

export function shown(row) {
  const { measured } = row;
  if (measured) {
    const { packets, duplicates, lost, reordered, steps } = measured;
    const latency = known(measured.latency);
    const corrected = withoutClocks({ ...measured, latency });
    const clocks = corrected ? measured.corrected : undefined;
    return { ...row, packets: packets - duplicates + lost, lost, reordered, latency: corrected ?? (latency || undefined), clocks, ofReports: undefined, error: latency && ERRORS[steps] };
  }
  const latency = row.latency || undefined;
  const ofReports = latency?.samples ?? 0;
  if (!latency || ofReports >= LEAST_SAMPLES) return { ...row, latency, ofReports };
  const { samples, min_ns, mean_ns, max_ns } = latency;
  return { ...row, latency: { samples, min_ns, mean_ns, max_ns }, ofReports };
}

// The quantiles that are known; undefined if none is.
export function quantiles(all) {
  const some = known(all);
  return Object.keys(some).length > 0 ? some : undefined;
}

// A period of a series as it comes.
export function pointOf({ begin_ns, packets, lost, reordered, p50_ns, p90_ns, p99_ns, ...known }) {
  return { begin_ns, packets, lost, reordered, latency: quantiles({ p50_ns, p90_ns, p99_ns }), ...basisOf(known) };
}

// What figures are of, and what is known of the clocks.
export const basisOf = ({ of_reports, steps, error_ns, low_ns, high_ns }) => ({
  ofReports: of_reports ?? undefined,
  error: steps === null ? undefined : ERRORS[steps],
  clocks: error_ns === null ? undefined : { error_ns, bound_ns: [low_ns, high_ns] },
});

// A latency in the digits that the clocks leave known, with a mark if it is of reports, and one if the difference of the
// hosts' clocks is in it.
export function latencyText({ ofReports, clocks }, ns) {
  if (ns === undefined) return "–";
  return `${ofReports ? "~" : ""}${clocks ? certain(ns, clocks.error_ns) : `${duration(ns)}?`}`;
}

// The mean with its error, or with a mark.
export const meanText = (row) => (row.clocks ? withError(row.latency.mean_ns, row.clocks.error_ns) : latencyText(row, row.latency?.mean_ns));

// The error of most such figures, as text.
export const errorOf = ({ clocks }) => (clocks ? ` ± ${duration(clocks.error_ns)}` : "");

// Where the true mean lies; nothing where it is known to its last digit.
export function boundText({ clocks, latency }) {
  if (!clocks) return latency && "clocks unknown";
  const [low, high] = clocks.bound_ns.map((ns) => certain(ns, clocks.error_ns));
  return low === high ? undefined : `${low} to ${high}`;
}

// What is known of the clocks of both hosts.
export const clocksTitle = ({ clocks }) => (clocks
  ? `; without the difference of the two hosts' clocks: the mean is between ${duration(clocks.bound_ns[0])} and ${duration(clocks.bound_ns[1])}`
  : "; the difference of the two hosts' clocks is in it, and is not known");

// What the figures of a row are of.
export function basis({ ofReports, error }) {
  if (ofReports === undefined) return error && error !== SMALL ? `packets ${error}` : "packets";
  return `${exact(ofReports)} rep.`;
}

export const basisTitle = ({ ofReports, error }) => (ofReports === undefined
  ? `of all packets, as the sinks counted them${ERROR_TITLES[error] ?? ""}`
  : `of ${exact(ofReports)} reported latencies, which favour slow packets, because no summaries came; no quantiles of fewer than ${LEAST_SAMPLES}`);
