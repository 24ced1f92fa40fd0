// A dialog with the keys.

import { h } from "./dom.js";

const KEYS = [
  ["/", "search flows"], ["m  f  h  t", "matrix, flows, hosts, TCP"], ["1 … 5", "last 15 m, 1 h, 6 h, 24 h, 7 d"],
  ["p", "pause and resume"], ["← ↑ ↓ →", "cells of the matrix, rows of a table, the cursor of a chart"], ["Enter", "open the chosen pair, flow or report"],
  ["+  −  0", "zoom the matrix; Ctrl with the mouse wheel does the same"], ["Esc", "back: report, flow, pair, matrix"], ["?", "show this help"],
];

let dialog;

export function help() {
  dialog ??= document.body.appendChild(h("dialog", { "aria-labelledby": "keys" },
    h("h2", { id: "keys" }, "Keys"),
    h("dl", { class: "keys" }, KEYS.map(([keys, does]) => h("div", {}, h("dt", {}, keys.split("  ").map((key) => [h("kbd", {}, key), " "])), h("dd", {}, does)))),
    h("p", { class: "dim" }, "Latencies are one-way, from INT source to INT sink. Where the clocks of both hosts are known they are without their difference, and the hatched band of a chart holds the true mean; a figure with ? has the difference in it. Those with ~ cover the reported packets, not all packets. Drag over a chart to select a time."),
    h("form", { method: "dialog" }, h("button", {}, "Close"))));
  if (dialog.open) dialog.close();
  else dialog.showModal();
}
