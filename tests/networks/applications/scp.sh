# scp: a large file there and back.
needs="sshd ssh-keygen ssh-keyscan scp"
. "$scripts/sshd.conf.sh"
serve() { serve_ssh; }
use() {
	scp -q -P 2222 $by_ssh "$dir/data" "root@$host:$work/there"
	cmp "$dir/data" "$work/there"
	scp -q -P 2222 $by_ssh "root@$host:$work/there" "$work/back"
	cmp "$dir/data" "$work/back"
}
