"""What is expected of each way through each kind of pod network, by the place of hostint, and why."""

from collections import namedtuple

# For TCP and UDP, there and back: m most packets are measured, n coverage names why they are not, - nothing passes a program of
# hostint, x the way is none without hostint either.
Row = namedtuple("Row", "kinds place way tcp udp why")

ROUTED = "ptp bridge ipvs netkit"
TUNNELS = "vxlan geneve ipip wireguard"
SHARED = "macvlan ipvlan"
VETH = f"{ROUTED} bridge-masq {TUNNELS}"
ALL = f"{VETH} {SHARED}"

ROWS = [
    Row(ROUTED, "uplink", "pod to pod", "nn", "mm", "Segments of a pod's socket that its node forwards have no room for the option."),
    Row(ROUTED, "uplink", "pod to host", "nm", "mm", "The host's own sockets make room, the pod's do not."),
    Row(ROUTED, "uplink", "host to pod", "mn", "mm", "The host's own sockets make room, the pod's do not."),
    Row(ROUTED, "uplink", "service", "nn", "mm", "At the uplink the service's address is the pod's already, in both directions."),
    Row(ROUTED, "uplink", "node port", "nn", "mm", "Between the nodes it is a flow of the node's address; beyond there is no lease."),
    Row("bridge-masq", "uplink", "pod to pod", "nn", "mn", "The other node would give a probe's answer its own address: no way back is proved."),
    Row("bridge-masq", "uplink", "pod to host", "nm", "mm", "On the wire it is a flow between the nodes' addresses, whose sockets are the pod's and the host's."),
    Row("bridge-masq", "uplink", "host to pod", "mn", "mn", "As from pod to pod."),
    Row("bridge-masq", "uplink", "service", "nn", "mn", "As from pod to pod."),
    Row("bridge-masq", "uplink", "node port", "nn", "mn", "As from pod to pod."),
    Row(SHARED, "uplink", "pod to pod", "mm", "mm", "Segments reach the uplink with their socket, which makes room: as the host's own."),
    Row(SHARED, "uplink", "pod to host", "mm", "mm", "As from pod to pod."),
    Row(SHARED, "uplink", "host to pod", "mm", "mm", "As from pod to pod."),
    Row(SHARED, "uplink", "node port", "nm", "mm", "The client's socket is outside; the pod's makes room."),
    Row(TUNNELS, "uplink", "pod to pod", "--", "--", "Only the outer packets pass the uplink: they are one class, of UDP port 8472."),
    Row(TUNNELS, "uplink", "host to pod", "--", "--", "As from pod to pod."),
    Row(TUNNELS, "uplink", "service", "--", "--", "As from pod to pod."),
    Row(TUNNELS, "uplink", "pod to host", "nm", "mm", "It is masqueraded and leaves without the tunnel."),
    Row(TUNNELS, "uplink", "node port", "-n", "-n", "To the pod it goes in the tunnel; what leaves to the outside has no lease."),
    Row(ALL, "uplink", "pod to outside", "n-", "n-", "There is no sink outside: no lease."),
    Row(ALL, "uplink", "same node", "--", "--", "It does not pass the uplink."),

    Row(ROUTED, "veth", "pod to pod", "mm", "mm", "At the veth's ingress packets still have their socket, which makes room."),
    Row(ROUTED, "veth", "pod to host", "m-", "m-", "As from pod to pod; what the host sends passes no source."),
    Row(ROUTED, "veth", "host to pod", "-m", "-m", "As from pod to pod; what the host sends passes no source."),
    Row("bridge-masq", "veth", "pod to pod", "nm", "nn", "What leaves is masqueraded behind its veth: no lease; segments of answers need no proof of the way back."),
    Row("bridge-masq", "veth", "pod to host", "n-", "n-", "As from pod to pod; what the host sends passes no source."),
    Row("bridge-masq", "veth", "host to pod", "-m", "-n", "As from pod to pod; what the host sends passes no source."),
    Row(TUNNELS, "veth", "pod to pod", "nn", "nn", "The question goes into the tunnel, and passes no sink: no lease, which coverage says."),
    Row(TUNNELS, "veth", "pod to host", "n-", "n-", "As from pod to pod; what the host sends passes no source."),
    Row(TUNNELS, "veth", "host to pod", "-n", "-n", "As from pod to pod; what the host sends passes no source."),
    Row(ROUTED, "uplink and veth", "pod to pod", "mm", "mm", "At the veth's ingress packets still have their socket, which makes room."),
    Row(ROUTED, "uplink and veth", "pod to host", "mm", "mm", "The pod's packets are tagged at its veth, the host's at the uplink."),
    Row(ROUTED, "uplink and veth", "host to pod", "mm", "mm", "The pod's packets are tagged at its veth, the host's at the uplink."),
    Row(ROUTED, "uplink and veth", "service", "nm", "mm", "To the service's address there is no lease; datagrams are tagged at the uplink, where it is the pod's."),
    Row(ROUTED, "uplink and veth", "node port", "nn", "mm", "As at the uplink: the pod's answers go to a node's address, which asks for no lease there."),
    Row("bridge-masq", "uplink and veth", "pod to pod", "nm", "mn", "What leaves is masqueraded behind its veth: no lease; segments of answers need no proof of the way back."),
    Row("bridge-masq", "uplink and veth", "pod to host", "nm", "mm", "As at the uplink."),
    Row("bridge-masq", "uplink and veth", "host to pod", "mm", "mn", "As at the uplink."),
    Row("bridge-masq", "uplink and veth", "service", "nm", "mn", "As at the uplink."),
    Row("bridge-masq", "uplink and veth", "node port", "nn", "mn", "As at the uplink."),
    Row(TUNNELS, "uplink and veth", "pod to pod", "nn", "nn", "The question goes into the tunnel, and passes no sink: no lease, which coverage says."),
    Row(TUNNELS, "uplink and veth", "pod to host", "nm", "mm", "As at the uplink."),
    Row(TUNNELS, "uplink and veth", "host to pod", "-n", "-n", "As from pod to pod."),
    Row(TUNNELS, "uplink and veth", "service", "nn", "nn", "As from pod to pod."),
    Row(TUNNELS, "uplink and veth", "node port", "-n", "-n", "As from pod to pod."),
    Row(VETH, "uplink and veth", "pod to outside", "n-", "n-", "There is no sink outside: no lease."),
    Row(VETH, "uplink and veth", "same node", "nn", "nn", "No sink is in front of the other pod: no lease."),
    Row(ROUTED, "veth", "service", "nm", "nm", "To the service's address there is no lease, because nobody answers for one pod; answers are the pod's."),
    Row("bridge-masq", "veth", "service", "nm", "nn", "As from pod to pod."),
    Row(TUNNELS, "veth", "service", "nn", "nn", "As from pod to pod."),
    Row(VETH, "veth", "node port", "-n", "-n", "As from pod to pod."),
    Row(VETH, "veth", "pod to outside", "n-", "n-", "There is no sink outside: no lease."),
    Row(VETH, "veth", "same node", "nn", "nn", "No sink is in front of the other pod: no lease."),

    Row(f"{ROUTED} {TUNNELS} {SHARED}", "pod", "pod to pod", "mm", "mm", "The pod is a host of its own, whatever is beneath, tunnels too."),
    Row("bridge-masq", "pod", "pod to pod", "nn", "nn", "Questions are masqueraded: no lease."),
    Row(ALL, "pod", "same node", "mm", "mm", "The pod is a host of its own."),
    Row(ALL, "pod", "pod to host", "n-", "n-", "The host has no sink here: no lease."),
    Row(ALL, "pod", "host to pod", "-n", "-n", "The host has no sink here: no lease."),
    Row(VETH, "pod", "service", "nn", "nn", "To the service's address there is no lease; answers arrive from another address than they left from."),
    Row(ALL, "pod", "node port", "-n", "-n", "The node has no sink here: no lease."),
    Row(ALL, "pod", "pod to outside", "n-", "n-", "There is no sink outside: no lease."),
]


def expected(kind, place, way):
    """The row that says what is expected, or None."""
    way = way.split(",")[0]
    return next((row for row in ROWS if kind in row.kinds.split() and place == row.place and row.way == way), None)
