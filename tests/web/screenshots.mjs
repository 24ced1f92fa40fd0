// Pictures of the page in SCREENSHOTS: light, dark, wide, on a phone, with nothing to show, stale, and without a collector.

import { mkdirSync } from "node:fs";
import { ask, close, complaints, expectTrouble, leave, newPage, open } from "./browser.mjs";
import { check, checkAll, equal, holds, result, until } from "./check.mjs";

const folder = process.env.SCREENSHOTS;
mkdirSync(folder, { recursive: true });
const browser = await open();

const SIZES = { usual: { width: 1440, height: 900 }, wide: { width: 1920, height: 1080 }, phone: { width: 390, height: 844 } };
const settled = (page) => until("a view", () => page.evaluate(() => document.querySelector(".view") && !document.querySelector("main[aria-busy], main .loading")));

// A name, the history that is shown, the address, the size, and light or dark.
const PICTURES = [
  ["matrix-light", "ill", "#/"], ["matrix-dark", "ill", "#/", "usual", "dark"], ["matrix-wide", "many", "#/?by=(host)", "wide"], ["matrix-phone", "ill", "#/", "phone"],
  ["loss-light", "ill", "#/?metric=loss"], ["loss-dark", "ill", "#/?metric=loss", "usual", "dark"], ["racks-light", "eight", "#/?by=rack"],
  ["thousand-light", "thousand", "#/"], ["thousand-dark", "thousand", "#/", "usual", "dark"], ["thousand-phone", "thousand", "#/", "phone"], ["unlabelled-light", "unlabelled", "#/"], ["unlabelled-phone", "unlabelled", "#/", "phone"],
  ["pair-light", "ill", "#/pair/3/2"], ["pair-dark", "ill", "#/pair/3/2", "usual", "dark"], ["pair-phone", "ill", "#/pair/3/2", "phone"],
  ["flows-light", "eight", "#/flows"], ["flows-phone", "eight", "#/flows", "phone"], ["flow-light", "eight", "#/flow/7"], ["flow-phone", "eight", "#/flow/7", "phone"],
  ["hosts-light", "eight", "#/hosts"], ["hosts-dark", "eight", "#/hosts", "usual", "dark"], ["hosts-phone", "eight", "#/hosts", "phone"],
  ["host-light", "eight", "#/host/3"], ["host-phone", "eight", "#/host/3", "phone"],
  ["drops-light", "eight", "#/drops"], ["hops-light", "eight", "#/hops"], ["queues-light", "eight", "#/queues"], ["tcp-light", "eight", "#/tcp"], ["tcp-phone", "eight", "#/tcp", "phone"],
  ["empty-light", "empty", "#/"], ["empty-hosts-light", "empty", "#/hosts"], ["empty-drops-light", "empty", "#/drops"], ["unkept-light", "unkept", "#/"],
];

async function take(page, name) {
  const { width } = page.viewportSize();
  equal(await page.evaluate(() => document.documentElement.scrollWidth), width, "width");
  await page.screenshot({ path: `${folder}/${name}.png` });
}

for (const [name, history, hash, size = "usual", colorScheme = "light"] of PICTURES) {
  check(`${name} is taken`, async () => {
    const page = await newPage(browser, history, hash, { viewport: SIZES[size], colorScheme });
    await settled(page);
    await take(page, name);
    await leave(page);
  });
}

check("stale is taken", async () => {
  const page = await newPage(browser, "eight", "about:blank", { viewport: SIZES.usual });
  await page.route("**/api/status*", async (route) => {
    const response = await route.fetch();
    const old = `${Date.now() - 840_000}000000`;
    const status = (await response.text()).replace(/"hosts_reporting":\d+/, '"hosts_reporting":0').replace(/"last_report_ns":\d+/, `"last_report_ns":${old}`)
      .replaceAll(/"reporting":true/g, '"reporting":false').replaceAll(/"last_seen_ns":\d+/g, `"last_seen_ns":${old}`)
      // The short status has columns.
      .replace(/"reporting":\[[^\]]*\]/, (all) => all.replaceAll("true", "false")).replace(/"last_seen_ns":\[[^\]]*\]/, (all) => all.replaceAll(/null|\d+/g, old));
    await route.fulfill({ contentType: "application/json", body: status });
  });
  await page.goto(JSON.parse(process.env.PAGES).eight);
  await settled(page);
  holds(/^Stale/.test(await page.locator("#live").innerText()), "it is stale");
  await take(page, "stale-light");
  await close(page);
});

check("a collector that is gone is taken", async () => {
  const page = await newPage(browser, "stopped", "#/pair/3/2", { viewport: SIZES.usual });
  await settled(page);
  expectTrouble(page, true);
  await ask("stop stopped");
  await page.locator("#banner:not([hidden])").waitFor();
  await take(page, "gone-light");
  await close(page);
});

check("a refusal is taken", async () => {
  const page = await newPage(browser, "eight", "about:blank", { viewport: SIZES.usual });
  expectTrouble(page, true);
  await page.goto(`${JSON.parse(process.env.PAGES).eight}#/pair/4294967296/1`);
  await page.locator("#banner:not([hidden])").waitFor();
  await take(page, "refused-light");
  await close(page);
});

await checkAll(3);
equal(complaints.filter((one) => !one.includes("400 (Bad Request)")), [], "complaints");
await browser.close();
process.exit(result() ? 1 : 0);
