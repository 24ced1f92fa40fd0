# Short connections: ab, a connection for each request.
needs="nginx ab"
. "$scripts/nginx.conf.sh"
serve() { serve_nginx; }
use() {
	ab -q -n 1500 -c 10 -s 20 "http://$host:8080/small" >"$work/ab"
	grep -q '^Complete requests: *1500$' "$work/ab" && grep -q '^Failed requests: *0$' "$work/ab" || { cat "$work/ab" >&2; return 1; }
}
