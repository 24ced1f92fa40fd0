# memcached: values of up to 500 kB over several connections.
needs="memcached python3"
serve() { exec memcached -u root -l "$server" -p 11211; }
ready() { python3 -c 'import socket, sys; socket.create_connection((sys.argv[1], 11211), 2)' "$server"; }
use() {
	python3 - "$server" <<-'END'
		import random, socket, sys
		chance = random.Random(7)
		for connection in range(20):
		    stream = socket.create_connection((sys.argv[1], 11211), 20)
		    reader = stream.makefile("rb")
		    for number in range(20):
		        value = chance.randbytes(chance.choice([10, 1000, 20000, 500000]))
		        stream.sendall(b"set k%d 0 0 %d\r\n" % (number, len(value)) + value + b"\r\n")
		        assert reader.readline() == b"STORED\r\n"
		        stream.sendall(b"get k%d\r\n" % number)
		        assert reader.readline() == b"VALUE k%d 0 %d\r\n" % (number, len(value))
		        assert reader.read(len(value) + 2) == value + b"\r\n", "a value came changed"
		        assert reader.readline() == b"END\r\n"
	END
}
