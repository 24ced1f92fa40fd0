// Readable numbers: three figures and a fitting unit; titles hold the exact numbers.

const NBSP = "\u00a0";
const NONE = "–";
const whole = new Intl.NumberFormat("en-US");

function three(value) {
  const size = Math.abs(value);
  if (size >= 99.95 || Number.isInteger(value)) return value.toFixed(0);
  return value.toFixed(size >= 9.995 ? 1 : 2);
}

// A duration. It may be negative, because two clocks may differ.
export function duration(ns) {
  if (ns === undefined || ns === null) return NONE;
  const size = Math.abs(ns);
  if (size === 0) return "0";
  if (size < 999.5) return `${Math.round(ns)}${NBSP}ns`;
  if (size < 999_500) return `${three(ns / 1e3)}${NBSP}µs`;
  if (size < 999_500_000) return `${three(ns / 1e6)}${NBSP}ms`;
  return `${three(ns / 1e9)}${NBSP}s`;
}

// The digits of a value that its error leaves known, from this place on, and the error, in one unit. What rounding takes is
// added to the error.
function knownDigits(ns, errorNs, least) {
  let place = least;
  while (errorNs / place >= 20) place *= 10;
  const size = Math.abs(ns);
  const rounded = Math.round(size / place) * place;
  const error = Math.ceil((errorNs + Math.abs(rounded - size)) / place) * place;
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const [unit, name] = units.find(([one]) => Math.max(rounded, error) >= one) ?? [1, "ns"];
  const decimals = Math.max(0, Math.round(Math.log10(unit / place)));
  const sign = ns < 0 && rounded !== 0 ? "-" : "";
  return { value: `${sign}${(rounded / unit).toFixed(decimals)}${NBSP}${name}`, error: error === 0 ? "0" : (error / unit).toFixed(decimals) };
}

// A duration in three figures, or fewer if its error makes them meaningless.
export function certain(ns, errorNs) {
  let place = 1;
  while (Math.abs(ns) / place >= 999.5) place *= 10;
  return knownDigits(ns, errorNs, place).value;
}

// The same with the error, as in 26.8 µs ± 1.9.
export function withError(ns, errorNs) {
  const { value, error } = knownDigits(ns, errorNs, 1);
  return `${value} ± ${error}`;
}

export function exact(count) {
  if (count === undefined || count === null) return NONE;
  return whole.format(count);
}

export function count(value) {
  if (value === undefined || value === null) return NONE;
  if (value < 100_000) return whole.format(value);
  for (const [size, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= size) return `${three(value / size)}${NBSP}${unit}`;
  }
  return whole.format(value);
}

export function bytes(value) {
  for (const [size, unit] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
    if (value >= size) return `${three(value / size)}${NBSP}${unit}`;
  }
  return `${value}${NBSP}B`;
}

// A share of the whole: loss.
export function share(part) {
  if (part === undefined || part === null || Number.isNaN(part)) return NONE;
  if (part === 0) return "0";
  if (part < 0.0001) return `${three(part * 1e6)}${NBSP}ppm`;
  return `${three(part * 100)}${NBSP}%`;
}

export function lossOf(figures) {
  if (figures.packets > 0) return figures.lost / figures.packets;
  return figures.lost > 0 ? 1 : 0;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const minute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

export function time(ms) {
  const text = clock.format(ms);
  return new Date(ms).toDateString() === new Date().toDateString() ? text : `${day.format(ms)} ${text}`;
}

// The label of a tick on an axis whose ticks are `step` apart.
export function tick(ms, step) {
  if (step >= 86_400_000) return day.format(ms);
  return step < 60_000 ? clock.format(ms) : minute.format(ms);
}

export function ago(ms) {
  const s = Math.max(0, ms / 1000);
  if (s < 2) return "now";
  if (s < 90) return `${Math.round(s)}${NBSP}s ago`;
  if (s < 5400) return `${Math.round(s / 60)}${NBSP}min ago`;
  if (s < 172_800) return `${Math.round(s / 3600)}${NBSP}h ago`;
  return `${Math.round(s / 86_400)}${NBSP}d ago`;
}

// A step of 1, 2 or 5 times a power of ten that divides a length into about `parts` parts.
export function niceStep(length, parts) {
  const rough = length / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
}

// An address with its port: "192.0.2.1:443", "[2001:db8::1]:443".
export function endpoint(address, port) {
  if (!port) return address;
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
