// Takes a picture of one view of the page. Usage: node screenshot.mjs URL PNG

import { chromium } from "playwright-core";

const [url, path] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: 1100, height: 690 }, colorScheme: "light" });
await page.goto(url);
// The first view is there when its tables have rows and nothing is being asked.
await page.locator(".view tbody tr").first().waitFor();
await page.waitForFunction(() => !document.querySelector("main[aria-busy], main .loading"));
await page.screenshot({ path });
await browser.close();
