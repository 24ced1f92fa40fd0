# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_hostint_global_optspecs
    string join \n bpffs= h/help V/version
end

function __fish_hostint_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_hostint_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_hostint_using_subcommand
    set -l cmd (__fish_hostint_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c hostint -n "__fish_hostint_needs_command" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_needs_command" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_needs_command" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "sink" -d 'Strip INT from received packets, measure flows and report (a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "source" -d 'Tag packets to watched destinations with INT'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "collect" -d 'Receive telemetry reports and print them'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "history" -d 'Ask the history that a collector keeps, while it runs or later'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "status" -d 'Show what runs on this host, its counters and flows'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l config -d 'Read settings from [sink] and [[watch]] of this TOML file; flags win. SIGHUP reads it again' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l dev -d 'Interface to strip INT on (required); repeat for several' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l node-id -d 'This host\'s INT node id, unique in the INT domain (required)' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l hook -d 'Where to look at packets [default: xdp]' -r -f -a "xdp\t'XDP: before anything else, for network cards'
tc\t'TC ingress (tcx, kernel 6.6 or newer): for veth and containers, where superpackets arrive whole'"
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l xdp-mode -d 'How to attach the XDP program [default: auto]' -r -f -a "auto\t'native, else generic'
native\t'in the driver'
generic\t'in the stack: works everywhere, costs more'"
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l nic-timestamps -d 'Let the network card say when packets came, where its driver does; its clock must be kept to the host\'s' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l encap -d 'Encapsulations to recognise, separated by commas [default: all of over-tcp-udp,extension-udp,vxlan-gpe]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l dscp-value -d 'DSCP value that marks over-tcp-udp packets [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l dscp-mask -d 'DSCP bits that the mark consists of [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l extension-port -d 'UDP destination port of extension-udp packets [default: 33122]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l report-period -d 'Report each flow\'s latency at least this often [default: 2s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l summary-period -d 'Tell collectors so often the totals of each flow that had packets, from 1s; 0s: never [default: 0s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l loss-timeout -d 'A missing sequence number is lost after this time [default: 200ms]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l idle-flow-timeout -d 'Forget flows that are idle for this time [default: 2m]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l latency-buckets -d 'Edges of the latency buckets, up to 16; a flow\'s change to another bucket is reported [default: 5us,10us,20us,40us,60us,120us]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l bucket-hold -d 'Report a flow\'s bucket changes at most this often [default: 100ms]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l collector -d 'Send reports to this collector, default port 32766; repeat for several' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l spread -d 'Send each report to one of the collectors instead of all: both directions of a flow to the same one, and to another while it is silent' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l report-format -d 'Version of Telemetry Report that collectors get [default: v0.5]' -r -f -a "v0.5\t'Host-INT\'s reports, and hostint\'s own'
v1.0\t'standard reports of single packets; losses as v0.5'
v2.0\t'standard reports, several in a datagram'"
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l report-to-sender -d 'Send each report to the sender of the reported packet too [default port: 32766]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l report-log -d 'Append each report to this file; SIGUSR1 reopens it' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l log-format -d 'Form of the report log [default: host-int]' -r -f -a "host-int\t'Host-INT\'s text line'
json\t'one JSON object a line, as hostint collect --json prints'"
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l no-node-id-word -d 'Leave the sink\'s node id out of latency reports' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l compat -d 'Write reports that collectors of this implementation understand: without queue depth' -r -f -a "host-int\t'the original Host-INT'"
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l drop-tagged -d 'Measure tagged packets, then drop them instead of stripping them: for tests of reports' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l max-flows -d 'Size of the flow table [default: 65536]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l allow -d 'Strip packets from these addresses too, not only from hosts that hold a lease: for sources of Host-INT, and those that watch with --static; repeat for several' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l strict -d 'Drop packets that are tagged by hosts without a lease and not of --allow, instead of passing them on with INT' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l lease-key -d 'File with the key of lease messages, 32 hexadecimal digits, the same on all hosts. Without one, any host that can ping this one can get a lease' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l max-new-flows -d 'Track at most so many new flows a second from one source address, and five times as many in all; 0: no limit [default: 10000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l max-reports -d 'Make at most so many reports a second about flows from one source address, and five times as many in all; 0: no limit [default: 10000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l control -d 'Socket by which root and the group hostint ask this daemon for the status [default: /run/hostint/control.NAMESPACE.sock]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l http -d 'Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13276, to whoever reaches it; 127.0.0.1 for this host alone [default: no HTTP]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l otlp -d 'Push metrics by OTLP/HTTP to this URL, /v1/metrics behind it, such as http://192.0.2.9:4318' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l remote-write -d 'Push metrics by Prometheus remote write to this URL, such as http://192.0.2.9:9090/api/v1/write' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l push-interval -d 'Push metrics so often, from 1s to 1h [default: 15s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l push-headers-file -d 'File with HTTP headers for --otlp and --remote-write, a line as "Name: value" for each; others must not be able to read it' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l push-instance -d 'What tells these metrics from those of others (the label instance, service.instance.id) [default: the host\'s name, of a sink with /NODE-ID behind it]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l detach -d 'Detach the sink from --dev, or from all interfaces, and end. Sources stop tagging first, which takes a second'
complete -c hostint -n "__fish_hostint_using_subcommand sink" -l now -d 'With --detach: at once, although sources may still tag'
complete -c hostint -n "__fish_hostint_using_subcommand sink" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand sink" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "attach" -d 'Attach the source to interfaces'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "detach" -d 'Detach the source; with the last interface, destinations are no longer watched either'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "add-dest" -d 'Watch destinations, at once'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "del-dest" -d 'Stop watching destinations, at once'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "rules" -d 'List all rules of the watchlist, those of the config file too'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "dests" -d 'List the watched destinations'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l config -d 'Read settings from [source] and [[watch]] of this TOML file; flags win. With --foreground SIGHUP reads it again' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l dev -d 'Interface whose packets are tagged (required); repeat for several' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l node-id -d 'This host\'s INT node id [default: the running sink\'s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l hook -d 'Where to look at packets [default: tc]' -r -f -a "tc\t'TC egress of the interface (tcx where the kernel has it, else clsact)'
tc-ingress\t'TC ingress of a veth whose peer is a container or guest'
xdp\t'XDP on a veth whose peer is a container or guest: extension-udp only'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l encap -d 'How INT is carried: over-tcp-udp, extension-udp or vxlan-gpe [default: over-tcp-udp; with --hook xdp extension-udp]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l superpackets -d 'What becomes of superpackets (GSO) [default: encap; with --compat or --hook xdp skip]' -r -f -a "encap\t'TCP is encapsulated whole as vxlan-gpe, whose header each segment repeats; UDP goes untagged'
encap-all\t'UDP too: only where the receiving side strips at XDP'
stage\t'segmented by a veth pair first, then tagged one by one: costs throughput'
no-gso\t'the interface is told to send none (gso_max_segs 1): costs more; UDP and running flows may still send some'
skip\t'untagged, counted in segments'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l compat -d 'Write what sinks of this implementation understand' -r -f -a "host-int\t'the original Host-INT'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l dscp-value -d 'DSCP value that marks over-tcp-udp packets [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l dscp-mask -d 'DSCP bits that the mark consists of [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l extension-port -d 'UDP destination port of extension-udp packets [default: 33122]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l mtu -d 'Longest IP packet with INT [default: the interface\'s MTU, followed live]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l dest-file -d 'File of destinations to watch: a name, address or prefix a line, # begins a comment' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l static -d 'Tag to the destinations of --dest-file whether a sink answers or not: for sinks of Host-INT' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l idle-flow-timeout -d 'Forget flows that are idle for this time [default: 2m]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l max-flows -d 'Size of the flow table [default: 65536, or as it is]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l force -d 'Attach although no sink runs on this host' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l lease-key -d 'File with the key of lease messages, as hostint sink has it; needs --foreground' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l no-mss-clamp -d 'Change nothing in what comes back: neither the MSS of TCP nor ICMP errors about tagged packets' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l foreground -d 'Stay in the foreground and keep clock, flow table and leases, on a host where no sink does'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l no-tcx -d 'Use a clsact filter even where the kernel has tcx'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from detach" -l dev -d 'Only from this interface; repeat for several' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from detach" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from detach" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from detach" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -l dest-file -d 'Read destinations from a file: one a line, # begins a comment' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -l static -d 'Tag whether a sink answers or not: for sinks of Host-INT. A host without a sink gets INT in its data'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from del-dest" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from del-dest" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from del-dest" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from rules" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from rules" -l json -d 'Print one JSON object (schema hostint.rules/1)'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from rules" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from rules" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from dests" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from dests" -l json -d 'Print one JSON object (schema hostint.dests/1)'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from dests" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from dests" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "attach" -d 'Attach the source to interfaces'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "detach" -d 'Detach the source; with the last interface, destinations are no longer watched either'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "add-dest" -d 'Watch destinations, at once'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "del-dest" -d 'Stop watching destinations, at once'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "rules" -d 'List all rules of the watchlist, those of the config file too'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "dests" -d 'List the watched destinations'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l config -d 'Read settings from [collect] and [[watch]] of this TOML file; flags win. SIGHUP reads it again' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l listen -d 'Address to receive on, default port 32766; repeat for several [default: 0.0.0.0:32766 and [::]:32766]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l json -d 'One JSON object a line (schema hostint.report/1)' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l output -d 'Append the lines to this file, instead of standard output; SIGUSR1 and SIGHUP reopen it' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l output-size -d 'Rotate --output before it is larger than this, such as 100M' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l output-keep -d 'How many rotated files to keep [default: 5]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l drop-reasons -d 'Names of drop reason codes: int-host-reporter, p4lang-switch, or a file that has a line as 80 = "acl deny" for each [default: int-host-reporter]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l http -d 'Serve a page of the history, metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13277, to whoever reaches it; 127.0.0.1 for this host alone [default: no HTTP]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l receivers -d 'Threads that receive; one more decodes [default: 2, on a host with one or two CPUs 1]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l queue -d 'Memory for datagrams that wait to be decoded; more are dropped and counted [default: 64M]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l store -d 'Keep reports in this file, for hostint history; none keeps nothing, and --read only what a file is named for [default: /var/lib/hostint/history.db, for others than root ~/.local/state/hostint/history.db]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l store-size -d 'Most that the store may take; the oldest reports go first, then the finest roll-ups [default: 4G]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l store-queue -d 'Most memory of reports that wait for the store [default: 64M]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l store-flows -d 'Most flows that are followed at a time; reports of others count for their nodes and class only [default: 200000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l keep-raw -d 'Keep single reports for this time [default: 1day]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l keep-10s -d 'Keep figures of each ten seconds for this time [default: 1day]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l keep-1m -d 'Keep figures of each minute for this time [default: 14days]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l keep-1h -d 'Keep figures of each hour for this time [default: 1year]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l engine-queue -d 'Most memory of reports that wait for an engine, for each; more are dropped and counted [default: 64M]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l clickhouse -d 'Insert reports into a table of ClickHouse, at the URL of its HTTP interface, such as http://host:8123/' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l clickhouse-database -d 'Database of the table [default: hostint]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l clickhouse-table -d 'Table, made by share/hostint/clickhouse/schema.sql [default: reports]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l clickhouse-user -d 'User who inserts [default: that of the server]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l clickhouse-password-file -d 'File with the user\'s password, which only its owner may read [default: no password]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l ipfix -d 'Export flow records to this IPFIX collector, default port 4739' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l ipfix-transport -d 'How messages travel [default: tcp]' -r -f -a "tcp\t'a collector tells that it has read everything; else it is sent again'
udp\t'for collectors that know nothing else, as those of nfdump and pmacct: nobody tells that anything arrived'"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l ipfix-domain -d 'Observation domain ID of the messages [default: 0]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l ipfix-interval -d 'A flow has a record for so long, 100ms to 10m; for less where many reports come [default: 10s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka -d 'Hand reports on to Kafka: a broker of the cluster, default port 9092; repeat for several' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-topic -d 'Topic of reports, which has to exist [default: hostint.reports.v1]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-clock-topic -d 'Topic of what the clocks of two nodes can be compared by, or none [default: hostint.clocks.v1]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-compression -d 'How messages are compressed [default: lz4]' -r -f -a "none\t''
gzip\t''
lz4\t''
snappy\t''
zstd\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-tls -d 'TLS to brokers, with the certificates that this system trusts' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-user -d 'User at the brokers, by SASL [default: none]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-password-file -d 'File with the user\'s password' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-sasl -d 'How the user is proved; plain shows the password to who can read the network, without TLS [default: scram-sha-512]' -r -f -a "plain\t''
scram-sha-256\t''
scram-sha-512\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l otlp-reports -d 'Hand reports on to the receiver of --otlp, as logs, /v1/logs behind its URL' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l otlp -d 'Push metrics by OTLP/HTTP to this URL, /v1/metrics behind it, such as http://192.0.2.9:4318' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l remote-write -d 'Push metrics by Prometheus remote write to this URL, such as http://192.0.2.9:9090/api/v1/write' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l push-interval -d 'Push metrics so often, from 1s to 1h [default: 15s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l push-headers-file -d 'File with HTTP headers for --otlp and --remote-write, a line as "Name: value" for each; others must not be able to read it' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l push-instance -d 'What tells these metrics from those of others (the label instance, service.instance.id) [default: the host\'s name, of a sink with /NODE-ID behind it]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l read -d 'Read reports from a capture (pcap, pcapng) or from JSON lines of hostint; - is standard input' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l port -d 'With --read: UDP port that a capture has reports at; repeat for several [default: 32766]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l count -d 'End after this many datagrams' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand collect" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -f -a "flows" -d 'Flows with most trouble'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -f -a "pairs" -d 'Latency or loss from each node to each other, and the pairs with most trouble'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -f -a "classes" -d 'Classes of traffic'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -f -a "flow" -d 'One flow, and its figures by time'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -f -a "series" -d 'Figures by time: of all reports, a pair of nodes, a class, or a flow'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -f -a "reports" -d 'Single reports, newest first'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -f -a "info" -d 'How much there is, and since when'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes flow series reports info help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it is there]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l since -d 'Since then: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l until -d 'Until then' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l sort -d 'How to sort flows, the largest first' -r -f -a "loss\t'most lost packets first'
latency\t'highest p99 latency first'
jitter\t'largest p99 - p50 first'
packets\t'most packets first'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l source -d 'Only from this node' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l sink -d 'Only to this node' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l class -d 'Only of this class' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l search -d 'Only flows that show all these words: addresses, ports, protocols, parts of them' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l limit -d 'How many flows to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l json -d 'Print one JSON object (schema hostint.history/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l csv -d 'Print CSV, with names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it is there]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l since -d 'Since then: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l until -d 'Until then' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l show -d 'What the matrix shows' -r -f -a "p50\t'latency that half of all do not exceed'
p99\t'latency that 99 % do not exceed'
jitter\t'p99 - p50'
loss\t'lost packets of all sent'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l sort -d 'How to sort the pairs' -r -f -a "loss\t'most lost packets first'
latency\t'highest p99 latency first'
jitter\t'largest p99 - p50 first'
packets\t'most packets first'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l limit -d 'How many pairs to list; as JSON and CSV all are' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l json -d 'Print one JSON object (schema hostint.history/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l csv -d 'Print CSV, with names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it is there]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l since -d 'Since then: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l until -d 'Until then' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l json -d 'Print one JSON object (schema hostint.history/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l csv -d 'Print CSV, with names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it is there]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l since -d 'Since then: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l until -d 'Until then' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l points -d 'About how many times to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l json -d 'Print one JSON object (schema hostint.history/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l csv -d 'Print CSV, with names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it is there]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l since -d 'Since then: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l until -d 'Until then' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l source -d 'From this node, with --sink' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l sink -d 'To this node, with --source' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l class -d 'Of this class' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l flow -d 'Of this flow, by its number' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l points -d 'About how many times to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l json -d 'Print one JSON object (schema hostint.history/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l csv -d 'Print CSV, with names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it is there]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l since -d 'Since then: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l until -d 'Until then' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l source -d 'From this node, with --sink' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l sink -d 'To this node, with --source' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l class -d 'Of this class' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l flow -d 'Of this flow, by its number' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l limit -d 'How many reports to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l json -d 'Print one JSON object (schema hostint.history/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l csv -d 'Print CSV, with names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it is there]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l since -d 'Since then: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l until -d 'Until then' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l json -d 'Print one JSON object (schema hostint.history/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l csv -d 'Print CSV, with names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "flows" -d 'Flows with most trouble'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "pairs" -d 'Latency or loss from each node to each other, and the pairs with most trouble'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "classes" -d 'Classes of traffic'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "flow" -d 'One flow, and its figures by time'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "series" -d 'Figures by time: of all reports, a pair of nodes, a class, or a flow'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "reports" -d 'Single reports, newest first'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "info" -d 'How much there is, and since when'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand status" -l flows -d 'How many flows to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand status" -l sort -d 'How to sort flows' -r -f -a "loss\t'most lost packets first'
latency\t'highest mean latency first'
packets\t'most packets first'"
complete -c hostint -n "__fish_hostint_using_subcommand status" -l peers -d 'How many peers of the source to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand status" -l watch -d 'Show flows, counters and peers on the whole screen, and look again every so many seconds [default: 1]; with --json a line each time' -r
complete -c hostint -n "__fish_hostint_using_subcommand status" -l control -d 'Socket of the sink\'s daemon, which is asked where this user may not read the host\'s state [default: /run/hostint/control.NAMESPACE.sock]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand status" -l config -d 'With --preflight: look at what the daemons would use by this TOML file: interfaces, collectors, lease key [default: HOSTINT_CONFIG, or /etc/hostint/hostint.toml if it is there]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand status" -l dev -d 'With --preflight: look at this interface, not at those of the config file; repeat for several' -r
complete -c hostint -n "__fish_hostint_using_subcommand status" -l collector -d 'With --preflight: look for a way to this collector, not to those of the config file; repeat for several' -r
complete -c hostint -n "__fish_hostint_using_subcommand status" -l check-config -d 'Only read this config file, and say all that is wrong with it' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand status" -l bpffs -d 'BPF file system to pin in, below hostint/ and the network namespace\'s number [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand status" -l all -d 'Show counters that are 0 too'
complete -c hostint -n "__fish_hostint_using_subcommand status" -l json -d 'Print one JSON object (schema hostint.status/1, with --preflight hostint.preflight/1, with --check-config hostint.config-check/1)'
complete -c hostint -n "__fish_hostint_using_subcommand status" -l preflight -d 'Show instead whether this host has what hostint needs, and what to do where not; changes nothing. Exit code 1 if something fails'
complete -c hostint -n "__fish_hostint_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand status" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source collect history status help" -f -a "sink" -d 'Strip INT from received packets, measure flows and report (a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source collect history status help" -f -a "source" -d 'Tag packets to watched destinations with INT'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source collect history status help" -f -a "collect" -d 'Receive telemetry reports and print them'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source collect history status help" -f -a "history" -d 'Ask the history that a collector keeps, while it runs or later'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source collect history status help" -f -a "status" -d 'Show what runs on this host, its counters and flows'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source collect history status help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "attach" -d 'Attach the source to interfaces'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "detach" -d 'Detach the source; with the last interface, destinations are no longer watched either'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "add-dest" -d 'Watch destinations, at once'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "del-dest" -d 'Stop watching destinations, at once'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "rules" -d 'List all rules of the watchlist, those of the config file too'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "dests" -d 'List the watched destinations'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "flows" -d 'Flows with most trouble'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "pairs" -d 'Latency or loss from each node to each other, and the pairs with most trouble'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "classes" -d 'Classes of traffic'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "flow" -d 'One flow, and its figures by time'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "series" -d 'Figures by time: of all reports, a pair of nodes, a class, or a flow'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "reports" -d 'Single reports, newest first'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "info" -d 'How much there is, and since when'
