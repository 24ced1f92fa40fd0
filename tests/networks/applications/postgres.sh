# PostgreSQL: pgbench, and a table that is copied there and back.
postgres=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
needs="$postgres/initdb psql runuser"
serve() {
	chown postgres "$work"
	as="runuser -u postgres --"
	$as "$postgres/initdb" -D "$work/db" -A trust -U postgres >"$work/initdb"
	echo "host all all all trust" >>"$work/db/pg_hba.conf"
	exec $as "$postgres/postgres" -D "$work/db" -c listen_addresses="$server" -c unix_socket_directories="$work" -c fsync=off
}
ready() { "$postgres/pg_isready" -q -h "$server" -U postgres; }
use() {
	export PGHOST=$server PGUSER=postgres PGDATABASE=postgres
	"$postgres/pgbench" -q -i -s 2 2>"$work/said"
	"$postgres/pgbench" -n -c 4 -t 200 >"$work/said" 2>&1 || { tail -n 5 "$work/said" >&2; return 1; }
	base64 -w 100 "$dir/part" >"$work/lines"
	psql -qc 'CREATE TABLE lines (line text)'
	psql -qc '\copy lines from stdin' <"$work/lines"
	psql -qAtc 'SELECT line FROM lines' | cmp - "$work/lines"
}
