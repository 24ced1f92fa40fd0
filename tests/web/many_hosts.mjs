// Prints what the first screens of a collector of many hosts take.

import { close, complaints, open } from "./browser.mjs";
import { equal } from "./check.mjs";
import { firstScreen } from "./first_screen.mjs";

const browser = await open();
for (const hash of ["", "", "#/?by=(hosts)", "#/?by=(host)"]) {
  const { page } = await firstScreen(browser, "collector", hash);
  await close(page);
}
equal(complaints, [], "complaints");
await browser.close();
process.exit(0);
