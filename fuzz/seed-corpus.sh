#!/bin/bash
# Fills corpus/ from the golden packets: the UDP payload of each report, each INT packet in a report, captures, lines
# of reports, and some number lines; config files; and what stands in a store.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p corpus/{config,decode_report,render_report,read_capture,read_lease,read_probe,read_record,read_histogram,read_stored,exporter_track}

# The bytes of a dump, as printf takes them.
escaped() {
	sed 's/^[0-9a-f]* *//' "$1" | tr -d ' \n' | sed 's/../\\x&/g'
}

for dump in ../tests/golden/{hostint_report_,hostint_drop_summary_,tr05_,tr10_,tr20_,ihr_}*.hex; do
	name=$(basename "$dump" .hex)
	bytes=$(escaped "$dump")
	# 42 bytes of Ethernet, IPv4 and UDP come first
	printf '%b' "$bytes" | tail -c +43 | tee "corpus/decode_report/$name" >"corpus/render_report/$name"
	# a capture of it, in little-endian order: header, then time and twice the size
	size=$(printf '\\x%02x\\x%02x\\0\\0' $((${#bytes} / 4 % 256)) $((${#bytes} / 4 / 256)))
	printf '%b' '\x4d\x3c\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0' \
		"\\0\\xf1\\x53\\x65\\x15\\xcd\\x5b\\x07$size$size$bytes" >"corpus/read_capture/$name"
done
for dump in ../tests/wire/dissector/tcp_int_*.hex; do
	bytes=$(escaped "$dump")
	size=$(printf '\\x%02x\\0\\0\\0' $((${#bytes} / 4)))
	printf '%b' '\x4d\x3c\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0' \
		"\\0\\xf1\\x53\\x65\\x15\\xcd\\x5b\\x07$size$size$bytes" >"corpus/read_capture/$(basename "$dump" .hex)"
done
for dump in ../tests/golden/{hostint_l4_,hostint_ext_,int}*.hex; do
	# a v2.0 group of one report, inner only, Ethernet, to the end
	printf '%b' '\x20\x40\0\x09\0\0\0\x67\x03\xff\0\0' "$(escaped "$dump")" \
		>"corpus/decode_report/$(basename "$dump" .hex)"
done
sed -n 's/.*"records": \[\(.*\)\]}$/\1/p' ../tests/golden/expected.jsonl >corpus/read_record/golden
printf '%s\n' '{"schema":"hostint.report/1","kind":"latency","hw_id":0,"report_seq":1,"report_time_s":1,"reporter_node":3,"flow":{"src":"192.0.2.1","dst":"198.51.100.2","sport":1,"dport":2,"protocol":17},"source":{"node":2,"ingress_port":13,"egress_port":13,"ingress_ts_ns":1,"egress_ts_ns":1},"sink":{"node":3,"ingress_port":12,"egress_port":12,"ingress_ts_ns":9,"egress_ts_ns":9},"latency_ns":8,"seq":1}' \
	>corpus/read_record/latency
printf '%s\n' '{"schema":"hostint.report/1","kind":"drop-summary","hw_id":0,"report_seq":2,"report_time_s":1,"reporter_node":3,"flow":{"src":"2001:db8::1","dst":"2001:db8::2","sport":1,"dport":2,"protocol":6,"vlan":7},"source":{"node":2,"port":13},"sink":{"node":3,"port":12},"gap":{"first_seq":42,"last_seq":46,"count":5,"time_s":1}}' \
	>corpus/read_record/loss
# a pcapng section with an interface and a packet of nothing
printf '%b' '\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0' \
	'\x01\0\0\0\x14\0\0\0\x01\0\0\0\0\0\0\0\x14\0\0\0' \
	'\x06\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0' >corpus/read_capture/pcapng
# evidence about clocks: a reading, and a peer with a packet and an exchange
{
	printf '%b' '\x0f\0\0\0\0\0\0\0\0\0\0\x01\x04\0\0\x58\0\0\0\x02\0\0\0\0\0\0\0\x01\x01\x01\0\0'
	head -c 28 /dev/zero
	printf '%b' '\0\0\0\x03\x01\x01\0\0'
	head -c 36 /dev/zero
} >corpus/decode_report/clocks
# what a host dropped of a flow behind its tag, and its sums
{
	printf '%b' '\x0a\xa0\0\x02\0\0\0\x01\0\0\0\x01\0\0\0\x02\x02\x02\0\0'
	head -c 88 /dev/zero
	printf '%b' '\x01\0\x11\0\x13\x88\x13\x89\0\0\0\0'
	printf '%b' '\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x01\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x02'
	printf '%b' '\x0aQDISC_DROP\0\0\x04eth1'
} | tee corpus/decode_report/host_drop >corpus/render_report/host_drop
{
	printf '%b' '\x0f\0\0\0\0\0\0\0\0\0\0\x01\x05\0\0\x42\0\0\0\x02\0\x0a\0\x01\0\0\0\0\0\0\0\x01\x04\x02\0\0'
	head -c 36 /dev/zero
	printf '%b' '\x0aQDISC_DROP\0\0'
} >corpus/decode_report/drop_sums
# hops of a flow through a host
{
	printf '%b' '\x0b\x20\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x02\x01\x09\0\0'
	head -c 52 /dev/zero
	printf '%b' '\x01\0\x11\0\x13\x88\x13\x89\0\0\0\0'
	printf '%b' '\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x01\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x02'
	printf '%b' '\x04eth0\x04eth1'
} | tee corpus/decode_report/host_hop >corpus/render_report/host_hop
# an episode of a queue that ended, with a flow
{
	printf '%b' '\x0c\x40\0\x03\0\0\0\x01\0\0\0\x01\0\0\0\x02\x06\x01\0\0'
	head -c 132 /dev/zero
	printf '%b' '\x01\0\x11\0\x13\x88\x13\x89\0\0\0\0'
	printf '%b' '\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x01\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x02'
	printf '%b' '\x04eth1'
} | tee corpus/decode_report/queue >corpus/render_report/queue
# a TCP connection that a receiver limits
{
	printf '%b' '\x0d\x20\0\x03\0\0\0\x01\0\0\0\x01\0\0\0\x02\x02\x01\x01\0\0\x01\0\x0c'
	head -c 272 /dev/zero
	printf '%b' '\x01\0\x06\0\x13\x88\x13\x89\0\0\0\0'
	printf '%b' '\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x01\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x02'
	printf '%b' '\x05cubic\x03web'
} | tee corpus/decode_report/connection >corpus/render_report/connection
# INT v1.0 as GEANT's programs write it, with stamps of 64 bits and a number in the reserved word, and one that states
# version 2, in a report of v1.0 of one word; v2.0 with a length of 0, with a wrong inner type, and with padding
early_int() {
	printf '%b' '\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0\x45\x5c\0\x58\0\0\x40\0\x40\x11\0\0\xc0\0\x02\x01\xc6\x33\x64\x02' \
		'\x9c\x40\x13\x89\0\x44\0\0' "\x01\0\x0f\0$1\0\x06\x04\xcc\0$2\0"
	head -c 48 /dev/zero
}
{
	printf '%b' '\x11\0\0\x41\0\0\0\x07\0\0\0\x01\0\0\0\x09'
	early_int '\x10' '\x05'
} | tee corpus/decode_report/geant >corpus/render_report/geant
{
	printf '%b' '\x11\0\0\x41\0\0\0\x07\0\0\0\x01\0\0\0\x09'
	early_int '\x20' '\0'
} >corpus/decode_report/int_version_two
{
	printf '%b' '\x20\x40\0\0\0\0\0\x03\x03\0\0\x20'
	early_int '\x10' '\0'
} | tee corpus/decode_report/length_zero >corpus/render_report/length_zero
{
	printf '%b' '\x20\x40\0\0\0\0\0\x03\x14\0\0\x30\0\0\0\0\0\0\0\0'
	early_int '\x10' '\0'
} >corpus/decode_report/inner_type
printf '%b' '\x20\x40\0\0\0\0\0\x03\x03\0\0\x20\0\0\0\0\0\0\0\0' >corpus/decode_report/padding
# a packet that the capture cut, at a time in 2106, and one without a time
printf '%b' '\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0' \
	'\xf0\xff\xff\xff\0\0\0\0\x14\0\0\0\x40\0\0\0\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0\x45\0\0\x32\0\0' \
	'\0\0\0\0\0\0\0\0\x04\0\0\0\x04\0\0\0\0\0\0\0' >corpus/read_capture/cut
printf '\x01\x01\x01\x03\xfe\x02\x01\x00' >corpus/exporter_track/reordered
printf '\x7f\x80\x00\x00\x00\x01\x01\x01\x01' >corpus/exporter_track/restarted
printf '\x80\xff\xff\xff\xff\x01\x01\x02\xff' >corpus/exporter_track/wrapped
sed 's/^#\([a-z[]\)/\1/' ../packaging/hostint.toml >corpus/config/shipped
# Each case of the mistakes: a name, the file, and what is said of it.
awk -v RS= '{ sub(/^[^\n]*\n/, ""); gsub(/(^|\n)> [^\n]*/, ""); print >("corpus/config/mistake-" NR) }' \
	../tests/config/mistakes.txt
printf '\xf0int\x01\x01\0\0\x01\x02\x03\x04\x05\x06\x07\x08\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0' >corpus/read_probe/probe
printf '\xf0int\x01\x02\x2a\0\x01\x02\x03\x04\x05\x06\x07\x08\0\0\0\x02\0\0\0\0\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8' \
	>corpus/read_probe/answer
for name in lease2_question lease2_answer lease2_short_answer real_lease_answer; do
	# 42 or 62 bytes of Ethernet, IP and ICMP come first
	printf '%b' "$(escaped "../tests/wire/dissector/$name.hex")" |
		tail -c +$([ $name = lease2_short_answer ] && echo 63 || echo 43) >"corpus/read_lease/$name"
done
printf '%b' "$(escaped ../tests/wire/dissector/probe_gpe.hex)" | tail -c 24 >corpus/read_lease/probe
# one latency; and two in two slots
printf '\x01\x90\x03' >corpus/read_histogram/one
printf '\x02\x06\x02\x01\x80\x0f\x01\x01\x01' >corpus/read_histogram/many
# a flow between two nodes, one between unknown ones by IPv6, and exporters of both families
printf '\x03\x06\x9c\x40\x13\x89\0\0\0\0\0\0\0\x01\0\0\0\x02\xc0\0\x02\x01\xc0\0\x02\x02' >corpus/read_stored/flow
printf '\0\x11\x9c\x40\x13\x89\0\x07\0\x08\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02' \
	>corpus/read_stored/flow6
printf '\xc0\0\x02\x01\x7f\xfe' >corpus/read_stored/exporter
