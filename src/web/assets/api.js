// Questions to the collector. Times are ms here and ns, as text, there.

import { RANGES } from "./state.js";

const PATIENCE = 30_000;

export class NoAnswer extends Error {
  // `gone` if there was no answer at all.
  constructor(message, gone) {
    super(message);
    this.gone = gone;
  }
}

// Integers that a number cannot hold come as text, to the last figure.
export function parse(text) {
  const exact = text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}/g, (token) => (token[0] === '"' ? token : `"${token}"`));
  return JSON.parse(exact);
}

export const ms = (ns) => Number(ns) / 1e6;

// The collector's clock against this one.
let ahead = 0;

export const now = () => Date.now() + ahead;

export function spanOf(state) {
  if (state.range === "custom") return { since: Number(state.since), until: Number(state.until) };
  const until = Math.ceil(now());
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
    // Then it is plain text.
  }
  throw new NoAnswer(why || `${response.status} ${response.statusText}`, false);
}

export async function status(signal) {
  const asked = Date.now();
  const answer = await get("api/status", signal);
  ahead = ms(answer.now_ns) - (asked + Date.now()) / 2;
  return answer;
}

export const extent = (signal) => get("api/extent", signal);

// One of pairs, flows, series and reports in a span.
export function ask(what, span, parameters, signal) {
  const query = new URLSearchParams({ since: ns(span.since), until: ns(span.until) });
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") query.set(name, value);
  }
  return get(`api/${what}?${query}`, signal);
}

export async function pairs(span, parameters, signal) {
  const answer = await ask("pairs", span, parameters, signal);
  return {
    total: answer.total,
    pairs: answer.pairs.map(([source, sink, [flows, reports, packets, lost, reordered], latency]) => ({
      source, sink, flows, reports, packets, lost, reordered,
      latency: latency && { samples: latency[0], p50_ns: latency[1], p90_ns: latency[2], p99_ns: latency[3], max_ns: latency[4], jitter_ns: latency[3] - latency[1] },
    })),
  };
}

// Hears news while the page is seen: a browser has few connections for all pages of one collector.
export function hearNews({ news, gone }) {
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
