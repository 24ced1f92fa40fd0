// Colour scales. Lightness alone separates large from small values, so that they work with colour blindness too.

import { duration, share } from "./units.js";

const RAMPS = {
  light: {
    latency: ["#f3f6d8", "#d3ecc0", "#a3d9b8", "#68c2bd", "#389fbf", "#2678b3", "#27549c", "#1f2f6f", "#0b1440"],
    loss: ["#fdeedd", "#fbd3a7", "#f5ad6a", "#e5853a", "#c85f1c", "#9c430f", "#6d2d0a", "#451b06"],
  },
  dark: {
    latency: ["#1c2740", "#21406a", "#215f8b", "#23829a", "#35a39a", "#68c08c", "#a6d77f", "#dcea86", "#fbf8b9"],
    loss: ["#33210f", "#5a3310", "#854713", "#b36120", "#d98139", "#f0a565", "#f9c998", "#fee8d0"],
  },
};

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function at(ramp, part) {
  const place = Math.min(1, Math.max(0, part)) * (ramp.length - 1);
  const below = Math.min(ramp.length - 2, Math.floor(place));
  const rest = place - below;
  const [from, to] = [rgb(ramp[below]), rgb(ramp[below + 1])];
  return from.map((value, i) => Math.round(value + (to[i] - value) * rest));
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// The next 1, 2 or 5 times a power of ten.
function nice(value, up) {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = up ? [1, 2, 5, 10] : [5, 2, 1];
  const found = steps.find((step) => (up ? step * power >= value : step * power <= value * 1.0001));
  return (found ?? 1) * power;
}

// A logarithmic scale over the positive values.
export function scale(kind, values) {
  const ramp = RAMPS[isDark() ? "dark" : "light"][kind];
  const above = values.filter((value) => value > 0);
  let low = above.length ? nice(above.reduce((a, b) => Math.min(a, b)), false) : 1;
  let high = above.length ? nice(above.reduce((a, b) => Math.max(a, b)), true) : 10;
  if (kind === "loss") [low, high] = [Math.min(low, 1e-5), Math.min(1, Math.max(high, 1e-3))];
  if (high / low < 4) [low, high] = [low / 2, high * 2];
  const length = Math.log(high / low);
  const part = (value) => Math.log(value / low) / length;
  const text = kind === "loss" ? share : duration;
  return {
    none: above.length === 0,
    low: text(low),
    high: text(high),
    middle: text(Math.sqrt(low * high)),
    ramp,
    // Zero and negative latencies are not on the scale.
    colour: (value) => (value > 0 ? at(ramp, part(value)) : undefined),
    text,
  };
}

export function css([r, g, b]) {
  return `rgb(${r} ${g} ${b})`;
}

// Black or white, whichever is more readable on this colour.
export function ink([r, g, b]) {
  const linear = [r, g, b].map((value) => (value / 255 <= 0.04045 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return luminance > 0.18 ? "#0b0f14" : "#ffffff";
}
