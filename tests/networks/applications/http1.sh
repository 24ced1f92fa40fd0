# HTTP/1.1: nginx and curl, one large file and small ones over one connection.
needs="nginx curl"
. "$scripts/nginx.conf.sh"
serve() { serve_nginx; }
use() {
	curl -sSf --http1.1 "http://$host:8080/data" | cmp - "$dir/data"
	curl -sSf --http1.1 "http://$host:8080/small?[1-200]" >"$work/small"
	[ "$(stat -c %s "$work/small")" = $((200 * $(stat -c %s "$dir/small"))) ]
}
