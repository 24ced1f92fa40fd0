// The state of the page. It is part of the address, so that links, reload and the back button work.

export const RANGES = {
  "15m": 900_000,
  "1h": 3_600_000,
  "6h": 21_600_000,
  "24h": 86_400_000,
  "7d": 604_800_000,
};

export const RANGE_NAMES = { "15m": "15 min", "1h": "1 h", "6h": "6 h", "24h": "24 h", "7d": "7 d", custom: "custom" };

// Defaults, which are left out of the address.
const USUAL = { range: "1h", metric: "p99", nodes: "id", sort: "loss", q: "", "class": "", since: "", until: "", at: "", limited: "", order: "retransmitted", by: "", within: "", fold: "service" };

const CHOICES = {
  range: Object.keys(RANGE_NAMES),
  metric: ["p50", "p99", "loss"],
  nodes: ["id", "worst"],
  sort: ["loss", "latency", "jitter", "packets"],
  limited: ["", "application", "receiver", "send-buffer", "host-queue", "path", "unknown"],
  fold: ["service", "none"],
  order: ["retransmitted", "bytes", "rtt", "newest"],
};

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function read(hash) {
  const [path, query] = hash.replace(/^#/, "").split("?", 2);
  const state = { view: "overview", ...USUAL };
  for (const [name, value] of new URLSearchParams(query ?? "")) {
    if (name in USUAL && (!CHOICES[name] || CHOICES[name].includes(value))) state[name] = value;
  }
  const parts = path.split("/").filter(Boolean);
  const number = (text) => /^\d{1,19}$/.test(text ?? "");
  if (parts[0] === "pair" && number(parts[1]) && number(parts[2])) {
    Object.assign(state, { view: "pair", source: parts[1], sink: parts[2] });
  } else if (parts[0] === "flow" && number(parts[1])) {
    Object.assign(state, { view: "flow", flow: parts[1] });
  } else if (parts[0] === "host" && parts[1]) {
    Object.assign(state, { view: "host", host: decoded(parts[1]) });
  } else if (["flows", "drops", "hops", "queues", "tcp", "hosts"].includes(parts[0])) {
    state.view = parts[0];
  } else if (parts[0] === "exporters") {
    // Links to the page as it was.
    state.view = "hosts";
  }
  if (state.range === "custom" && !(Number(state.since) < Number(state.until))) state.range = USUAL.range;
  if (!number(state.at)) state.at = "";
  return state;
}

export function write(state) {
  const path = {
    overview: "/",
    pair: `/pair/${state.source}/${state.sink}`,
    flow: `/flow/${state.flow}`,
    flows: "/flows",
    drops: "/drops",
    hops: "/hops",
    queues: "/queues",
    tcp: "/tcp",
    hosts: "/hosts",
    host: `/host/${encodeURIComponent(state.host)}`,
  }[state.view];
  const query = new URLSearchParams();
  for (const [name, usual] of Object.entries(USUAL)) {
    const value = state[name] ?? usual;
    const stale = (name === "since" || name === "until") && state.range !== "custom";
    const foreign = ((name === "q" || name === "class") && state.view !== "flows") || ((name === "limited" || name === "order") && state.view !== "tcp");
    const apart = ((name === "by" || name === "within") && state.view !== "overview") || (name === "fold" && state.view !== "flows");
    const elsewhere = name === "at" && !["pair", "flow", "queues"].includes(state.view);
    if (value !== usual && !stale && !foreign && !apart && !elsewhere) query.set(name, value);
  }
  const text = query.toString();
  return `#${path}${text ? `?${text}` : ""}`;
}

let current = read(location.hash);
const listeners = [];

export function state() {
  return current;
}

export function onChange(listener) {
  listeners.push(listener);
}

function changed() {
  current = read(location.hash);
  for (const listener of listeners) listener(current);
}

window.addEventListener("hashchange", changed);

// The address of a changed state.
export function link(change) {
  return write({ ...current, at: "", ...change });
}

export function go(change, { replace = false } = {}) {
  const hash = link(change);
  if (hash === location.hash) return;
  // The state changes at once, because the next key already applies to it.
  history[replace ? "replaceState" : "pushState"](null, "", hash);
  changed();
}

// The view that Esc leads to from a single report, a flow or a pair.
let above = { view: "overview" };

export function setAbove(change) {
  above = change;
}

export function up() {
  if (current.at) go({ at: "" });
  else if (current.view !== "overview") go(above);
}
