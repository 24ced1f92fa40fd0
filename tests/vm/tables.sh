#!/bin/bash
# Tables of tests in this guest: tables.sh PROGRAM=MODULE,MODULE...   What one process has loaded serves all of its modules.
# It says when the last test of each module ended, and ends with 1 if one failed.
set -uo pipefail
export HOSTINT_TEST_ROUNDS=20 HOSTINT_TEST_PACKETS=10000 HOSTINT_LONG=5000
out=$(mktemp)
trap 'rm -f "$out"' EXIT
code=0
for run; do
	program=${run%%=*} room=$(basename "${run%%=*}") begun=$SECONDS
	# shellcheck disable=SC2086
	"$program" $(printf "%s:: " $(tr , " " <<<"${run#*=}")) --test-threads 2 2>&1 |
		while IFS= read -r line; do printf '%s %s\n' $((SECONDS - begun)) "$line"; done >"$out"
	if [ "${PIPESTATUS[0]}" != 0 ]; then
		code=1
		tail -60 "$out"
	fi
	awk -v room="$room" '
		$2 == "test" && $3 ~ /::/ { split($3, at, "::"); count[at[1]]++; end[at[1]] = $1 }
		END { for (module in count) print "    " room "/" module ": " count[module] " tests, the last after " end[module] " s" }
	' "$out" | sort
	echo "$room: $((SECONDS - begun)) s: $(sed -n 's/^[0-9]* \(test result.*\)/\1/p' "$out")"
done
exit $code
