# HTTPS and HTTP/2: nginx, curl and h2load, many streams over a few connections.
needs="nginx curl h2load"
. "$scripts/nginx.conf.sh"
serve() { serve_nginx; }
use() {
	curl -sSfk --http2 "https://$host:8443/data" | cmp - "$dir/data"
	h2load -n 2000 -c 8 -m 10 "https://$host:8443/small" >"$work/h2load"
	grep -q ' 2000 succeeded, 0 failed, 0 errored, 0 timeout' "$work/h2load" || { tail -n 15 "$work/h2load" >&2; return 1; }
}
