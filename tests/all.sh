#!/bin/bash
# Runs all tests. Those that fail are run a second time, alone: a test that passes then depended on what else the machine did,
# and is named at the end, to be mended. More than three are no accident.
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# A package of its own, which builds nothing of hostint.
cargo test --locked --package hostint-order || exit

cargo test --locked --no-fail-fast 2>&1 | tee "$log" && exit

# Prints "program test" for each failed test. What fails in another way, such as a crash or an error of the compiler, has no such
# line: then fewer programs are named here than cargo says have failed.
failed_tests() {
	awk '
		/^ *(Running|Doc-tests) / { program = $2; sub(/^tests\//, "", program); sub(/(\/main)?\.rs$/, "", program); count = 0 }
		/^failures:$/ { count = 0 }
		/^    [a-z_0-9:]+$/ { names[count++] = $1 }
		/^test result: FAILED/ { for (i = 0; i < count; i++) print program, names[i] }
	' "$log" | sort -u
}
failed=$(failed_tests)
named=$(cut -d ' ' -f 1 <<<"$failed" | sort -u | grep -c .)
programs=$(grep -c '^    `--' "$log")
count=$(grep -c . <<<"$failed")
if [ "$count" -eq 0 ] || [ "$count" -gt 3 ] || [ "$named" -ne "$programs" ]; then
	exit 1
fi

while read -r program test; do
	echo "tests: $program $test failed beside the others, and runs alone now"
	cargo test --locked --test "$program" -- --exact "$test" --test-threads 1 </dev/null 2>&1 | tee "$log"
	if [ "${PIPESTATUS[0]}" -ne 0 ] || ! grep -q '^test result: ok. 1 passed' "$log"; then
		exit 1
	fi
done <<<"$failed"
echo "tests: passed only alone, please mend: $(paste -sd , <<<"$failed" | sed 's/,/, /g')"
