# DNS: unbound and dig, short and long answers over UDP, and some over TCP.
needs="unbound dig"
serve() {
	{
		printf 'server:\n interface: %s\n access-control: ::/0 allow\n access-control: 0.0.0.0/0 allow\n' "$server"
		printf ' username: ""\n chroot: ""\n directory: "%s"\n pidfile: ""\n use-syslog: no\n do-daemonize: no\n' "$work"
		printf ' local-zone: "example." static\n'
		for n in $(seq 300); do
			printf ' local-data: "n%s.example. A 192.0.2.%s"\n' "$n" $((n % 256))
			printf ' local-data: "t%s.example. TXT %s %s %s"\n' "$n" "$(printf '%0200d' "$n")" "$(printf '%0201d' "$n")" \
				"$(printf '%0202d' "$n")"
		done
	} >"$work/unbound.conf"
	exec unbound -d -c "$work/unbound.conf"
}
ready() { dig +short +time=1 +tries=1 "@$server" n1.example A | grep -q 192.0.2.1; }
use() {
	for n in $(seq 300); do echo "n$n.example A"; echo "t$n.example TXT"; done >"$work/questions"
	dig +short +tries=2 +time=2 "@$server" -f "$work/questions" >"$work/answers"
	[ "$(grep -c '^192\.0\.2\.' "$work/answers")" = 300 ] && [ "$(grep -c '^"0*[1-9][0-9]*" "0*[1-9]' "$work/answers")" = 300 ]
	head -n 40 "$work/questions" >"$work/some"
	[ "$(dig +short +tcp "@$server" -f "$work/some" | wc -l)" = 40 ]
}
