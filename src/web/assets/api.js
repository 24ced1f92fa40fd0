// Requests to the collector. Times are milliseconds here, and nanoseconds as text in the API.

import { edge } from "./edge.js";
import { pointOf, shown } from "./figures.js";
import { groupOf } from "./groups.js";
import { RANGES } from "./state.js";

const PATIENCE = 30_000;

export class NoAnswer extends Error {
  // `gone` is true if there was no answer at all.
  constructor(message, gone) {
    super(message);
    this.gone = gone;
  }
}

// Parses JSON; integers that a number cannot hold exactly become text. Shorter ones, which are most, are not looked at.
export function parse(text) {
  const exact = text.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.])-?\d{16,}(?![\d.])/g, (token) => (token[0] === '"' ? token : `"${token}"`));
  return JSON.parse(exact);
}

export const ms = (ns) => Number(ns) / 1e6;

// How far the collector's clock is ahead of this one, in milliseconds.
let ahead = 0;

export const now = () => Date.now() + ahead;

export function spanOf(state) {
  if (state.range === "custom") return { since: Number(state.since), until: Number(state.until) };
  const until = edge(now());
  return { since: until - RANGES[state.range], until };
}

const ns = (time) => `${Math.floor(time)}000000`;

async function get(path, signal) {
  const limit = AbortSignal.timeout(PATIENCE);
  let response;
  let text;
  try {
    response = await fetch(path, { signal: signal ? AbortSignal.any([signal, limit]) : limit, headers: { accept: "application/json" } });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new NoAnswer(limit.aborted ? "no answer within 30 seconds" : "no connection", true);
  }
  if (response.ok) return parse(text);
  let why = text.trim();
  try {
    why = JSON.parse(text).error;
  } catch {
    // The body is plain text, not JSON.
  }
  throw new NoAnswer(why || `${response.status} ${response.statusText}`, false);
}

// What comes by column, because that is short, row by row.
function rowsOf(columns) {
  const all = Object.entries(columns);
  return all[0][1].map((_, i) => Object.fromEntries(all.map(([name, values]) => [name, values[i]])));
}

// Exporters of a short status; the last report of those that report is not said.
function exportersOf({ labels, ...columns }, now_ns) {
  const values = Object.entries(labels);
  return rowsOf(columns).map((one, i) => ({
    ...one, last_seen_ns: one.last_seen_ns ?? now_ns,
    labels: Object.fromEntries(values.filter(([, of]) => of[i] !== null).map(([key, of]) => [key, of[i]])),
  }));
}

// The whole status, or what each view needs of it.
export async function status(signal, whole) {
  const asked = Date.now();
  const answer = await get(whole ? "api/status" : "api/status?form=short", signal);
  ahead = ms(answer.now_ns) - (asked + Date.now()) / 2;
  if (!whole) answer.exporters = exportersOf(answer.exporters, answer.now_ns);
  return answer;
}

export const extent = (signal) => get("api/extent", signal);

// Requests pairs, flows, series or reports of a span.
export async function ask(what, span, parameters, signal) {
  const query = new URLSearchParams({ since: ns(span.since), until: ns(span.until) });
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") query.set(name, value);
  }
  const answer = await get(`api/${what}?${query}`, signal);
  for (const rows of ["classes", "flows"]) {
    if (answer[rows]) answer[rows] = answer[rows].map(shown);
  }
  return answer;
}

// Figures over time, as a chart draws them.
export async function series(span, parameters, signal) {
  const answer = await ask("series", span, { ...parameters, form: "short" }, signal);
  return { period_ns: answer.period_ns, points: rowsOf(answer.points).map(pointOf) };
}

function measuredOf([packets, bytes, lost, recovered, reordered, duplicates, steps], [samples, min_ns, mean_ns, p50_ns, p90_ns, p99_ns, max_ns], corrected) {
  return {
    packets, bytes, lost, recovered, reordered, duplicates, steps,
    latency: samples && { samples, min_ns, mean_ns, p50_ns, p90_ns, p99_ns, max_ns, jitter_ns: p50_ns === null ? null : p99_ns - p50_ns },
    corrected: corrected && { packets: corrected[0], mean_ns: corrected[1], error_ns: corrected[2], bound_ns: corrected.slice(3) },
  };
}

export async function pairs(span, parameters, signal) {
  const answer = await ask("pairs", span, parameters, signal);
  return {
    total: answer.total,
    groups: answer.groups && rowsOf(answer.groups).map(groupOf),
    pairs: answer.pairs.map(([source, sink, [flows, reports, packets, lost, reordered], latency, measured, latencies, corrected], i) => shown({
      source, sink, last_ns: answer.last_ns[i], usual: answer.usual?.[`${source}>${sink}`], loss_split: answer.loss_splits?.[`${source}>${sink}`], loss_of_all: answer.loss_of_all?.[`${source}>${sink}`], flows, reports, packets, lost, reordered,
      latency: latency?.length && { samples: latency[0], p50_ns: latency[1], p90_ns: latency[2], p99_ns: latency[3], max_ns: latency[4], jitter_ns: latency[3] - latency[1] },
      measured: measured && measuredOf(measured, latencies, corrected),
    })),
  };
}

// Receives news while the page is visible, because a browser allows few connections for all pages of one collector.
export function receiveNews({ news, gone }) {
  let source;
  const listen = () => {
    if (document.hidden) {
      source?.close();
      source = undefined;
    } else if (!source || source.readyState === EventSource.CLOSED) {
      source?.close();
      source = new EventSource("api/live");
      source.addEventListener("news", news);
      source.addEventListener("error", gone);
    }
  };
  document.addEventListener("visibilitychange", listen);
  setInterval(listen, 5000);
  listen();
}
