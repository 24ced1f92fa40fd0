# Redis: values of a megabyte, and redis-benchmark with LRANGE.
needs="redis-server redis-cli redis-benchmark"
serve() { exec redis-server --bind "$server" --protected-mode no --save '' --appendonly no --dir "$work"; }
ready() { [ "$(redis-cli -h "$server" ping)" = PONG ]; }
use() {
	redis-cli -h "$server" -x set value <"$dir/part" >"$work/said"
	redis-cli -h "$server" get value | head -c "$(stat -c %s "$dir/part")" | cmp - "$dir/part"
	redis-benchmark -h "$server" -q -n 4000 -c 20 -d 1000 -t set,get,lrange_100 >"$work/said"
}
