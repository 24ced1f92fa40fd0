// The page as people use it: clicks, keys, links, light and dark, with much, little and nothing to show.

import { PAGES, ask, close, complaints, expectTrouble, leave, newPage, open, strays } from "./browser.mjs";
import { check, checkAll, checkNow, equal, holds, result, until } from "./check.mjs";
import { firstScreen } from "./first_screen.mjs";

const browser = await open();
const hash = (page) => new URL(page.url()).hash;
const plain = (words) => words.replaceAll("\u00a0", " ");
const text = async (page, selector) => plain(await page.locator(selector).first().innerText());
const shown = (page, selector) => page.locator(selector).first().waitFor();
const matrixDrawn = (page) => until("a matrix", () => page.evaluate(() => {
  const canvas = document.querySelector(".matrix .base");
  if (!canvas || canvas.width < 100) return false;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  for (let at = 0; at < data.length; at += 4 * 97) if (data[at + 3] === 255) colours.add(data[at] * 65536 + data[at + 1] * 256 + data[at + 2]);
  return colours.size > 8;
}));

const WIDE = { width: 1440, height: 900 };
const EVERYWHERE = ["#/", "#/pair/3/2", "#/flows", "#/flow/7", "#/drops", "#/hops", "#/queues", "#/tcp", "#/hosts", "#/host/3"];

// A view with rows in it, and nothing under way.
const settled = (page, at) => until(`what is at ${at}`, () => page.evaluate((at) =>
  location.hash === at && document.querySelector(".view tbody tr") && !document.querySelector("main[aria-busy], main .loading"), at));

// A page whose clock goes on by what is asked for, so that nothing is waited for that only takes its time.
async function inQuickTime(name, at) {
  const page = await newPage(browser, name, "about:blank", { own: true });
  await page.clock.install();
  await page.goto(PAGES[name] + at);
  await page.locator(".view .panel").first().waitFor();
  return { page, later: () => page.clock.fastForward(1_000) };
}

// The middle of a cell of eight by eight.
async function cell(page, row, column) {
  const box = await page.locator(".matrix .over").boundingBox();
  return page.evaluate(([row, column, box]) => {
    const canvas = document.querySelector(".matrix .over");
    const height = canvas.clientHeight - 34 - 2;
    // The gutter of labels is as wide as one figure and what is around it.
    const gutter = 34;
    const width = Math.min(96, (canvas.clientWidth - gutter - 2) / 8);
    return { x: box.x + gutter + (column - 0.5) * width, y: box.y + 34 + (row - 0.5) * (height / 8) };
  }, [row, column, box]);
}

// A time as the page writes it: those before midnight have their day.
const TIME = /^(\d+ \w+ )?\d\d:\d\d:\d\d$/;

check("without reports it says where it listens and what to do", async () => {
  const page = await newPage(browser, "empty");
  await shown(page, ".nothing");
  const words = await text(page, ".nothing");
  for (const part of ["No reports in the last 1 h", "0.0.0.0:32766", "hostint sink --dev eth1", "ADDRESS-OF-THIS-HOST:32766", "hostint source"]) {
    holds(words.includes(part), `no ${part} in ${words}`);
  }
  equal(await page.locator("canvas").count(), 0, "canvases");
  await page.getByRole("link", { name: "Hosts" }).first().click();
  await until("no host", async () => (await text(page, "main")).includes("No host has sent a report"));
  await leave(page);
});

check("a single pair is shown by itself, without a matrix", async () => {
  const page = await newPage(browser, "pair");
  await shown(page, "h1");
  equal(await text(page, "h1"), "The only pair: node 1 → node 2");
  equal(await page.locator("canvas").count(), 0, "canvases");
  await shown(page, "svg.chart polyline.p50");
  holds(await page.locator("svg.chart .gaps rect").count() > 0, "gaps are shown");
  equal(await page.locator("table[aria-label='Flows of this pair'] tbody tr").count(), 7, "flows");
  await leave(page);
});

check("from the matrix to a pair, a flow, a report, and back", async () => {
  const page = await newPage(browser, "eight");
  await matrixDrawn(page);
  const at = await cell(page, 3, 2);
  await page.mouse.move(at.x, at.y);
  await shown(page, ".tip");
  const tip = await text(page, ".tip");
  for (const part of ["3 → 2", "p50", "p99", "loss", "µs", "packets"]) holds(tip.includes(part), `no ${part} in ${tip}`);
  await page.mouse.click(at.x, at.y);
  await until("the pair", () => hash(page) === "#/pair/3/2");
  holds((await text(page, "h1")).includes("node 3 → node 2"), "its name");
  const flow = page.locator("table[aria-label='Flows of this pair'] tbody a").first();
  await flow.waitFor();
  const name = (await flow.innerText()).replace(/\s+/g, " ").trim();
  await flow.click();
  await until("the flow", () => hash(page).startsWith("#/flow/"));
  await until("its name", async () => (await text(page, "h1")).replace(/\s+/g, " ").includes(name));
  const report = page.locator(".reports tbody a").nth(3);
  await report.waitFor();
  const number = await report.getAttribute("data-at");
  equal(number.length, 19, "figures of its time");
  await report.click();
  await until("the report", () => hash(page).includes(`at=${number}`));
  await shown(page, ".whole");
  const record = await text(page, ".whole");
  for (const part of ["hostint.report/1", number, "exporter", "10.0.2.1", "INT source", "node 3", "INT sink", "node 2"]) {
    holds(record.includes(part), `no ${part} in ${record}`);
  }
  await page.reload();
  await shown(page, ".whole");
  holds((await text(page, ".whole")).includes(number), "a link to a report shows it");
  await page.goBack();
  await until("the flow again", () => !hash(page).includes("at="));
  await page.goBack();
  await until("the pair again", () => hash(page) === "#/pair/3/2");
  await page.goBack();
  await matrixDrawn(page);
  await leave(page);
});

check("keys alone lead everywhere", async () => {
  const page = await newPage(browser, "eight");
  await matrixDrawn(page);
  await page.locator(".matrix .over").focus();
  await shown(page, ".tip");
  for (const key of ["ArrowUp", "ArrowLeft"]) for (let i = 0; i < 8; i += 1) await page.keyboard.press(key);
  await page.keyboard.press("ArrowRight");
  holds((await text(page, ".tip")).startsWith("1 → 2"), "arrows move the chosen cell");
  holds((await page.locator("#said").innerText()).startsWith("1 to 2: p50"), "which is said");
  await page.keyboard.press("Enter");
  await until("the pair", () => hash(page) === "#/pair/1/2");
  await page.keyboard.press("Escape");
  await until("the matrix", () => hash(page) === "#/");
  await page.keyboard.press("/");
  await page.keyboard.type("9000 web");
  await until("what was typed", () => hash(page) === "#/flows?q=9000+web");
  await until("only flows that match", async () => {
    const rows = await page.locator("table[aria-label='Flows'] tbody tr").allInnerTexts();
    return rows.length > 0 && rows.every((row) => row.includes("9000") && row.includes("web"));
  });
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  const second = await page.evaluate(() => document.activeElement.getAttribute("href"));
  equal(second, await page.locator("table[aria-label='Flows'] tbody th a").nth(1).getAttribute("href"), "the second row");
  await page.keyboard.press("Enter");
  await until("the flow", () => hash(page).startsWith("#/flow/"));
  await until("the way up", async () => (await page.locator("h1 a").count()) === 2);
  await page.keyboard.press("Escape");
  await until("its pair", () => hash(page).startsWith("#/pair/"));
  await page.keyboard.press("?");
  await shown(page, "dialog[open]");
  await page.keyboard.press("Escape");
  await until("no dialog", async () => (await page.locator("dialog[open]").count()) === 0);
  holds(hash(page).startsWith("#/pair/"), "Esc closes the dialog and no more");
  await page.keyboard.press("h");
  await until("hosts", () => hash(page) === "#/hosts");
  await page.keyboard.press("f");
  await until("flows", () => hash(page) === "#/flows");
  await page.keyboard.press("1");
  await until("the last 15 minutes", () => hash(page) === "#/flows?range=15m");
  await page.keyboard.press("m");
  await until("the matrix", () => hash(page) === "#/?range=15m");
  await leave(page);
});

check("what is sorted by and which figure is shown stand in the address", async () => {
  const page = await newPage(browser, "eight");
  await matrixDrawn(page);
  await page.getByRole("group", { name: "Figure" }).getByRole("button", { name: "loss" }).click();
  await until("loss", () => hash(page) === "#/?metric=loss");
  const pairs = page.locator("table[aria-label='Pairs, worst first']");
  await until("pairs by loss", async () => (await pairs.locator("th[aria-sort='descending']").innerText()).startsWith("loss"));
  holds((await text(page, ".legend")).includes("none lost"), "the scale tells what is no loss");
  await page.goto(page.url().replace("#/?metric=loss", "#/flows?fold=none"));
  const flows = page.locator("table[aria-label='Flows'] tbody");
  await flows.getByRole("link", { name: "database" }).first().click();
  await until("flows of a class", async () => hash(page) === "#/flows?class=database&fold=none"
    && (await flows.locator("tr").allInnerTexts()).every((row) => row.includes("database")));
  await page.getByRole("link", { name: "all flows" }).click();
  await until("all flows", () => hash(page) === "#/flows?fold=none");
  for (const [head, sort] of [["p99", "latency"], ["jitter", "jitter"], ["packets", "packets"]]) {
    await page.locator("table[aria-label='Flows'] thead").getByRole("button", { name: head, exact: true }).click();
    await until(head, () => hash(page) === `#/flows?sort=${sort}&fold=none`);
    await until("the column", async () => (await page.locator("table[aria-label='Flows'] th[aria-sort='descending']").innerText()).startsWith(head));
  }
  await leave(page);
});

check("a chart tells values under its cursor, and a drawn time is shown", async () => {
  const page = await newPage(browser, "eight", "#/pair/3/2");
  await shown(page, "svg.chart polyline.p50");
  const chart = page.locator("svg.chart");
  await chart.focus();
  await page.keyboard.press("ArrowLeft");
  const when = () => text(page, ".readout .when");
  await until("the time of a period", async () => TIME.test(await when()));
  const last = await when();
  await page.keyboard.press("Home");
  await until("the first period", async () => (await when()) !== last);
  holds(/µs|ms/.test(await text(page, ".readout .p99 b")), "p99 has a value");
  await page.locator(".as-table summary").click();
  await until("all values in a table", async () => (await page.locator(".as-table tbody tr").count()) > 20);
  await page.locator(".as-table summary").click();
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + 300, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await until("the drawn time", () => /range=custom&since=|since=.*range=custom|range=custom/.test(hash(page)));
  await until("a fixed time", async () => (await text(page, "#live")) === "Fixed");
  await shown(page, "#custom");
  await page.getByRole("button", { name: "6 h" }).click();
  await until("live again", async () => (await text(page, "#live")) === "Live");
  await leave(page);
});

check("a silent host is named, and what it told last is grey and says since when", async () => {
  const page = await newPage(browser, "eight");
  await matrixDrawn(page);
  const words = await text(page, "#hosts");
  holds(/^7 of 8 hosts report · node 4 silent since (\d+ \w+ )?\d\d:\d\d:\d\d$/.test(words), words);
  equal(await text(page, "#live"), "Live");
  const { x, y } = await cell(page, 3, 4);
  await page.mouse.move(x, y);
  await until("the time of its last report", async () => /^3 → 4\s+no report since (\d+ \w+ )?\d\d:\d\d:\d\d/.test(await text(page, ".tip")));
  await page.evaluate(() => { location.hash = "#/pair/3/4"; });
  await until("a note", async () => /No report since .*: these figures are old/.test(await text(page, ".old")));
  await leave(page);
});

check("nodes are called by their names, with their IDs beside", async () => {
  const page = await newPage(browser, "eight");
  await page.route("**/api/status*", async (route) => {
    const response = await route.fetch();
    const status = JSON.parse(await response.text());
    const { exporters } = status;
    // The short status has columns.
    const change = (node, values) => (Array.isArray(exporters)
      ? Object.assign(exporters.find((one) => one.node === node), values, { version: "0.2.0", labels: { rack: "r7" } })
      : Object.entries(values).forEach(([name, value]) => { exporters[name][exporters.node.indexOf(node)] = value; }));
    change(4, { name: "web-3" });
    change(3, { name: "<b>db-1</b>", name_contested: true });
    await route.fulfill({ contentType: "application/json", body: JSON.stringify(status) });
  });
  await page.evaluate(() => { location.hash = "#/pair/3/4"; });
  await page.reload();
  await until("names", async () => (await text(page, "h1")).includes("<b>db-1</b>? (3) → web-3 (4)"));
  holds((await text(page, "#hosts")).includes("web-3 (4) silent since"), await text(page, "#hosts"));
  await page.keyboard.press("h");
  const row = page.locator("table[aria-label='Hosts'] tbody tr").filter({ hasText: "<b>db-1</b>? (3)" });
  await row.waitFor();
  for (const part of ["runs hostint 0.2.0", "another host claims its name", "rack r7"]) holds((await row.innerText()).includes(part), `no ${part}`);
  await page.getByRole("link", { name: "web-3 (4)", exact: true }).click();
  await until("the host by its name", () => hash(page) === "#/host/web-3");
  await until("its page", async () => (await text(page, "h1")) === "Hosts / web-3 (4)");
  await close(page);
});

check("without reports the page is not live", async () => {
  const { page, later } = await inQuickTime("eight", "#/");
  const last = new Date(Date.now() - 840_000);
  await page.route("**/api/status*", async (route) => {
    const response = await route.fetch();
    const status = (await response.text()).replace(/"hosts_reporting":\d+/, '"hosts_reporting":0').replace(/"last_report_ns":\d+/, `"last_report_ns":${last.getTime()}000000`);
    await route.fulfill({ contentType: "application/json", body: status });
  });
  await until("staleness", async () => (await later()) || /^Stale since (\d+ \w+ )?\d\d:\d\d:\d\d$/.test(await text(page, "#live")));
  await close(page);
});

check("it goes on by itself until it is paused", async () => {
  const { page, later } = await inQuickTime("eight", "#/?range=15m");
  const asked = [];
  page.on("request", (request) => { if (request.url().includes("/api/pairs")) asked.push(request.url()); });
  await until("two more questions", async () => (await later()) || asked.length >= 2);
  await page.keyboard.press("p");
  await until("paused", async () => (await text(page, "#live")) === "Paused");
  await until("an end of what was asked", () => page.evaluate(() => !document.querySelector("main").hasAttribute("aria-busy")));
  const before = asked.length;
  // As long as news come that would be asked for otherwise.
  await page.evaluate(() => {
    window.news = 0;
    new EventSource("api/live").addEventListener("news", () => { window.news += 1; });
  });
  await until("news", async () => (await later()) || page.evaluate(() => window.news > 1));
  equal(asked.length, before, "questions while paused");
  await page.keyboard.press("p");
  await until("a question", () => asked.length > before);
  await close(page);
});

check("light and dark follow the system, or the switch, which is remembered", async () => {
  const ground = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await newPage(browser, "eight", "", { colorScheme: "light", own: true });
  equal(await ground(light), "rgb(244, 245, 247)");
  const dark = await newPage(browser, "eight", "", { colorScheme: "dark", own: true });
  equal(await ground(dark), "rgb(15, 19, 24)");
  await dark.locator("#theme").click();
  await until("light", async () => (await ground(dark)) === "rgb(244, 245, 247)");
  await dark.reload();
  equal(await ground(dark), "rgb(244, 245, 247)", "after a reload");
  await dark.locator("#theme").click();
  await until("dark", async () => (await ground(dark)) === "rgb(15, 19, 24)");
  for (const page of [light, dark]) {
    const weak = await page.evaluate(() => {
      const value = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      const luminance = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
      const ratio = (a, b) => { const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
      const found = [];
      for (const ink of ["--text", "--dim", "--accent", "--trouble", "--bad"]) {
        for (const paper of ["--panel", "--ground", "--hover"]) {
          if (ratio(value(ink), value(paper)) < 4.5) found.push([ink, paper, ratio(value(ink), value(paper))]);
        }
      }
      return found;
    });
    equal(weak, [], "too little contrast");
    await close(page);
  }
});

check("200 nodes are drawn, named under the pointer, and can be looked at closely", async () => {
  const page = await newPage(browser, "many", "#/?by=(host)");
  await matrixDrawn(page);
  holds((await text(page, "main")).includes("of 35,"), "the number of pairs is told");
  await page.locator(".matrix .over").focus();
  await page.keyboard.press("ArrowRight");
  const before = await page.evaluate(() => document.querySelector(".matrix .base").toDataURL().length);
  for (let i = 0; i < 4; i += 1) await page.keyboard.press("+");
  holds(await page.evaluate(() => document.querySelector(".matrix .base").toDataURL().length) !== before, "it is larger");
  await shown(page, ".tip");
  await page.keyboard.press("0");
  const box = await page.locator(".matrix .over").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  holds(/^\d+ → \d+/.test(await text(page, ".tip")), "the pair is named");
  await page.getByRole("button", { name: "worst first" }).click();
  await until("worst first", () => hash(page) === "#/?nodes=worst&by=%28host%29");
  await leave(page);
});

check("a host is a sentence, those in trouble come first, and counters that are 0 are folded away", async () => {
  const page = await newPage(browser, "eight", "#/exporters");
  await until("the name of today", () => page.evaluate(() => document.title.startsWith("hosts")));
  const rows = page.locator("table[aria-label='Hosts'] tbody tr");
  await rows.first().waitFor();
  equal(await rows.count(), 8);
  const all = (await rows.allInnerTexts()).map(plain);
  holds(/^4\s+Reported packets until .*silent for 15 min/.test(all[0]), all[0]);
  holds(all[1].includes("56 of its reports were lost (0.13 %)"), all[1]);
  holds(all[2].includes("Reports packets, drops and TCP connections; last seen"), all[2]);
  holds(all.some((row) => row.includes("not synchronised")), "a clock's state is said");
  // Neither a clock nor a few lost reports count.
  equal(await page.locator("#trouble").innerText(), "2");
  const zeros = page.locator(".folded dl");
  equal(await zeros.isVisible(), false, "zeros");
  await page.getByText(/^show \d+ counters that are 0$/).click();
  holds((await zeros.innerText()).includes("socket drops"), "zeros are there if they are asked for");
  await leave(page);
});

check("a host's page has its pairs in both directions, and what it reports", async () => {
  const page = await newPage(browser, "eight", "#/hosts");
  await page.locator("table[aria-label='Hosts']").getByRole("link", { name: "3", exact: true }).click();
  await until("the host", () => hash(page) === "#/host/3");
  const pairs = (label) => page.locator(`table[aria-label='${label}'] tbody tr`);
  await pairs("Packets from this host").first().waitFor();
  const [to, from] = await Promise.all(["Packets to this host", "Packets from this host"].map((label) => pairs(label).allInnerTexts()));
  holds(to.length === 7 && to.every((row) => /→ 3\b/.test(row)), String(to));
  holds(from.length === 6 && from.every((row) => /^3 →/.test(row)), String(from));
  for (const label of ["Drops by place", "Episodes of queues", "TCP connections"]) holds(await pairs(label).count() > 0, label);
  holds((await text(page, "main")).includes("It reported no hops in this period."), "what there is nothing of is one line");
  await pairs("Packets to this host").first().locator("a").click();
  await until("a pair", () => hash(page).startsWith("#/pair/"));
  await page.goto(`${page.url().split("#")[0]}#/host/nobody`);
  await until("no such host", async () => (await text(page, "main")).includes("No host of this name"));
  await leave(page);
});

check("drops, hops, queues and TCP are parts of hosts, grey until something feeds them", async () => {
  const unfed = (page) => page.locator("#tabs a.unfed").evaluateAll((all) => all.map((one) => one.innerText.replace(/\s+/g, " ")));
  const empty = await newPage(browser, "empty", "#/hosts");
  await until("all of them are grey", async () => (await unfed(empty)).length === 4);
  equal(await unfed(empty), ["Drops hostint postcards --drops", "Hops hostint postcards --hops", "Queues hostint postcards --queue eth0=trigger:200us", "TCP hostint tcp"]);
  const fed = await newPage(browser, "eight", "#/");
  await matrixDrawn(fed);
  equal(await fed.locator("#tabs").isVisible(), false, "beside the matrix they are not shown");
  equal(await fed.locator("header nav a").allInnerTexts().then((all) => all.map((one) => one.replace(/\d+$/, "").trim())), ["Matrix", "Flows", "Hosts"]);
  await fed.locator("header nav").getByRole("link", { name: "Hosts" }).click();
  for (const [name, at] of [["Drops", "#/drops"], ["Hops", "#/hops"], ["Queues", "#/queues"], ["TCP", "#/tcp"], ["All hosts", "#/hosts"]]) {
    await fed.locator("#tabs").getByRole("link", { name }).click();
    await until(name, () => hash(fed) === at);
    equal(await fed.locator("header nav a[aria-current]").innerText().then((one) => one.startsWith("Hosts")), true);
  }
  equal(await unfed(fed), []);
  for (const page of [empty, fed]) await leave(page);
});

check("all figures of a screen have one span, which is said, and the newest ten seconds are not in it", async () => {
  const page = await newPage(browser, "eight", "#/");
  const spans = new Map();
  page.on("request", (request) => {
    const url = new URL(request.url());
    const since = url.searchParams.get("since");
    // The strip of the verdict, and single reports, have spans of their own.
    if (since && url.pathname !== "/api/reports") spans.set(`${since} ${url.searchParams.get("until")}`, [Number(since.slice(0, -6)), Number(url.searchParams.get("until").slice(0, -6)), Date.now()]);
  });
  for (const at of ["#/flows", "#/pair/3/2", "#/flow/7"]) {
    await page.keyboard.press("p");
    await until("an end of what was asked", () => page.evaluate(() => !document.querySelector("main").hasAttribute("aria-busy")));
    spans.clear();
    await page.evaluate((at) => { location.hash = at; }, at);
    await settled(page, at);
    equal(spans.size, 1, `spans at ${at}: ${[...spans.keys()]}`);
    const [[since, end, asked]] = [...spans.values()];
    holds(end % 10_000 === 0 && asked - end >= 3_000 && asked - end < 20_000, `${end} at ${asked}`);
    const clock = (at) => new Date(at).toTimeString().slice(0, 8);
    equal((await text(page, "#span")).replace(/\d+ \w{3} /g, ""), `figures from ${clock(since)} to ${clock(end)}`);
    await page.keyboard.press("p");
  }
  await close(page);
});

check("flows are folded by service, and by hosts within", async () => {
  const page = await newPage(browser, "eight", "#/flows");
  const rows = (level) => page.locator(`table[aria-label='Flows by service'] tr.level-${level}`);
  await rows(1).first().waitFor();
  const ports = await rows(1).allInnerTexts();
  for (const port of ["443", "5432", "9000", "4420", "53"]) holds(ports.some((row) => row.includes(` ${port}`)), `no ${port} in ${ports}`);
  await rows(1).first().getByRole("button").click();
  await rows(2).first().getByRole("button").click();
  const flow = rows(3).first();
  holds(/\d → 10\./.test(await flow.innerText()), await flow.innerText());
  await flow.locator("a").click();
  await until("the flow", () => hash(page).startsWith("#/flow/"));
  await page.goBack();
  await page.getByRole("button", { name: "single flows" }).click();
  await until("single ones", () => hash(page) === "#/flows?fold=none");
  await page.locator("table[aria-label='Flows'] tbody tr").first().waitFor();
  await leave(page);
});

check("on a phone the header is low, and flows have their figures", async () => {
  const page = await newPage(browser, "eight", "#/flows", { viewport: { width: 390, height: 844 } });
  for (const [at, label] of [["#/flows", "Flows by service"], ["#/flows?fold=none", "Flows"]]) {
    await page.evaluate((at) => { location.hash = at; }, at);
    await settled(page, at);
    holds(await page.evaluate(() => document.querySelector("header").offsetHeight) <= 90, "the header");
    const outside = await page.locator(`table[aria-label='${label}'] tbody tr`).first().locator("th, td").evaluateAll((cells) =>
      cells.filter((cell) => cell.offsetParent).map((cell) => [cell.innerText, cell.getBoundingClientRect().right]).filter(([, right]) => right > 390));
    equal(outside, [], "cells beside the screen");
    const heads = await page.locator(`table[aria-label='${label}'] thead th:visible`).allInnerTexts();
    for (const head of ["loss", "p99", "packets"]) holds(heads.some((one) => one.includes(head)), `no ${head} in ${heads}`);
  }
  await leave(page);
});

check("the matrix is grouped by a label of hosts, or by class", async () => {
  const page = await newPage(browser, "eight", "#/");
  await matrixDrawn(page);
  const by = page.getByRole("combobox", { name: "Group by" });
  await until("all groupings", async () => String(await by.locator("option").allInnerTexts()) === "by host,by rack,by class");
  await by.selectOption("rack");
  await until("racks", () => hash(page) === "#/?by=rack");
  const over = page.locator(".matrix .over");
  await over.focus();
  for (const key of ["ArrowUp", "ArrowLeft", "ArrowRight"]) await page.keyboard.press(key);
  await until("two racks", async () => /^r1 → r2/.test(await text(page, ".tip")));
  const tip = await text(page, ".tip");
  for (const part of ["pairs", "slowest"]) holds(tip.includes(part), `no ${part} in ${tip}`);
  await page.keyboard.press("Enter");
  await until("its hosts, which is said", async () => hash(page).includes("within=") && (await text(page, "main")).includes("from rack r1 to rack r2"));
  await page.reload();
  await until("its hosts by a link", async () => (await text(page, "main")).includes("from rack r1 to rack r2"));
  await page.getByRole("link", { name: "all by rack" }).click();
  await by.selectOption("by class");
  await page.locator("table[aria-label='Classes'] tbody").getByRole("link", { name: "storage" }).click();
  await until("flows of the class", () => hash(page) === "#/flows?class=storage");
  await leave(page);
});

check("changes of the verdict, restarts, clocks that were set, and deploys are marks in charts", async () => {
  const page = await newPage(browser, "ill", "#/");
  const [restart, elsewhere, clock, deploy, degraded] = ["restart of hostint at 3", "restart of hostint at 6", "the clock was set at 2", "deploy web 1.2.3", "degraded: packets from 3 to 2 are lost"];
  // A pair and a flow have what was seen at their hosts.
  for (const [at, expected] of [["#/", [restart, elsewhere, clock, deploy, degraded]], ["#/pair/3/2", [restart, clock, deploy, degraded]], ["#/flow/7", [clock, deploy, degraded]]]) {
    await page.evaluate((at) => { location.hash = at; }, at);
    await settled(page, at);
    const marks = page.locator("svg.chart .event");
    await marks.first().waitFor();
    const labels = await marks.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
    equal(labels.map((one) => one.replace(/^(\d\d \w{3} )?\d\d:\d\d:\d\d: /, "")), expected, at);
  }
  await leave(page);
});

check("a pair that is slower or loses more than is usual for it stands out", async () => {
  const page = await newPage(browser, "ill", "#/");
  await matrixDrawn(page);
  await until("the legend", async () => (await text(page, ".legend")).includes("unusually slow"));
  const { x, y } = await cell(page, 7, 1);
  await page.mouse.move(x, y);
  await until("what is usual", async () => /p99\s+1\.\d+ ms\s+usually\s+\d+ µs/.test(await text(page, ".tip")));
  const unusual = () => page.locator("table[aria-label='Pairs, worst first'] tbody tr:has(.trouble, .bad)").allInnerTexts().then((rows) => rows.map((row) => row.slice(0, 5)));
  equal(await unusual(), ["7 → 1"]);
  await page.getByRole("group", { name: "Figure" }).getByRole("button", { name: "loss" }).click();
  await until("the pair that loses more", async () => String(await unusual()) === "3 → 2");
  await page.locator("table[aria-label='Pairs, worst first'] tbody a").first().click();
  await until("what is usual", async () => /usual loss/.test(await text(page, ".figures")));
  await leave(page);
});

check("a verdict without a cause is a sentence and no more", async () => {
  const page = await newPage(browser, "eight", "about:blank");
  await page.route("**/api/status*", async (route) => {
    const status = JSON.parse(await (await route.fetch()).text());
    const at = Date.now() * 1_000_000;
    status.verdict = { state: "healthy", text: "healthy: 6 pairs of 3 hosts", as_of_ns: at, since_ns: at, causes: [], notes: [] };
    await route.fulfill({ contentType: "application/json", body: JSON.stringify(status) });
  });
  await page.goto(PAGES.eight);
  await until("the sentence", async () => /Healthy/.test(await page.locator("#verdict").innerText()));
  equal((await text(page, "#verdict")).replace(/since .*/, "").replace(/\s+/g, " ").trim(), "✓Healthy6 pairs of 3 hosts.");
  await close(page);
});

// What somebody wants to know whose application is slow, and the clicks that it takes from the first page.
check("five questions are answered in few clicks", async () => {
  const page = await newPage(browser, "ill", "#/");
  await matrixDrawn(page);
  const clicks = { done: 0, async on(locator) { await locator.click(); this.done += 1; } };
  const answered = (question, most) => { holds(clicks.done <= most, `${question} took ${clicks.done} clicks`); clicks.done = 0; };

  holds(/Degraded/.test(await text(page, "#verdict")), "is it the network? The first line says so");
  answered("is it the network", 0);
  holds(/since (\d+ \w+ )?\d\d:\d\d:\d\d \(20 min ago\)/.test(await text(page, "#verdict")), "since when? The same line");
  answered("since when", 0);
  await clicks.on(page.getByRole("group", { name: "Figure" }).getByRole("button", { name: "loss" }));
  await until("which pair is worst? The first row", async () => /^3 → 2/.test(await text(page, "table[aria-label='Pairs, worst first'] tbody tr")));
  answered("which pair is worst", 1);
  await clicks.on(page.locator("table[aria-label='Pairs, worst first'] tbody a").first());
  await page.locator("table[aria-label='Flows of this pair'] tbody tr").first().waitFor();
  holds(Number((await page.locator("table[aria-label='Flows of this pair'] tbody td:nth-of-type(3)").first().innerText()).replaceAll(",", "")) > 0, "which flows? The first loses most");
  answered("which flows", 1);
  await page.evaluate(() => { location.hash = "#/"; });
  await clicks.on(page.locator("#verdict").getByRole("link", { name: "Show" }));
  await until("where? The pair of the verdict, around its begin", () => hash(page).startsWith("#/pair/3/2?range=custom"));
  await page.locator("svg.chart .event.degraded").first().waitFor();
  answered("where", 1);
  await clicks.on(page.locator("#verdict summary"));
  holds(await page.locator("#verdict dd code").count() > 0, "and what to do next");
  answered("what next", 1);
  await leave(page);
});

for (const name of ["eight", "many", "thousand", "unlabelled"]) {
  check(`the first screen of ${name} takes few bytes`, async () => {
    const { page, total } = await firstScreen(browser, name);
    holds(total <= 120_000, `${total} bytes`);
    await close(page);
  });
}

check("1,000 hosts are shown by rack, the pairs of two racks are asked for alone, and each host if it is wanted", async () => {
  const page = await newPage(browser, "thousand");
  await matrixDrawn(page);
  const by = page.getByRole("combobox", { name: "Group by" });
  equal(await by.inputValue(), "rack");
  equal(await text(page, ".panel p.dim:not([hidden])").then((words) => words.replace(/^\d+/, "N")), "N of 20,000 by p99 latency");
  await page.locator(".matrix .over").focus();
  for (const key of ["ArrowUp", "ArrowLeft"]) for (let i = 0; i < 50; i += 1) await page.keyboard.press(key);
  await until("a rack", async () => /^r1 → r1/.test(await text(page, ".tip")));
  const asked = page.waitForRequest((request) => request.url().includes("/api/pairs"));
  await page.keyboard.press("Enter");
  await until("what is shown", async () => (await text(page, "main")).includes("from rack r1 to rack r1"));
  holds((await asked).url().endsWith("&by=rack&from=r1&to=r1"), (await asked).url());
  holds(/^\d+ of \d\d by p99/.test(await text(page, ".panel p.dim:not([hidden]) >> nth=1")), "few pairs");
  await by.selectOption("by host");
  await until("each host", () => hash(page) === "#/?by=%28host%29");
  await leave(page);
});

check("1,000 hosts without labels are a table, the worst first", async () => {
  const page = await newPage(browser, "unlabelled");
  const rows = page.locator("table[aria-label='Hosts, worst first'] tbody tr");
  await rows.first().waitFor();
  equal(await rows.count(), 25);
  holds(/^host-\d+\S* \(\d+\)/.test(await rows.first().innerText()), await rows.first().innerText());
  await page.getByRole("group", { name: "Figure" }).getByRole("button", { name: "loss" }).click();
  await until("those that lose most", async () => hash(page) === "#/?metric=loss" && (await rows.first().locator(".trouble, .bad").count()) > 0);
  await rows.first().locator("a").click();
  await until("the host", () => hash(page).startsWith("#/host/"));
  await leave(page);
});

check("the time through hosts stands by interfaces, and by flow", async () => {
  const page = await newPage(browser, "eight", "#/hops");
  const rows = (label) => page.locator(`table[aria-label='${label}'] tbody tr`);
  const [interfaces, flows] = ["Time through hosts by interfaces", "Time through hosts by flow"].map(rows);
  await interfaces.first().waitFor();
  equal([await interfaces.count(), await flows.count()], [2, 2]);
  const words = plain(await text(page, "main"));
  for (const part of ["eth0 (podman/4f2a91c07be3)*", "eth1 (netns/blue)", "39 µs", "192.0.2.1:49152 → 198.51.100.2:80", "since the sender"]) holds(words.includes(part), `no ${part} in ${words}`);
  await page.goto(page.url().replace("#/hops", "#/"));
  await page.locator("header").getByRole("link", { name: "Hosts" }).click();
  await page.locator("#tabs").getByRole("link", { name: "Hops" }).click();
  await interfaces.first().waitFor();
  await leave(page);
});

check("without hops it says who tells them", async () => {
  const page = await newPage(browser, "empty", "#/hops");
  await until("what to do", async () => (await text(page, "main")).includes("hostint postcards --hops --collector"));
  await leave(page);
});

check("an episode of a queue says whose packets filled it", async () => {
  const page = await newPage(browser, "eight", "#/queues");
  const rows = page.locator("table[aria-label='Episodes of queues'] tbody tr");
  await rows.first().waitFor();
  holds(await page.locator("rect.episode").count() > 0, "episodes over time");
  holds((await page.locator("table[aria-label='Flows in the queue'] tbody tr").count()) > 0, "the flows of the longest one");
  await rows.last().locator("a").click();
  await until("the chosen one", () => hash(page).includes("at="));
  await leave(page);
});

check("without queues it says who tells them", async () => {
  const page = await newPage(browser, "empty", "#/queues");
  await until("what to do", async () => (await text(page, "main")).includes("hostint postcards --queue"));
  await leave(page);
});

check("without history, hosts are what there is", async () => {
  const page = await newPage(browser, "unkept");
  await until("hosts", () => hash(page) === "#/hosts");
  await until("why", async () => (await text(page, "main")).includes("This collector keeps no history"));
  equal(await page.locator("table[aria-label='Hosts'] tbody tr").count(), 8);
  await leave(page);
});

check("in each view what can be pressed has a name, each table heads, and a narrow window scrolls in one direction only", async () => {
  const page = await newPage(browser, "eight");
  for (const at of EVERYWHERE) {
    await page.evaluate((at) => { location.hash = at; }, at);
    await settled(page, at);
    const nameless = await page.evaluate(() => [...document.querySelectorAll("a, button, input, canvas[tabindex], svg[tabindex], table")]
      .filter((one) => one.offsetParent !== null || one instanceof SVGElement)
      .filter((one) => !(one.getAttribute("aria-label") || one.title || one.textContent.trim() || one.labels?.length))
      .map((one) => one.outerHTML.slice(0, 100)));
    equal(nameless, [], at);
    const headless = await page.evaluate(() => [...document.querySelectorAll("table")].filter((one) => !one.querySelector("thead th[scope=col]")).length);
    equal(headless, 0, at);
    await page.setViewportSize({ width: 400, height: 800 });
    await until(`one direction at ${at}`, () => page.evaluate(() => document.documentElement.scrollWidth === 400));
    await page.setViewportSize(WIDE);
  }
  await leave(page);
});

check("numbers keep their last figure, and units fit", async () => {
  const page = await newPage(browser, "eight");
  const found = await page.evaluate(async () => {
    const [{ parse }, units] = await Promise.all([import("/api.js"), import("/units.js")]);
    const { duration, share, count } = units;
    const plain = (value) => value.replaceAll("\u00a0", " ");
    return [
      parse('{"a":1795305462500000123,"b":[12,-1795305462500000123],"c":"say \\"1795305462500000123\\", 1","d":1.5}'),
      [0, 812, 999.6, 38_214, 999_600, 1_234_567, 2_000_000_000, -45_300, undefined].map(duration).map(plain),
      [0, 0.0000012, 0.0004, 0.0312, 1].map(share).map(plain),
      [99_999, 123_456, 12_345_678].map(count).map(plain),
    ];
  });
  equal(found, [
    { a: "1795305462500000123", b: [12, "-1795305462500000123"], c: 'say "1795305462500000123", 1', d: 1.5 },
    ["0", "812 ns", "1.00 µs", "38.2 µs", "1.00 ms", "1.23 ms", "2 s", "-45.3 µs", "–"],
    ["0", "1.20 ppm", "0.04 %", "3.12 %", "100 %"],
    ["99,999", "123 k", "12.3 M"],
  ]);
  await leave(page);
});

check("a collector that is gone is said, and that it is back", async () => {
  const { page, later } = await inQuickTime("stopped", "#/pair/3/2");
  await shown(page, "svg.chart polyline.p50");
  expectTrouble(page, true);
  await ask("stop stopped");
  await shown(page, "#banner:not([hidden])");
  holds((await text(page, "#banner")).includes("No answer from the collector at 127.0.0.1:"), await text(page, "#banner"));
  await until("no answer", async () => (await text(page, "#live")) === "Not connected");
  holds(await page.locator("svg.chart polyline.p50").count() > 0, "what was shown stays");
  await ask("start stopped");
  await until("no banner", async () => (await later()) || !(await page.locator("#banner").isVisible()));
  await until("live", async () => (await later()) || (await text(page, "#live")) === "Live");
  expectTrouble(page, false);
  await close(page);
});

check("what the collector refuses is shown in its words", async () => {
  const page = await newPage(browser, "eight", "#/pair/4294967296/1");
  expectTrouble(page, true);
  await shown(page, "#banner:not([hidden])");
  holds((await text(page, "#banner")).includes("expected a node ID"), await text(page, "#banner"));
  expectTrouble(page, false);
  await leave(page);
});

await checkAll(3);

await checkNow("nothing was asked of anybody else, and no page complained", async () => {
  equal(strays, [], "strays");
  equal(complaints.filter((one) => !one.includes("400 (Bad Request)")), [], "complaints");
});

await browser.close();
process.exit(result() ? 1 : 0);
