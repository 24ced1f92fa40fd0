// The figures that are shown: those of all packets if sinks sent summaries, or else those of reports.

import { exact } from "./units.js";

// Fewer reported latencies have no quantiles.
const LEAST_SAMPLES = 20;

export function shown(row) {
  const { measured } = row;
  if (measured) {
    const { packets, duplicates, lost, reordered, latency } = measured;
    return { ...row, packets: packets - duplicates + lost, lost, reordered, latency: latency || undefined, ofReports: undefined };
  }
  const latency = row.latency || undefined;
  const ofReports = latency?.samples ?? 0;
  if (!latency || ofReports >= LEAST_SAMPLES) return { ...row, latency, ofReports };
  const { samples, min_ns, mean_ns, max_ns } = latency;
  return { ...row, latency: { samples, min_ns, mean_ns, max_ns }, ofReports };
}

// What the figures of a row are of.
export const basis = ({ ofReports }) => (ofReports === undefined ? "packets" : `${exact(ofReports)} rep.`);

export const basisTitle = ({ ofReports }) => (ofReports === undefined
  ? "of all packets, as the sinks counted them"
  : `of ${exact(ofReports)} reported latencies, which favour slow packets, because no summaries came; no quantiles of fewer than ${LEAST_SAMPLES}`);
