#!/bin/bash
# Fills corpus/ from the golden packets: the UDP payload of each report, and some number lines; and config files.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p corpus/config corpus/decode_report corpus/render_report corpus/exporter_track
for dump in ../tests/golden/{hostint_report_,hostint_drop_summary_,tr05_,tr10_,tr20_,ihr_}*.hex; do
	bytes=$(sed 's/^[0-9a-f]* *//' "$dump" | tr -d ' \n' | sed 's/../\\x&/g')
	# 42 bytes of Ethernet, IPv4 and UDP come first
	printf '%b' "$bytes" | tail -c +43 |
		tee "corpus/decode_report/$(basename "$dump" .hex)" >"corpus/render_report/$(basename "$dump" .hex)"
done
printf '\x01\x01\x01\x03\xfe\x02\x01\x00' >corpus/exporter_track/reordered
printf '\x7f\x80\x00\x00\x00\x01\x01\x01\x01' >corpus/exporter_track/restarted
printf '\x80\xff\xff\xff\xff\x01\x01\x02\xff' >corpus/exporter_track/wrapped
sed 's/^#\([a-z[]\)/\1/' ../packaging/hostint.toml >corpus/config/shipped
# Each case of the mistakes: a name, the file, and what is said of it.
awk -v RS= '{ sub(/^[^\n]*\n/, ""); gsub(/(^|\n)> [^\n]*/, ""); print >("corpus/config/mistake-" NR) }' \
	../tests/config/mistakes.txt
