// The first screen of a page: what is asked for until it is complete, and when that is.

import { PAGES, newPage } from "./browser.mjs";
import { holds, until } from "./check.mjs";

// What is asked for until the first screen is complete, by path, in bytes with headers; other views are loaded behind it.
export async function firstScreen(browser, name, hash = "") {
  const page = await newPage(browser, name, "about:blank", { own: true });
  const sizes = new Map();
  page.on("requestfinished", (request) => {
    const size = request.sizes().then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize);
    // Those that end with the page are not counted.
    size.catch(() => {});
    sizes.set(request.url(), size);
  });
  await page.addInitScript(() => {
    const look = () => {
      if (!document.querySelector(".view tbody tr") || document.querySelector("main[aria-busy], main .loading")) return requestAnimationFrame(look);
      window.complete = performance.now();
      return undefined;
    };
    requestAnimationFrame(look);
  });
  await page.goto(PAGES[name] + hash);
  await until("the first screen", () => page.evaluate(() => window.complete));
  const [first, complete, asked] = await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0]?.startTime, window.complete,
    performance.getEntriesByType("resource").filter(({ startTime }) => startTime < window.complete).map(({ name }) => name)]);
  const ownFiles = await page.evaluate(() => [...document.querySelectorAll("link[rel=modulepreload]")].map(({ href }) => href));
  const urls = new Set([PAGES[name], ...asked].filter((url) => !url.endsWith("/api/live") && !url.endsWith("/api/extent") && (!/\w+\.js$/.test(url) || /(app|theme)\.js$/.test(url) || ownFiles.includes(url))));
  await until("the end of each", () => [...urls].every((url) => sizes.has(url)));
  const byPath = new Map();
  for (const url of urls) {
    const path = new URL(url).pathname;
    const of = path.startsWith("/api/") ? path.slice(5) : "files";
    byPath.set(of, (byPath.get(of) ?? 0) + (await sizes.get(url)));
  }
  const total = [...byPath.values()].reduce((sum, size) => sum + size, 0);
  console.log(`the first screen of ${name}${hash}: ${urls.size} requests, ${total} bytes (${[...byPath].map((one) => one.join(" ")).join(", ")}); paint ${Math.round(first)} ms, complete ${Math.round(complete)} ms`);
  holds(urls.size > 25 && total > 10_000, `${urls.size} files`);
  return { page, total };
}
