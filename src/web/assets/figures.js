// The figures that are shown: those of all packets if sinks sent summaries, or else those of reports.

import { exact } from "./units.js";

// Fewer reported latencies have no quantiles.
const LEAST_SAMPLES = 20;

// By what quantiles of packets may be too high, by the slots that each power of two has.
const ERRORS = { 1: "×2", 8: "+12.5%", 32: "+3.2%" };
const ERROR_TITLES = {
  "×2": "; quantiles may be up to twice the true ones, because a sink has slots of powers of two",
  "+12.5%": "; quantiles are too high by 12.5% at most",
  "+3.2%": "; quantiles are too high by 3.2% at most",
};

export function shown(row) {
  const { measured } = row;
  if (measured) {
    const { packets, duplicates, lost, reordered, latency, steps } = measured;
    return { ...row, packets: packets - duplicates + lost, lost, reordered, latency: latency || undefined, ofReports: undefined, error: latency && ERRORS[steps] };
  }
  const latency = row.latency || undefined;
  const ofReports = latency?.samples ?? 0;
  if (!latency || ofReports >= LEAST_SAMPLES) return { ...row, latency, ofReports };
  const { samples, min_ns, mean_ns, max_ns } = latency;
  return { ...row, latency: { samples, min_ns, mean_ns, max_ns }, ofReports };
}

// A figure with a mark if it is of reports.
export const marked = ({ ofReports }, text) => (ofReports && text !== "–" ? `~${text}` : text);

// What the figures of a row are of.
export function basis({ ofReports, error }) {
  if (ofReports === undefined) return error ? `packets ${error}` : "packets";
  return `${exact(ofReports)} rep.`;
}

export const basisTitle = ({ ofReports, error }) => (ofReports === undefined
  ? `of all packets, as the sinks counted them${ERROR_TITLES[error] ?? ""}`
  : `of ${exact(ofReports)} reported latencies, which favour slow packets, because no summaries came; no quantiles of fewer than ${LEAST_SAMPLES}`);
