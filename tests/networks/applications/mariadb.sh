# MariaDB: many statements over one connection, and a large value.
needs="mariadbd mariadb mariadb-install-db"
serve() {
	mariadb-install-db --no-defaults --user=root --datadir="$work/db" --auth-root-authentication-method=normal >"$work/install"
	exec mariadbd --no-defaults --user=root --datadir="$work/db" --bind-address="$server" --port=3306 --socket="$work/socket" \
		--pid-file="$work/pid" --skip-grant-tables --skip-name-resolve --skip-networking=0 --max-allowed-packet=64M
}
ready() { mariadb --no-defaults -h "$server" -P 3306 -u root -e 'SELECT 1' >/dev/null; }
use() {
	by="mariadb --no-defaults -h $server -P 3306 -u root --max-allowed-packet=64M -BN"
	value=$(base64 -w 0 "$dir/part")
	{
		echo "CREATE DATABASE d; USE d; CREATE TABLE t (n INT PRIMARY KEY, v LONGTEXT);"
		for n in $(seq 500); do echo "INSERT INTO t VALUES ($n, REPEAT('$n', 100));"; done
		echo "INSERT INTO t VALUES (0, '$value');"
	} | $by
	[ "$($by -e 'SELECT v FROM d.t WHERE n = 0')" = "$value" ]
	[ "$($by -e 'SELECT COUNT(*), SUM(LENGTH(v)) FROM d.t WHERE n > 0')" = "$(printf '500\t139200')" ]
	$by -e 'DROP DATABASE d'
}
