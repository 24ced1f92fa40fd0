// As much of a document as scripts need that draw without a browser.

export class FakeElement {
  constructor(name) {
    Object.assign(this, { name, attributes: {}, children: [], style: {}, clientWidth: 600 });
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  append(...children) {
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = children.flat(Infinity);
  }

  cloneNode() {
    return new FakeElement(this.name);
  }

  addEventListener() {}

  get text() {
    return this.children.map((child) => (child instanceof FakeElement ? child.text : String(child))).join(" ");
  }

  all(name) {
    const inside = this.children.filter((child) => child instanceof FakeElement).flatMap((child) => child.all(name));
    return this.name === name ? [this, ...inside] : inside;
  }
}

globalThis.document = { createElement: (name) => new FakeElement(name), createElementNS: (_, name) => new FakeElement(name) };
globalThis.ResizeObserver = class { observe() {} };
Object.assign(globalThis, { location: { hash: "" }, addEventListener() {}, window: { addEventListener() {} } });
