// A browser that reaches only the collector, and keeps what its pages complain about.

import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
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

export async function newPage(browser, name, hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const base = PAGES[name];
  await context.route("**/*", (route) => {
    const url = route.request().url();
    // A page that is being closed no longer wants it.
    if (url.startsWith(base)) return route.continue().catch(() => {});
    strays.push(url);
    return route.abort();
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
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

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// Asks who started this to stop or begin a server.
export async function ask(line) {
  console.log(line);
  await answers.next();
}
