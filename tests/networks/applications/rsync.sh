# rsync over ssh: many files, and then what has changed in them.
needs="sshd ssh-keygen ssh-keyscan rsync"
. "$scripts/sshd.conf.sh"
serve() { serve_ssh; }
use() {
	mkdir -p "$work/from"
	split -b 40000 -a 4 "$dir/data" "$work/from/part"
	rsync -a -e "ssh -p 2222 $by_ssh" "$work/from/" "root@$host:$work/there/"
	diff -r "$work/from" "$work/there"
	for file in "$work"/from/*a; do echo more >>"$file"; done
	rsync -a -e "ssh -p 2222 $by_ssh" "$work/from/" "root@$host:$work/there/"
	diff -r "$work/from" "$work/there"
}
