// The edge of live figures: the end of the last ten seconds of which sinks' summaries have come, because what is known of
// the newest seconds are single reports, which favour slow packets.

export const SLOT = 10_000;
// How long a summary takes to the history.
export const SETTLES = 3_000;

export const edge = (now) => Math.floor((now - SETTLES) / SLOT) * SLOT;

// When the edge moves on.
export const nextEdge = (now) => edge(now) + SLOT + SETTLES;

// A summary that is later than this will not come.
const LATEST = 60_000;

// The points without the newest ones that summaries of all packets have not reached yet.
export function withoutEdge(points, now) {
  if (!points.some(({ ofReports }) => ofReports === undefined)) return points;
  let end = points.length;
  while (end > 0 && points[end - 1].ofReports !== undefined && now - points[end - 1].begin < LATEST) end -= 1;
  return points.slice(0, end);
}
