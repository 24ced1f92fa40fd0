// Checks with a sentence each, and waiting for what is to come true.

let failed = 0;
const waiting = [];

// Something to be checked, in any order and beside others.
export function check(sentence, run) {
  waiting.push([sentence, run]);
}

// Checks all, some at once: each mostly waits.
export async function checkAll(atOnce) {
  const worker = async () => {
    while (waiting.length > 0) await checkNow(...waiting.shift());
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

export async function checkNow(sentence, run) {
  const begun = Date.now();
  try {
    await run();
    console.log(`ok ${sentence} (${Date.now() - begun} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${sentence}: ${String(error.stack ?? error).replaceAll("\n", " | ")}`);
  }
}

export function equal(found, wanted, what = "") {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${what} ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`);
  }
}

export function holds(found, what) {
  if (!found) throw new Error(what);
}

// Until `run` returns something true.
export async function until(what, run, patience = 60_000) {
  const end = Date.now() + patience;
  let last;
  while (Date.now() < end) {
    last = await run();
    if (last) return last;
    await new Promise((again) => setTimeout(again, 25));
  }
  throw new Error(`never: ${what} (last ${JSON.stringify(last)})`);
}

export function result() {
  return failed;
}
