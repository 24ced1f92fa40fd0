// Elements made of a name, attributes and children, never of text that could be markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

// A message for screen readers.
export function say(text) {
  document.getElementById("said").textContent = text;
}

// A colour or another value from the style sheet.
export function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Buttons of which one is pressed.
export function choice(label, options, chosen, choose) {
  const buttons = options.map(([value, text, title]) =>
    h("button", { type: "button", title, "data-value": value, "aria-pressed": String(value === chosen), onclick: () => choose(value) }, text));
  const group = h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
  group.choose = (value) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
  };
  return group;
}

export function panel(title, tools, ...children) {
  const heading = h("h2", {}, title);
  return h("section", { class: "panel" }, h("div", { class: "panel-head" }, heading, tools), children);
}
