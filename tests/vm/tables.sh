#!/bin/bash
# Tables of tests in this guest: tables.sh PROGRAM=MODULE,MODULE...   What one process has loaded serves all of its modules.
# It says when each module has its first result, and ends with 1 if a test failed.
set -uo pipefail
export HOSTINT_TEST_ROUNDS=20 HOSTINT_TEST_PACKETS=10000 HOSTINT_LONG=5000
out=$(mktemp)
trap 'rm -f "$out"' EXIT
code=0
for run; do
	program=${run%%=*} room=$(basename "${run%%=*}") begun=$SECONDS
	# shellcheck disable=SC2046
	"$program" $(printf "%s:: " $(tr , " " <<<"${run#*=}")) --test-threads 2 2>&1 | {
		known=
		while IFS= read -r line; do
			module=${line#test } module=${module%%::*}
			case $line in
			"test "*::*)
				[[ $known = *" $module "* ]] || echo "    $room/$module: from $((SECONDS - begun)) s" >&3
				known+=" $module "
				;;
			esac
			printf '%s\n' "$line"
		done >"$out"
	} 3>&1
	if [ "${PIPESTATUS[0]}" != 0 ]; then
		code=1
		tail -60 "$out"
	fi
	echo "$room: $((SECONDS - begun)) s: $(grep '^test result' "$out")"
done
exit $code
