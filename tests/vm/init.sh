#!/bin/busybox sh
# Process 1 of the guest: the host's file system, read-only with a layer of memory over it, and one command.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in $(cat /modules/order); do insmod "/modules/$module"; done
mkdir -p /host /memory /root
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144,cache=loose root /host || poweroff -f
mount -t tmpfs -o size=2g memory /memory
mkdir -p /memory/upper /memory/work
mount -t overlay -o lowerdir=/host,upperdir=/memory/upper,workdir=/memory/work overlay /root || poweroff -f
number=0
while read -r folder; do
	[ -n "$folder" ] || continue
	number=$((number + 1))
	mkdir -p /place/$number /memory/place$number/upper /memory/place$number/work "/root$folder"
	mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144,cache=loose place$number /place/$number || poweroff -f
	mount -t overlay -o lowerdir=/place/$number,upperdir=/memory/place$number/upper,workdir=/memory/place$number/work overlay \
		"/root$folder" || poweroff -f
done </places
for at in proc sys dev; do mount --move /$at /root/$at; done
# The guest has a /tmp and a /run of its own; folders below the host's that it needs come back into them.
number=0
while read -r folder; do
	number=$((number + 1))
	mkdir -p /kept/$number
	mount --bind "/root$folder" /kept/$number
done </keep
for at in tmp run; do mount -t tmpfs $at /root/$at; done
number=0
while read -r folder; do
	number=$((number + 1))
	mkdir -p "/root$folder"
	mount --move /kept/$number "/root$folder"
done </keep
mkdir -p /root/run/kernel /root/dev/pts /root/dev/shm /root/run/netns
mount -t devpts devpts /root/dev/pts
mount -t tmpfs shm /root/dev/shm
mount -t bpf bpf /root/sys/fs/bpf
mount -t cgroup2 cgroup /root/sys/fs/cgroup 2>/dev/null
mount -t tracefs trace /root/sys/kernel/tracing 2>/dev/null
cp /job /root/run/job
if [ -e /job.service ]; then
	mkdir -p /root/run/systemd/system
	cp /job.service /root/run/systemd/system/
	mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144 share /root/mnt || poweroff -f
	exec switch_root /root /lib/systemd/systemd
fi
exec chroot /root /bin/bash /run/job
