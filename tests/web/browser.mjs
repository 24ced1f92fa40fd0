// A browser that reaches only the collector, and keeps what its pages complain about.

import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

// No name of another host is found.
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

export const PAGES = JSON.parse(process.env.PAGES);

export const complaints = [];
export const strays = [];

// A new user data folder, which goes with the browser.
export async function open() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: FLAGS });
}

// Pages whose complaints are expected, while a server is stopped.
const quiet = new Set();
export function expectTrouble(page, expected) {
  if (expected) quiet.add(page);
  else quiet.delete(page);
}

const contexts = new Map();

// Pages of one size and colour share what the browser keeps of scripts; `own` is for a page that has to know nothing yet.
async function contextOf(browser, { own, ...options }) {
  const make = () => browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  if (own) return make();
  const key = JSON.stringify(options);
  if (!contexts.has(key)) contexts.set(key, make());
  return contexts.get(key);
}

// Pages that checks have left, by what they show: a window costs more than all that a check does in it.
const left = new Map();
const keys = new Map();
const NOWHERE = "#/drops";

export async function newPage(browser, name, hash = "", options = {}) {
  const key = JSON.stringify([name, options]);
  const page = hash.startsWith("about:") ? undefined : left.get(key)?.pop();
  if (!page) return load(browser, name, hash, options, key);
  await page.evaluate((hash) => { location.hash = hash || "#/"; }, hash);
  return page;
}

async function load(browser, name, hash, options, key) {
  const context = await contextOf(browser, options);
  const base = PAGES[name];
  const page = await context.newPage();
  if (!options.own) keys.set(page, key);
  page.setDefaultTimeout(60_000);
  page.on("request", (request) => { if (!request.url().startsWith(base)) strays.push(request.url()); });
  page.on("console", (message) => {
    if (!quiet.has(page) && ["error", "warning"].includes(message.type())) complaints.push(`${name}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`${name}: ${error.stack}`));
  page.on("requestfailed", (request) => {
    if (!quiet.has(page) && !/ERR_ABORTED/.test(request.failure()?.errorText ?? "")) complaints.push(`${name}: ${request.url()} ${request.failure()?.errorText}`);
  });
  await page.goto(hash.startsWith("about:") ? hash : base + hash);
  return page;
}

// What a check has changed of answers may still be under way.
export async function close(page) {
  await page.unrouteAll({ behavior: "wait" });
  await (keys.has(page) ? page : page.context()).close();
}

// The page is as new: at another view, so that the next one begins, with nothing under the pointer, chosen or routed.
export async function leave(page) {
  await page.unrouteAll({ behavior: "wait" });
  page.removeAllListeners("requestfinished");
  await page.mouse.move(0, 0);
  await page.evaluate((hash) => {
    document.activeElement?.blur();
    const live = document.querySelector("#live");
    if (live?.getAttribute("aria-pressed") === "true") live.click();
    location.hash = hash;
  }, NOWHERE);
  const key = keys.get(page);
  if (!left.has(key)) left.set(key, []);
  left.get(key).push(page);
}

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// Asks who started this to stop or begin a server.
export async function ask(line) {
  console.log(line);
  await answers.next();
}
