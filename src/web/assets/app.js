// The page: it shows the view that the address names, keeps it up to date, and handles keys.

import { NoAnswer, extent, receiveNews, ms, now, parse, spanOf, status } from "./api.js";
import { learnLimits } from "./colour.js";
import { choice, h, say } from "./dom.js";
import { SLOT, nextEdge } from "./edge.js";
import { HostTabs, isOfHosts } from "./fed.js";
import { hostsLine, learn } from "./freshness.js";
import { labelsOf } from "./groups.js";
import { inTrouble } from "./hosts.js";
import { Overview } from "./overview.js";
import { learnNames } from "./names.js";
import { RANGES, RANGE_NAMES, go, link, onChange, state, up } from "./state.js";
import { bytes, count, time } from "./units.js";
import { VerdictBand } from "./verdict.js";

// The first one is there at once, the others are loaded behind it.
const VIEWS = {
  overview: async () => Overview,
  pair: async () => (await import("./pair.js")).PairView,
  flow: async () => (await import("./flow.js")).FlowView,
  flows: async () => (await import("./flows.js")).FlowsView,
  drops: async () => (await import("./drops.js")).DropsView,
  hops: async () => (await import("./hops.js")).HopsView,
  queues: async () => (await import("./queues.js")).QueuesView,
  tcp: async () => (await import("./tcp.js")).TcpView,
  hosts: async () => (await import("./hosts_view.js")).HostsView,
  host: async () => (await import("./host.js")).HostView,
};

const HELP = () => import("./help.js");

// The fraction of the shown period after which it is requested again.
const PART = 1 / 400;
const QUICKEST = SLOT / 5;
const SLOWEST = 60_000;
const AGAIN = 3000;

const find = (id) => document.getElementById(id);
const main = find("main");
const band = new VerdictBand(find("verdict"));
const tabs = new HostTabs(find("tabs"));
let view;
let viewKey;
let wantedKey;
let loaded = false;
let lastStatus;
let paused = false;
let fresh = 0;
let asked = 0;
let wanted;
let running;
let goneSince;

async function askStatus(signal) {
  lastStatus = await status(signal, isOfHosts(state().view));
  learn(lastStatus);
  learnNames(lastStatus);
  learnLimits(lastStatus);
  find("hosts").hidden = lastStatus.hosts_known === 0;
  find("hosts").replaceChildren(hostsLine(lastStatus));
  band.update(lastStatus);
  tabs.update(state(), lastStatus);
  markTrouble();
  markLive();
  return lastStatus;
}

function keyOf(shown) {
  return [shown.view, shown.source, shown.sink, shown.flow, shown.host].join("/");
}

async function show(shown) {
  mark(shown);
  const key = keyOf(shown);
  if (key !== wantedKey) {
    wantedKey = key;
    running?.abort();
    // Its end is no end of what begins here.
    running = undefined;
    main.setAttribute("aria-busy", "true");
    let View;
    try {
      View = await VIEWS[shown.view]();
    } catch {
      wantedKey = undefined;
      main.removeAttribute("aria-busy");
      return failed(new NoAnswer("a part of this page is missing", true));
    }
    if (wantedKey !== key) return undefined;
    place(View, shown, key);
  }
  return refresh();
}

function place(View, shown, key) {
  const moved = view !== undefined;
  view = new View(shown, { zoom, status: askStatus, collectsOn: () => lastStatus?.collects_on ?? [], labels: () => labelsOf(lastStatus), hosts: () => lastStatus?.hosts_known ?? 0 });
  viewKey = key;
  main.replaceChildren(view.element);
  if (!moved) return;
  window.scrollTo(0, 0);
  if (!(document.activeElement instanceof HTMLInputElement)) main.focus({ preventScroll: true });
}

// So that a view is there even if the collector is not.
function loadViews() {
  if (loaded) return;
  loaded = true;
  for (const load of [...Object.values(VIEWS), HELP]) load().catch(() => {});
}

function zoom(span) {
  go({ range: "custom", since: String(span.since), until: String(span.until) });
}

// The parts around the view that depend on the address.
function mark(shown) {
  for (const a of document.querySelectorAll("header nav a")) {
    const here = a.dataset.view === shown.view || (a.dataset.view === "overview" && shown.view === "pair") || (a.dataset.view === "flows" && shown.view === "flow") || (a.dataset.view === "hosts" && isOfHosts(shown.view));
    a.href = link({ view: a.dataset.view });
    if (here) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  ranges.choose(shown.range);
  find("custom").hidden = shown.range !== "custom" && !choosing;
  const search = find("search").elements.q;
  if (document.activeElement !== search) search.value = shown.view === "flows" ? shown.q : "";
  if (shown.range === "custom") fillCustom(Number(shown.since), Number(shown.until));
  const titles = { overview: "matrix", pair: `${shown.source} → ${shown.sink}`, flow: `flow ${shown.flow}`, flows: "flows", drops: "drops", hops: "hops", queues: "queues", tcp: "tcp", hosts: "hosts", host: shown.host };
  tabs.update(shown, lastStatus);
  document.title = `${titles[shown.view]} · hostint`;
  markLive();
}

function markLive() {
  const fixed = state().range === "custom";
  const button = find("live");
  button.disabled = fixed;
  button.setAttribute("aria-pressed", String(paused));
  button.title = fixed ? "A fixed period has no news" : paused ? "Resume (p)" : "Pause (p)";
  const [kind, words] = liveness(fixed);
  button.className = kind;
  button.replaceChildren(h("i", {}), words);
}

// Live means that reports come, not only that the collector answers.
function liveness(fixed) {
  if (goneSince) return ["gone", "Not connected"];
  if (fixed) return ["still", "Fixed"];
  if (paused) return ["still", "Paused"];
  if (!lastStatus || lastStatus.hosts_reporting > 0) return ["on", "Live"];
  const last = ms(lastStatus.last_report_ns);
  return ["old", last ? `Stale since ${time(last)}` : "No reports yet"];
}

// What the collector says of itself has no span.
const isSpanless = (shown) => shown.view === "hosts";

// One request at a time: a newer one cancels the older.
async function refresh() {
  clearTimeout(wanted);
  wanted = undefined;
  if (viewKey !== keyOf(state())) return wantedKey === undefined ? show(state()) : undefined;
  running?.abort();
  const mine = new AbortController();
  running = mine;
  const shown = state();
  main.setAttribute("aria-busy", "true");
  const begun = now();
  try {
    const isEnough = lastStatus && (lastStatus.drops || !isOfHosts(shown.view));
    if (!isEnough || Date.now() - fresh > QUICKEST / 2) await askStatus(mine.signal);
    if (!lastStatus.keeps_history && shown.view !== "hosts") return go({ view: "hosts" }, { replace: true });
    const span = spanOf(shown);
    find("span").textContent = isSpanless(shown) ? "" : `figures from ${time(span.since)} to ${time(span.until)}`;
    await view.update(shown, span, mine.signal);
    fresh = Date.now();
    asked = begun;
    worked();
    loadViews();
    foot(mine.signal);
    return undefined;
  } catch (error) {
    if (!mine.signal.aborted) failed(error);
    return undefined;
  } finally {
    if (running === mine) {
      running = undefined;
      main.removeAttribute("aria-busy");
    }
  }
}

function worked() {
  if (goneSince) say("The collector answers again");
  goneSince = undefined;
  find("banner").hidden = true;
  main.classList.remove("stale");
  markLive();
}

function failed(error) {
  const gone = error instanceof NoAnswer && error.gone;
  if (gone) goneSince ??= Date.now();
  const text = gone
    ? `No answer from the collector at ${location.host} since ${time(goneSince)} (${error.message}). This page shows old data and retries every ${AGAIN / 1000} seconds.`
    : error instanceof NoAnswer ? `The collector answered: ${error.message}.` : `This page failed: ${error.message}.`;
  find("banner").replaceChildren(h("span", {}, text), h("button", { type: "button", onclick: refresh }, "Try now"));
  find("banner").hidden = false;
  main.classList.toggle("stale", gone);
  for (const loading of main.querySelectorAll(".loading")) loading.textContent = gone ? "Waiting for the collector…" : "Not known.";
  markLive();
  if (!(error instanceof NoAnswer)) console.error(error);
  clearTimeout(wanted);
  wanted = setTimeout(refresh, AGAIN);
}

// Requests news when enough of the shown period has passed.
function news(event) {
  const shown = state();
  if (goneSince) return refresh();
  // A host has fallen silent, or reports again.
  if (event && lastStatus && parse(event.data).hosts_reporting !== lastStatus.hosts_reporting) askStatus().catch(() => {});
  if (paused || shown.range === "custom" || running || wanted) return undefined;
  const every = Math.min(SLOWEST, Math.max(QUICKEST, RANGES[shown.range] * PART));
  // Until the edge has moved on, the same figures would come.
  wanted = setTimeout(refresh, Math.max(0, fresh + every - Date.now(), nextEdge(asked) - now()));
  return undefined;
}

function markTrouble() {
  const hosts = inTrouble(lastStatus);
  find("trouble").hidden = hosts.length === 0;
  find("trouble").textContent = hosts.length;
  find("trouble").title = `${hosts.length} ${hosts.length === 1 ? "host is" : "hosts are"} silent or lose reports`;
}

let lastCount;

async function foot(signal) {
  const known = lastStatus;
  const before = lastCount;
  const at = ms(known.now_ns);
  if (!before || at - before.at > 500) lastCount = { at, reports: known.reports };
  const rate = before && at > before.at ? Math.max(0, (known.reports - before.reports) / ((at - before.at) / 1000)) : undefined;
  const lost = known.socket_drops + known.queue_drops + known.store_drops;
  const parts = [rate === undefined ? "" : `${count(Math.round(rate))} ${Math.round(rate) === 1 ? "report" : "reports"}/s`, `${count(known.hosts_known)} hosts`, lost ? `${count(lost)} dropped here` : "nothing dropped here"];
  try {
    const kept = known.keeps_history && (await extent(signal));
    if (kept.reports) parts.unshift(`${count(kept.reports)} reports of ${count(kept.flows)} flows since ${time(ms(kept.first_ns))}, ${bytes(kept.bytes)}`);
    if (kept.rolled_up_only) parts.unshift(`${count(kept.rolled_up_only)} reports only summarised, until ${time(ms(kept.rolled_up_only_ns))}`);
  } catch {
    // The view reports this error.
  }
  find("foot").textContent = [...parts.filter(Boolean), `as of ${time(now())}`].join(" · ");
}

let choosing = false;

const ranges = choice("Time range", Object.entries(RANGE_NAMES), state().range, (range) => {
  choosing = range === "custom";
  if (!choosing) return go({ range });
  find("custom").hidden = false;
  const { since, until } = spanOf(state());
  fillCustom(since, until);
  find("custom").elements.since.focus();
  return undefined;
});

function fillCustom(since, until) {
  const local = (at) => new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  const { since: from, until: to } = find("custom").elements;
  if ([from, to].includes(document.activeElement)) return;
  [from.value, to.value] = [local(since), local(until)];
  find("zone").textContent = `local time, ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
}

function pause() {
  if (state().range === "custom") return;
  paused = !paused;
  say(paused ? "Paused" : "Live");
  markLive();
  if (paused) clearTimeout(wanted);
  wanted = undefined;
  if (!paused) refresh();
}

function theme() {
  const root = document.documentElement;
  const next = { undefined: "light", light: "dark", dark: undefined }[root.dataset.theme];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  try {
    if (next) localStorage.setItem("theme", next);
    else localStorage.removeItem("theme");
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
  markTheme();
  refresh();
}

function markTheme() {
  const chosen = document.documentElement.dataset.theme ?? "auto";
  find("theme").textContent = { auto: "◐", light: "☀", dark: "☾" }[chosen];
  find("theme").title = `Light or dark: ${chosen}`;
  find("theme").setAttribute("aria-label", find("theme").title);
}

function key(event) {
  const typing = event.target.closest?.("input, select, textarea, dialog");
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
    if (typing) event.target.blur();
    else up();
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const range = Object.keys(RANGES)[Number(event.key) - 1];
  const views = { m: "overview", f: "flows", t: "tcp", h: "hosts" };
  if (event.key === "/") find("search").elements.q.select();
  else if (event.key === "?") help();
  else if (event.key === "p") pause();
  else if (range) go({ range });
  else if (views[event.key]) go({ view: views[event.key] });
  else return;
  event.preventDefault();
}

const help = async () => (await HELP()).help();

let typed;

function search() {
  clearTimeout(typed);
  typed = setTimeout(() => {
    const q = find("search").elements.q.value.trim();
    go({ view: "flows", q }, { replace: state().view === "flows" });
  }, 200);
}

find("ranges").append(ranges);
find("live").addEventListener("click", pause);
find("theme").addEventListener("click", theme);
find("help").addEventListener("click", help);
find("search").addEventListener("input", search);
find("search").addEventListener("submit", (event) => { event.preventDefault(); main.querySelector("table.rows a")?.focus(); });
find("custom").addEventListener("submit", (event) => {
  event.preventDefault();
  const { since, until } = event.target.elements;
  const span = { since: Date.parse(since.value), until: Date.parse(until.value) };
  until.setCustomValidity(span.since < span.until ? "" : "The end must be after the beginning");
  if (until.reportValidity()) zoom(span);
});
document.addEventListener("keydown", key);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
onChange(show);
markTheme();
show(state());
// The period moves on without news, too.
setInterval(() => { if (!document.hidden && Date.now() - fresh > SLOWEST / 2) news(); }, SLOWEST / 10);
receiveNews({ news, gone: () => { if (!goneSince && !running) refresh(); } });
