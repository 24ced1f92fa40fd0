// Names of nodes, beside their IDs: a name is what a host says of itself, the ID is what is measured.

const LONGEST = 18;

let names = new Map();

export function learnNames(status) {
  names = new Map();
  for (const { node, name, name_contested: contested } of status.exporters) {
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
