# QUIC and HTTP/3: ngtcp2's client and server.
needs="gtlsserver gtlsclient"
serve() { exec "$(command -v gtlsserver)" -q -d "$dir" "$server" 4433 "$dir/key" "$dir/certificate"; }
ready() { ss -ulnH 'sport = :4433' | grep -q 4433; }
use() {
	mkdir -p "$work/down"
	gtlsclient -q --timeout=10s --exit-on-all-streams-close --download="$work/down" "$server" 4433 \
		"https://$host:4433/data" "https://$host:4433/small" >"$work/said" 2>&1 || { tail -n 5 "$work/said" >&2; return 1; }
	cmp "$dir/data" "$work/down/data" && cmp "$dir/small" "$work/down/small"
}
