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

// "web-3 (7)", or "7" without a name; "web-3? (7)" if others claim the name.
export function named(node) {
  if (node === null || node === undefined) return "?";
  const known = names.get(String(node));
  if (!known) return String(node);
  const short = known.name.length > LONGEST ? `${known.name.slice(0, LONGEST - 1)}…` : known.name;
  return `${short}${known.contested ? "?" : ""} (${node})`;
}

// The same within a sentence: "web-3 (7)", or "node 7" without a name.
export function nodeNamed(node) {
  return names.has(String(node)) ? named(node) : `node ${node}`;
}
