// Keys, in a dialog.

import { h } from "./dom.js";

const KEYS = [
  ["/", "search flows"], ["m  f  e", "matrix, flows, exporters"], ["1 … 5", "last 15 m, 1 h, 6 h, 24 h, 7 d"],
  ["p", "pause and go on"], ["← ↑ ↓ →", "cells of the matrix, rows of a table, the cursor of a chart"], ["Enter", "open the chosen pair, flow or report"],
  ["+  −  0", "zoom of the matrix; with Ctrl, the wheel does it, too"], ["Esc", "back: report, flow, pair, matrix"], ["?", "this"],
];

let dialog;

export function help() {
  dialog ??= document.body.appendChild(h("dialog", { "aria-labelledby": "keys" },
    h("h2", { id: "keys" }, "Keys"),
    h("dl", { class: "keys" }, KEYS.map(([keys, does]) => h("div", {}, h("dt", {}, keys.split("  ").map((key) => [h("kbd", {}, key), " "])), h("dd", {}, does)))),
    h("p", { class: "dim" }, "Latencies are one-way, from INT source to INT sink, as the two clocks show them. They are those that sinks reported: news, not all packets. Drawing over a chart chooses that time."),
    h("form", { method: "dialog" }, h("button", {}, "Close"))));
  if (dialog.open) dialog.close();
  else dialog.showModal();
}
