// Names of nodes, beside their IDs: a name is what a host says of itself, the ID is what is measured.

const LONGEST = 18;

let names = new Map();
// By node and port.
let interfaces = new Map();

export function learnNames(status) {
  names = new Map();
  interfaces = new Map();
  for (const { node, name, name_contested: contested, interfaces: ports } of status.exporters) {
    for (const [port, called] of Object.entries(ports ?? {})) {
      const at = `${node}/${port}`;
      // Two hosts with one node ID may differ.
      interfaces.set(at, (interfaces.get(at) ?? called) === called ? called : "");
    }
    if (node === null || !name) continue;
    const known = names.get(String(node));
    names.set(String(node), { name: known?.name ?? name, contested: contested || known?.contested || (known && known.name !== name) });
  }
}

// At most LONGEST characters: without the domain, and then without the middle.
function shortened(name) {
  if (name.length <= LONGEST) return name;
  const host = name.split(".")[0];
  const text = /\p{L}/u.test(host) ? host : name;
  const front = Math.ceil((LONGEST - 1) / 2);
  return text.length <= LONGEST ? text : `${text.slice(0, front)}…${text.slice(front - LONGEST + 1)}`;
}

// "web-3 (7)", or "7" without a name; "web-3? (7)" if others claim the name.
export function named(node) {
  if (node === null || node === undefined) return "?";
  const known = names.get(String(node));
  if (!known) return String(node);
  return `${shortened(known.name)}${known.contested ? "?" : ""} (${node})`;
}

// The same within a sentence: "web-3 (7)", or "node 7" without a name.
export function nodeNamed(node) {
  return names.has(String(node)) ? named(node) : `node ${node}`;
}

// The node of a name or of an ID, as text; undefined if no host has that name.
export function nodeCalled(text) {
  if (/^\d+$/.test(text)) return text;
  return [...names].find(([, { name }]) => name === text)?.[0];
}

// What stands for a node in an address: its name, if that is its own.
export function called(node) {
  const known = names.get(String(node));
  return known && !known.contested && !/^\d+$/.test(known.name) ? known.name : String(node);
}

// "web-3 (7) eth0", or "web-3 (7) port 2" if the interface has no name.
export function portNamed({ node, port }) {
  return `${named(node)} ${interfaces.get(`${node}/${port}`) || `port ${port}`}`;
}

// Both ports of a hop: "leaf (9) eth0 → eth1", or "leaf (9) port 2 → 3" without names.
export function portsNamed(from, to) {
  const hasName = interfaces.get(`${from.node}/${from.port}`);
  return `${portNamed(from)} → ${interfaces.get(`${to.node}/${to.port}`) || (hasName ? `port ${to.port}` : to.port)}`;
}
