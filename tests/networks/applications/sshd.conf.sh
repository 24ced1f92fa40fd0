serve_ssh() {
	mkdir -p /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f "$work/host-key" </dev/null
	ssh-keygen -q -t ed25519 -N '' -f "$work/user-key" </dev/null
	exec "$(command -v sshd)" -D -e -p 2222 -h "$work/host-key" -f /dev/null -o ListenAddress="$server" -o UsePAM=no \
		-o StrictModes=no -o AuthorizedKeysFile="$work/user-key.pub" -o PermitRootLogin=yes -o PidFile=none \
		-o Subsystem='sftp internal-sftp'
}
ready() { ssh-keyscan -p 2222 -T 2 "$server" 2>/dev/null | grep -q ssh; }
by_ssh="-i $work/user-key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes"
