# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_hostint_global_optspecs
    string join \n bpffs= log-level= v/verbose h/help V/version
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

complete -c hostint -n "__fish_hostint_needs_command" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_needs_command" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_needs_command" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_needs_command" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_needs_command" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "sink" -d 'Strip INT from received packets, measure flows and report them (a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "source" -d 'Tag packets to watched destinations with INT (without a subcommand a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "transit" -d 'Push this host\'s entry onto packets with INT that pass through it (without a subcommand a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "postcards" -d 'Tell what this host drops and delays; no packet is changed (a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "tcp" -d 'Tell the state of TCP connections, and what limits them; none is changed (a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "collect" -d 'Receive telemetry reports and print them'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "history" -d 'Query the history that a collector keeps, while it runs or later'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "status" -d 'Show what hostint does on this host, with counters and flows'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "demo" -d 'See hostint at work on this machine, in a small network of its own'
complete -c hostint -n "__fish_hostint_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l config -d 'Read settings from [sink] and [[watch]] of this TOML file; flags override them. SIGHUP reloads the file' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l dev -d 'Interface to strip INT on (required); may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l node-id -d 'This host\'s INT node id, unique in the INT domain [default: that of its other roles, else derived from /etc/machine-id]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l node-name -d 'This host\'s name, which collectors and other hosts show beside its id [default: the host name]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l label -d 'Label of this host, such as rack=r7, which collectors show with its name; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l no-identity -d 'Tell neither collectors nor other hosts this host\'s name, labels and version' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l hook -d 'Hook at which the sink sees packets [default: auto, or xdp with --xdp-mode or --nic-timestamps]' -r -f -a "auto\t'tc on veth and other software interfaces, and where the driver has no native XDP; XDP on network cards'
xdp\t'XDP: before everything else, for network cards'
tc\t'TC ingress (tcx, kernel 6.6 or newer): for veth and containers, where superpackets arrive whole'"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l xdp-mode -d 'Mode in which the XDP program is attached [default: auto]' -r -f -a "auto\t'native if possible, otherwise generic'
native\t'in the driver'
generic\t'in the stack: works everywhere, costs more'"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l nic-timestamps -d 'Take arrival times from the network card where its driver provides them; its clock must be synchronised with the host\'s' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l host-times -d 'Tell collectors how long packets wait in this host: what it tags in send buffers, in the stack and in the queue of the interface, and what it receives until the application reads it' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l clock-error -d 'This host\'s clock is off by no more than this while the kernel says that it is synchronised, such as 2us [default: what its time daemon tells the kernel]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l encap -d 'Encapsulations to recognise, separated by commas [default: over-tcp-udp,extension-udp,vxlan-gpe,ioam, and with --int-dscp int-md]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l dscp-value -d 'DSCP value that marks over-tcp-udp packets [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l dscp-mask -d 'DSCP bits that belong to the mark [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l extension-port -d 'UDP destination port of extension-udp packets [default: 33122]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l int-dscp -d 'DSCP value that marks int-md packets, and of which bits if not of all: 0x17 or 0x01/0x01' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l report-period -d 'Report each flow\'s latency at least once in this time [default: 2s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l summary-period -d 'Report the totals of source nodes, classes and flows once in this time, from 1s; 0s: never [default: 10s; with --compat 0s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l loss-timeout -d 'Count a missing sequence number as lost after this time [default: 200ms]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l idle-flow-timeout -d 'Forget flows that have been idle for this time [default: 2m]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l latency-buckets -d 'Edges of the latency buckets, up to 16; a flow\'s change to another bucket is reported [default: 5us,10us,20us,40us,60us,120us]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l bucket-hold -d 'Report a flow\'s bucket changes at most once in this time [default: 100ms]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l collector -d 'Send reports to this collector, default port 32766; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l spread -d 'Send each report to one of the collectors instead of all: both directions of a flow to the same one, or to another one while that is silent' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l report-format -d 'Version of Telemetry Report that collectors get [default: v0.5]' -r -f -a "v0.5\t'Host-INT\'s reports and hostint\'s own'
v1.0\t'standard reports of single packets; losses as in v0.5'
v2.0\t'standard reports, several in a datagram'"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l report-to-sender -d 'Send each report to the sender of the reported packet too [default port: 32766]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l report-log -d 'Append each report to this file; SIGUSR1 reopens it' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l log-format -d 'Format of the report log [default: host-int]' -r -f -a "host-int\t'Host-INT\'s text lines'
json\t'one JSON object per line, as hostint collect --json prints'"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l no-node-id-word -d 'Leave the sink\'s node id out of latency reports' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l no-packet-headers -d 'Tell of a packet\'s headers only the flow that they name' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l compat -d 'Restrict reports to fields that this implementation understands: no queue depth' -r -f -a "host-int\t'the original Host-INT'"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l drop-tagged -d 'Drop tagged packets after measuring instead of stripping them: for tests of reports' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l max-flows -d 'Number of flows that the flow table holds [default: 65536]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l max-fine-flows -d 'Number of flows whose latencies are counted in fine slots, 3.5 kB each; quantiles of others are rough, within a factor of 2 [default: 16384]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l allow -d 'Strip packets from these addresses even without a lease: for sources of Host-INT and sources that use --static; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l strict -d 'Drop packets tagged by hosts that have no lease and are not covered by --allow, instead of passing them on with INT' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l lease-key -d 'File with the key of lease messages, 32 hexadecimal digits, the same on all hosts. Without a key, any host that can ping this one can get a lease' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l max-new-flows -d 'Track at most this many new flows a second from one source address, and five times as many in all; 0: no limit [default: 10000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l max-reports -d 'Make at most this many reports a second about flows from one source address, and five times as many in all; 0: no limit [default: 10000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l max-summaries -d 'Send at most this many summaries a second. Totals of source nodes and classes come first, then flows with losses, then large ones [default: 50]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l control -d 'Socket on which root and the group hostint ask this daemon for its status [default: /run/hostint/control.NAMESPACE.sock]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l http -d 'Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13276, without authentication; 127.0.0.1 restricts it to this host [default: no HTTP]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l otlp -d 'Push metrics by OTLP/HTTP to this URL, such as http://192.0.2.9:4318; /v1/metrics is appended' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l remote-write -d 'Push metrics by Prometheus remote write to this URL, such as http://192.0.2.9:9090/api/v1/write' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l push-interval -d 'Interval between pushes, 1s to 1h [default: 15s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l push-headers-file -d 'File with HTTP headers for --otlp and --remote-write, one line such as "Name: value" for each; readable by its owner only' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l push-instance -d 'Name that distinguishes these metrics from other senders\' (the label instance, service.instance.id) [default: the host\'s name, for a sink followed by /NODE-ID]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l detach -d 'The older spelling of `sink detach`'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -l now -d 'The older spelling of `sink detach --now`'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -f -a "attach" -d 'Attach the sink and exit: packets are stripped and counted, and nothing is reported until a daemon runs'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -f -a "detach" -d 'Detach the sink. Sources stop tagging first, which takes a second'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and not __fish_seen_subcommand_from attach detach help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l config -d 'Read settings from [sink] and [[watch]] of this TOML file; flags override them. SIGHUP reloads the file' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l dev -d 'Interface to strip INT on (required); may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l node-id -d 'This host\'s INT node id, unique in the INT domain [default: that of its other roles, else derived from /etc/machine-id]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l node-name -d 'This host\'s name, which collectors and other hosts show beside its id [default: the host name]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l label -d 'Label of this host, such as rack=r7, which collectors show with its name; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l no-identity -d 'Tell neither collectors nor other hosts this host\'s name, labels and version' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l hook -d 'Hook at which the sink sees packets [default: auto, or xdp with --xdp-mode or --nic-timestamps]' -r -f -a "auto\t'tc on veth and other software interfaces, and where the driver has no native XDP; XDP on network cards'
xdp\t'XDP: before everything else, for network cards'
tc\t'TC ingress (tcx, kernel 6.6 or newer): for veth and containers, where superpackets arrive whole'"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l xdp-mode -d 'Mode in which the XDP program is attached [default: auto]' -r -f -a "auto\t'native if possible, otherwise generic'
native\t'in the driver'
generic\t'in the stack: works everywhere, costs more'"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l nic-timestamps -d 'Take arrival times from the network card where its driver provides them; its clock must be synchronised with the host\'s' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l host-times -d 'Tell collectors how long packets wait in this host: what it tags in send buffers, in the stack and in the queue of the interface, and what it receives until the application reads it' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l clock-error -d 'This host\'s clock is off by no more than this while the kernel says that it is synchronised, such as 2us [default: what its time daemon tells the kernel]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l encap -d 'Encapsulations to recognise, separated by commas [default: over-tcp-udp,extension-udp,vxlan-gpe,ioam, and with --int-dscp int-md]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l dscp-value -d 'DSCP value that marks over-tcp-udp packets [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l dscp-mask -d 'DSCP bits that belong to the mark [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l extension-port -d 'UDP destination port of extension-udp packets [default: 33122]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l int-dscp -d 'DSCP value that marks int-md packets, and of which bits if not of all: 0x17 or 0x01/0x01' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l report-period -d 'Report each flow\'s latency at least once in this time [default: 2s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l summary-period -d 'Report the totals of source nodes, classes and flows once in this time, from 1s; 0s: never [default: 10s; with --compat 0s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l loss-timeout -d 'Count a missing sequence number as lost after this time [default: 200ms]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l idle-flow-timeout -d 'Forget flows that have been idle for this time [default: 2m]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l latency-buckets -d 'Edges of the latency buckets, up to 16; a flow\'s change to another bucket is reported [default: 5us,10us,20us,40us,60us,120us]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l bucket-hold -d 'Report a flow\'s bucket changes at most once in this time [default: 100ms]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l collector -d 'Send reports to this collector, default port 32766; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l spread -d 'Send each report to one of the collectors instead of all: both directions of a flow to the same one, or to another one while that is silent' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l report-format -d 'Version of Telemetry Report that collectors get [default: v0.5]' -r -f -a "v0.5\t'Host-INT\'s reports and hostint\'s own'
v1.0\t'standard reports of single packets; losses as in v0.5'
v2.0\t'standard reports, several in a datagram'"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l report-to-sender -d 'Send each report to the sender of the reported packet too [default port: 32766]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l report-log -d 'Append each report to this file; SIGUSR1 reopens it' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l log-format -d 'Format of the report log [default: host-int]' -r -f -a "host-int\t'Host-INT\'s text lines'
json\t'one JSON object per line, as hostint collect --json prints'"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l no-node-id-word -d 'Leave the sink\'s node id out of latency reports' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l no-packet-headers -d 'Tell of a packet\'s headers only the flow that they name' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l compat -d 'Restrict reports to fields that this implementation understands: no queue depth' -r -f -a "host-int\t'the original Host-INT'"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l drop-tagged -d 'Drop tagged packets after measuring instead of stripping them: for tests of reports' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l max-flows -d 'Number of flows that the flow table holds [default: 65536]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l max-fine-flows -d 'Number of flows whose latencies are counted in fine slots, 3.5 kB each; quantiles of others are rough, within a factor of 2 [default: 16384]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l allow -d 'Strip packets from these addresses even without a lease: for sources of Host-INT and sources that use --static; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l strict -d 'Drop packets tagged by hosts that have no lease and are not covered by --allow, instead of passing them on with INT' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l lease-key -d 'File with the key of lease messages, 32 hexadecimal digits, the same on all hosts. Without a key, any host that can ping this one can get a lease' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l max-new-flows -d 'Track at most this many new flows a second from one source address, and five times as many in all; 0: no limit [default: 10000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l max-reports -d 'Make at most this many reports a second about flows from one source address, and five times as many in all; 0: no limit [default: 10000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l max-summaries -d 'Send at most this many summaries a second. Totals of source nodes and classes come first, then flows with losses, then large ones [default: 50]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l control -d 'Socket on which root and the group hostint ask this daemon for its status [default: /run/hostint/control.NAMESPACE.sock]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l http -d 'Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13276, without authentication; 127.0.0.1 restricts it to this host [default: no HTTP]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l otlp -d 'Push metrics by OTLP/HTTP to this URL, such as http://192.0.2.9:4318; /v1/metrics is appended' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l remote-write -d 'Push metrics by Prometheus remote write to this URL, such as http://192.0.2.9:9090/api/v1/write' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l push-interval -d 'Interval between pushes, 1s to 1h [default: 15s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l push-headers-file -d 'File with HTTP headers for --otlp and --remote-write, one line such as "Name: value" for each; readable by its owner only' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l push-instance -d 'Name that distinguishes these metrics from other senders\' (the label instance, service.instance.id) [default: the host\'s name, for a sink followed by /NODE-ID]' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from attach" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from detach" -l dev -d 'Detach only from this interface; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from detach" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from detach" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from detach" -l now -d 'Detach immediately, although sources may still tag'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from detach" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from detach" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from detach" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from help" -f -a "attach" -d 'Attach the sink and exit: packets are stripped and counted, and nothing is reported until a daemon runs'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from help" -f -a "detach" -d 'Detach the sink. Sources stop tagging first, which takes a second'
complete -c hostint -n "__fish_hostint_using_subcommand sink; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l config -d 'Read settings from [source] and [[watch]] of this TOML file; flags override them. In the foreground SIGHUP reloads the file' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l dev -d 'Interface whose outgoing packets are tagged (required); may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l node-id -d 'This host\'s INT node id [default: that of its other roles, else derived from /etc/machine-id]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l hook -d 'Hook at which the source sees packets [default: tc]' -r -f -a "tc\t'TC egress of the interface (tcx if the kernel has it, otherwise clsact)'
tc-ingress\t'TC ingress of a veth whose peer is in a container or guest'
xdp\t'XDP on a veth whose peer is in a container or guest: extension-udp only'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l encap -d 'How packets carry INT: auto (vxlan-gpe, or extension-udp where only that passes), over-tcp-udp, extension-udp, vxlan-gpe, int-md (needs --int-dscp), or ioam (over IPv6, else as auto) [default: auto; with --hook xdp extension-udp, with --compat over-tcp-udp]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l superpackets -d 'How superpackets (GSO) are handled [default: encap; with --compat or --hook xdp skip]' -r -f -a "encap\t'TCP superpackets are sent whole in vxlan-gpe, whose header each segment repeats; UDP superpackets stay untagged'
encap-all\t'UDP superpackets in vxlan-gpe too: only if the receiving side strips at XDP (--hook xdp)'
stage\t'superpackets are segmented by a veth pair first, then tagged one by one: costs throughput'
no-gso\t'the interface is told to send none (gso_max_segs 1): costs more CPU; UDP and existing flows may still send some'
skip\t'superpackets stay untagged and are counted in segments'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l compat -d 'Restrict INT to the forms that sinks of this implementation understand' -r -f -a "host-int\t'the original Host-INT'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l dscp-value -d 'DSCP value that marks over-tcp-udp packets [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l dscp-mask -d 'DSCP bits that belong to the mark [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l extension-port -d 'UDP destination port of extension-udp packets [default: 33122]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l int-dscp -d 'DSCP value that marks int-md packets, and of which bits if not of all: 0x17 or 0x01/0x01' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l mode -d 'What transit hops do with packets in int-md: push their entries (md), or leave packets as they are and tell a collector of some of them (mx), where sinks read that; needs --encap int-md [default: md]' -r -f -a "md\t'INT-MD: they push entries onto packets'
mx\t'INT-MX: they change nothing, and tell their collectors of some packets'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l mx-sample -d 'With --mode mx: all transit hops and the sink tell of packets whose number is a multiple of this, a power of two up to 65536 [default: 64]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l mtu -d 'Length of the longest IP packet with INT [default: the interface\'s MTU, followed live]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l max-hops -d 'Number of INT transit hops that may push their entries, 0 to 8, where the sink reads them; packets leave room for them [default: 0; with --encap ioam 4 routers]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l path-items -d 'What entries of transit hops tell in vxlan-gpe and int-md besides node, ports and arrival: latency, or latency,queue. Without queue, entries have 4 bytes less, and hops push only where the sink\'s lease says that it reads that [default: latency,queue]' -r -f -a "latency\t'How long the hop had the packet'
queue\t'Packets in the queue of the interface by which it left'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l dest-file -d 'File of destinations to watch: one name, address or prefix per line; # begins a comment' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l static -d 'Tag packets to the destinations of --dest-file even if no sink answers; takes --compat or --encap' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l idle-flow-timeout -d 'Forget flows that have been idle for this time [default: 2m]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l max-flows -d 'Number of flows that the flow table holds [default: 65536, or unchanged]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l collector -d 'Tell this collector, default port 32766, which host this is and what it tagged; may be repeated. On a host with a sink the sink\'s daemon tells its own collectors; needs --foreground' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l node-name -d 'This host\'s name, which collectors and other hosts show beside its id [default: the host name]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l label -d 'Label of this host, such as rack=r7, which collectors show with its name; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l no-identity -d 'Tell neither collectors nor other hosts this host\'s name, labels and version' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l clock-error -d 'This host\'s clock is off by no more than this while the kernel says that it is synchronised, such as 2us [default: what its time daemon tells the kernel]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l force -d 'Attach even if no sink runs on this host' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l lease-key -d 'File with the key of lease messages, as for hostint sink; needs --foreground' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l no-mss-clamp -d 'Leave incoming packets unchanged: neither clamp the MSS of TCP nor translate ICMP errors about tagged packets' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -l no-tcx -d 'Use a clsact filter even if the kernel has tcx'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "attach" -d 'Attach the source to interfaces and exit: the sink\'s daemon looks after it'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "detach" -d 'Detach the source; detaching the last interface also clears the watchlist'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "add-dest" -d 'Watch destinations, with immediate effect'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "del-dest" -d 'Stop watching destinations, with immediate effect'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "rules" -d 'List all rules of the watchlist, including those of the config file'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "dests" -d 'List the watched destinations'
complete -c hostint -n "__fish_hostint_using_subcommand source; and not __fish_seen_subcommand_from attach detach add-dest del-dest rules dests help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l config -d 'Read settings from [source] and [[watch]] of this TOML file; flags override them. In the foreground SIGHUP reloads the file' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l dev -d 'Interface whose outgoing packets are tagged (required); may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l node-id -d 'This host\'s INT node id [default: that of its other roles, else derived from /etc/machine-id]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l hook -d 'Hook at which the source sees packets [default: tc]' -r -f -a "tc\t'TC egress of the interface (tcx if the kernel has it, otherwise clsact)'
tc-ingress\t'TC ingress of a veth whose peer is in a container or guest'
xdp\t'XDP on a veth whose peer is in a container or guest: extension-udp only'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l encap -d 'How packets carry INT: auto (vxlan-gpe, or extension-udp where only that passes), over-tcp-udp, extension-udp, vxlan-gpe, int-md (needs --int-dscp), or ioam (over IPv6, else as auto) [default: auto; with --hook xdp extension-udp, with --compat over-tcp-udp]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l superpackets -d 'How superpackets (GSO) are handled [default: encap; with --compat or --hook xdp skip]' -r -f -a "encap\t'TCP superpackets are sent whole in vxlan-gpe, whose header each segment repeats; UDP superpackets stay untagged'
encap-all\t'UDP superpackets in vxlan-gpe too: only if the receiving side strips at XDP (--hook xdp)'
stage\t'superpackets are segmented by a veth pair first, then tagged one by one: costs throughput'
no-gso\t'the interface is told to send none (gso_max_segs 1): costs more CPU; UDP and existing flows may still send some'
skip\t'superpackets stay untagged and are counted in segments'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l compat -d 'Restrict INT to the forms that sinks of this implementation understand' -r -f -a "host-int\t'the original Host-INT'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l dscp-value -d 'DSCP value that marks over-tcp-udp packets [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l dscp-mask -d 'DSCP bits that belong to the mark [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l extension-port -d 'UDP destination port of extension-udp packets [default: 33122]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l int-dscp -d 'DSCP value that marks int-md packets, and of which bits if not of all: 0x17 or 0x01/0x01' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l mode -d 'What transit hops do with packets in int-md: push their entries (md), or leave packets as they are and tell a collector of some of them (mx), where sinks read that; needs --encap int-md [default: md]' -r -f -a "md\t'INT-MD: they push entries onto packets'
mx\t'INT-MX: they change nothing, and tell their collectors of some packets'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l mx-sample -d 'With --mode mx: all transit hops and the sink tell of packets whose number is a multiple of this, a power of two up to 65536 [default: 64]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l mtu -d 'Length of the longest IP packet with INT [default: the interface\'s MTU, followed live]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l max-hops -d 'Number of INT transit hops that may push their entries, 0 to 8, where the sink reads them; packets leave room for them [default: 0; with --encap ioam 4 routers]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l path-items -d 'What entries of transit hops tell in vxlan-gpe and int-md besides node, ports and arrival: latency, or latency,queue. Without queue, entries have 4 bytes less, and hops push only where the sink\'s lease says that it reads that [default: latency,queue]' -r -f -a "latency\t'How long the hop had the packet'
queue\t'Packets in the queue of the interface by which it left'"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l dest-file -d 'File of destinations to watch: one name, address or prefix per line; # begins a comment' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l static -d 'Tag packets to the destinations of --dest-file even if no sink answers; takes --compat or --encap' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l idle-flow-timeout -d 'Forget flows that have been idle for this time [default: 2m]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l max-flows -d 'Number of flows that the flow table holds [default: 65536, or unchanged]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l collector -d 'Tell this collector, default port 32766, which host this is and what it tagged; may be repeated. On a host with a sink the sink\'s daemon tells its own collectors; needs --foreground' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l node-name -d 'This host\'s name, which collectors and other hosts show beside its id [default: the host name]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l label -d 'Label of this host, such as rack=r7, which collectors show with its name; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l no-identity -d 'Tell neither collectors nor other hosts this host\'s name, labels and version' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l clock-error -d 'This host\'s clock is off by no more than this while the kernel says that it is synchronised, such as 2us [default: what its time daemon tells the kernel]' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l force -d 'Attach even if no sink runs on this host' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l lease-key -d 'File with the key of lease messages, as for hostint sink; needs --foreground' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l no-mss-clamp -d 'Leave incoming packets unchanged: neither clamp the MSS of TCP nor translate ICMP errors about tagged packets' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l foreground -d 'Stay in the foreground, as hostint source does without a subcommand'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -l no-tcx -d 'Use a clsact filter even if the kernel has tcx'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from attach" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from detach" -l dev -d 'Detach only from this interface; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from detach" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from detach" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from detach" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from detach" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from detach" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -l dest-file -d 'Read destinations from a file: one per line, # begins a comment' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -l static -d 'Tag packets even if no sink answers; takes --compat or --encap of attach. Hosts without a sink receive INT'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from add-dest" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from del-dest" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from del-dest" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from del-dest" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from del-dest" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from del-dest" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from rules" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from rules" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from rules" -l json -d 'Print one JSON object (schema hostint.rules/1)'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from rules" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from rules" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from rules" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from dests" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from dests" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from dests" -l json -d 'Print one JSON object (schema hostint.dests/1)'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from dests" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from dests" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from dests" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "attach" -d 'Attach the source to interfaces and exit: the sink\'s daemon looks after it'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "detach" -d 'Detach the source; detaching the last interface also clears the watchlist'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "add-dest" -d 'Watch destinations, with immediate effect'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "del-dest" -d 'Stop watching destinations, with immediate effect'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "rules" -d 'List all rules of the watchlist, including those of the config file'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "dests" -d 'List the watched destinations'
complete -c hostint -n "__fish_hostint_using_subcommand source; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l config -d 'Read settings from [transit] of this TOML file; flags override them. In the foreground SIGHUP reloads the file' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l dev -d 'Interface by which packets with INT arrive or leave (required); may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l node-id -d 'This host\'s INT node id [default: that of its other roles, else derived from /etc/machine-id]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l allow -d 'Push entries onto packets of sources with these addresses only; may be repeated [default: all]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l dscp-value -d 'DSCP value that marks over-tcp-udp packets [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l dscp-mask -d 'DSCP bits that belong to the mark [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l extension-port -d 'UDP destination port of extension-udp packets [default: 33122]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l carriers -d 'Push entries onto these kinds of INT, and fill in TCP option 114 if tcp-int is among them; may be repeated [default: host-int,vxlan-gpe]' -r -f -a "host-int\t'over-tcp-udp and extension-udp of hostint\'s sources'
vxlan-gpe\t'vxlan-gpe of hostint\'s sources'
int-md\t'INT-MD 2.1 of any source, behind UDP or the first 20 bytes of TCP'
geneve\t'INT-MD 2.1 of any source, in an option of Geneve'
tcp-int\t'requests of TCP option 114 (TCP-INT 0.4), which are filled in'"
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l int-dscp -d 'DSCP value that marks int-md packets, and of which bits if not of all: 0x17 or 0x01/0x01' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l int-port -d 'UDP destination port that marks int-md packets' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l hold -d 'Fill the same values into all segments of this time, the worst of the time before, from 100us to 1s (tcp-int) [default: 1ms]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l link-speed -d 'Speed of the links at these interfaces, with M or G for bits a second: free bandwidth is that of links from 10G on (tcp-int) [default: as the devices say]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l mtu -d 'Length of the longest IP packet with an entry [default: the interface\'s MTU, followed live]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l collector -d 'Tell this collector, default port 32766, which host this is and what it knows about its clock; may be repeated. On a host with a sink or source whose daemon runs, that daemon does so' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l waits -d 'Tell collectors how long packets wait in the queues of these interfaces, and count these times in TCP option 114' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l node-name -d 'This host\'s name, which collectors and other hosts show beside its id [default: the host name]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l label -d 'Label of this host, such as rack=r7, which collectors show with its name; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l no-identity -d 'Tell neither collectors nor other hosts this host\'s name, labels and version' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l max-arrivals -d 'Remember when this many packets arrived, rounded up to a power of two: more than are in this host at once, queues included [default: 65536]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l http -d 'Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13279, without authentication; 127.0.0.1 restricts it to this host [default: no HTTP]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -l no-tcx -d 'Use clsact filters even if the kernel has tcx'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -f -a "attach" -d 'Attach the transit hop to interfaces and exit: packets get their entries, and nothing looks after it'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -f -a "detach" -d 'Detach the transit hop; packets pass unchanged from the next one on'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and not __fish_seen_subcommand_from attach detach help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l config -d 'Read settings from [transit] of this TOML file; flags override them. In the foreground SIGHUP reloads the file' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l dev -d 'Interface by which packets with INT arrive or leave (required); may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l node-id -d 'This host\'s INT node id [default: that of its other roles, else derived from /etc/machine-id]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l allow -d 'Push entries onto packets of sources with these addresses only; may be repeated [default: all]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l dscp-value -d 'DSCP value that marks over-tcp-udp packets [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l dscp-mask -d 'DSCP bits that belong to the mark [default: 0x01]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l extension-port -d 'UDP destination port of extension-udp packets [default: 33122]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l carriers -d 'Push entries onto these kinds of INT, and fill in TCP option 114 if tcp-int is among them; may be repeated [default: host-int,vxlan-gpe]' -r -f -a "host-int\t'over-tcp-udp and extension-udp of hostint\'s sources'
vxlan-gpe\t'vxlan-gpe of hostint\'s sources'
int-md\t'INT-MD 2.1 of any source, behind UDP or the first 20 bytes of TCP'
geneve\t'INT-MD 2.1 of any source, in an option of Geneve'
tcp-int\t'requests of TCP option 114 (TCP-INT 0.4), which are filled in'"
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l int-dscp -d 'DSCP value that marks int-md packets, and of which bits if not of all: 0x17 or 0x01/0x01' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l int-port -d 'UDP destination port that marks int-md packets' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l hold -d 'Fill the same values into all segments of this time, the worst of the time before, from 100us to 1s (tcp-int) [default: 1ms]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l link-speed -d 'Speed of the links at these interfaces, with M or G for bits a second: free bandwidth is that of links from 10G on (tcp-int) [default: as the devices say]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l mtu -d 'Length of the longest IP packet with an entry [default: the interface\'s MTU, followed live]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l collector -d 'Tell this collector, default port 32766, which host this is and what it knows about its clock; may be repeated. On a host with a sink or source whose daemon runs, that daemon does so' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l waits -d 'Tell collectors how long packets wait in the queues of these interfaces, and count these times in TCP option 114' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l node-name -d 'This host\'s name, which collectors and other hosts show beside its id [default: the host name]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l label -d 'Label of this host, such as rack=r7, which collectors show with its name; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l no-identity -d 'Tell neither collectors nor other hosts this host\'s name, labels and version' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l max-arrivals -d 'Remember when this many packets arrived, rounded up to a power of two: more than are in this host at once, queues included [default: 65536]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l http -d 'Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13279, without authentication; 127.0.0.1 restricts it to this host [default: no HTTP]' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -l no-tcx -d 'Use clsact filters even if the kernel has tcx'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from attach" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from detach" -l dev -d 'Detach only from this interface; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from detach" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from detach" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from detach" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from detach" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from detach" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from help" -f -a "attach" -d 'Attach the transit hop to interfaces and exit: packets get their entries, and nothing looks after it'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from help" -f -a "detach" -d 'Detach the transit hop; packets pass unchanged from the next one on'
complete -c hostint -n "__fish_hostint_using_subcommand transit; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l config -d 'Read settings from [postcards] of this TOML file; flags override them. SIGHUP reloads the file' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l drops -d 'Tell the packets that this host drops, with the kernel\'s reasons (this, --hops or --queue is required)' -r -f -a "none\t'no drops'
all\t'all drops'"
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l hops -d 'Tell the time that packets take through this host, from interface to interface, with and without the queue' -r -f -a "none\t'none'
watched\t'those that a [[watch]] rule for postcards selects'
all\t'all'"
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l dev -d 'Time the packets that come and leave by these interfaces; * and ? in a name stand for any characters and for one, and for interfaces that come later; may be repeated (required with --hops)' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l local -d 'Time packets for this host, too, from the interface to the socket that takes them (with --hops)' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l queue -d 'Tell when packets wait in the queues of this interface, and whose they are: from a packet that took as long as the trigger, or found as many bytes there (trigger:200k), until below the reset [default: half of it], and at most quota packets [default: 1024]; queue:N stands for that queue alone; several words and patterns of names are possible' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l node-id -d 'This host\'s INT node id, by which collectors know it [default: that of its other roles, else derived from /etc/machine-id]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l netns -d 'Count drops in this process\'s network namespace, or in all [default: own]' -r -f -a "own\t'that of this process'
all\t'all of this machine'"
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l ignored-reasons -d 'Count drops for these reasons of the kernel, and do not tell their flows, separated by commas; none: tell all [default: reasons that are no loss, see hostint-postcards(8)]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l inner -d 'Know packets in these tunnels by the flow inside and the number of the network (VNI) or tunnel (TEID), separated by commas; none: by the tunnel\'s own flow [default: vxlan,geneve,gtp-u]' -r -f -a "none\t'none: packets are known by the tunnel\'s own flow'
vxlan\t'UDP ports 4789 and 8472'
geneve\t'UDP port 6081'
gtp-u\t'UDP port 2152'"
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l collector -d 'Send reports to this collector, default port 32766; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l report-format -d 'Form of Telemetry Report in which collectors get drops, hops and queues [default: v0.5]' -r -f -a "v0.5\t'hostint\'s own reports, with all counts and names'
v0.5-standard\t'standard reports of single packets, as collectors of SD-Fabric read them'
v2.0\t'standard reports, several in a datagram, with counts'"
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l node-name -d 'This host\'s name, which collectors and other hosts show beside its id [default: the host name]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l label -d 'Label of this host, such as rack=r7, which collectors show with its name; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l no-identity -d 'Tell neither collectors nor other hosts this host\'s name, labels and version' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l report-period -d 'Tell a flow\'s drops or hops at once, and again at most once in this time, from 100ms [default: 1s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l latency-step -d 'Tell a flow at once if its time through this host changed by this; 0s: never [default: 20us]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l latency-hold -d 'Tell a flow\'s changes of time and of interfaces at most once in this time [default: 100ms]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l no-places -d 'Do not name the kernel\'s functions that dropped packets' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l no-pods -d 'Do not name pods and containers' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l max-flows -d 'Number of flows that the table of drops holds, and that of hops [default: 65536]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l max-new-flows -d 'Begin at most this many flows of drops a second, and of hops; packets of others are counted, and not told by flow; 0: no limit [default: 10000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l max-reports -d 'Tell at most this many flows of drops a second, and of hops; the others\' turn comes later; 0: no limit [default: 10000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l http -d 'Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13278, without authentication; 127.0.0.1 restricts it to this host [default: no HTTP]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l once -d 'Count for this time, print all counts, and exit [default: 1s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l import -d 'Print this file of SD-Fabric (ONOS\' netcfg) or int-host-reporter (watchlist) as a config file, and exit' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -l json -d 'Print one JSON object per line (schema hostint.postcards/1)'
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand postcards" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l config -d 'Read settings from [tcp] and [[watch]] of this TOML file; flags override them. SIGHUP reloads the file' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l node-id -d 'This host\'s INT node id, by which collectors know it [default: that of its other roles, else derived from /etc/machine-id]' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l sample-period -d 'Read the state of each connection once in this time, from 100ms [default: 1s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l cgroup -d 'Watch only sockets of this cgroup and those below it: a folder of the cgroup2 file system' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l option -d 'Send TCP option 114 (as TCP-INT 0.4), which hops on the path fill in and the other end echoes, to no host, to those whose leases say that they take it, or to all [default: none]' -r -f -a "none\t'no host'
leased\t'hosts whose leases say that they take it'
all\t'all hosts'"
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l option-period -d 'Ask by that option once in this time and in each round trip of a connection, from 1ms [default: 10ms]' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l collector -d 'Send reports to this collector, default port 32766; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l node-name -d 'This host\'s name, which collectors and other hosts show beside its id [default: the host name]' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l label -d 'Label of this host, such as rack=r7, which collectors show with its name; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l no-identity -d 'Tell neither collectors nor other hosts this host\'s name, labels and version' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l report-period -d 'Report a connection to collectors at once, then once in this time, from 1s, and at its end [default: 10s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l report -d 'Print a connection at each change, in each sample, or at its end [default: change]' -r -f -a "change\t'when it is seen first, when something else limits it, after a retransmission timeout, and when it ends'
sample\t'in each period, and when it ends'
end\t'when it ends'"
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l max-connections -d 'Follow at most this many connections at a time [default: 65536]' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l max-endings -d 'Tell at most this many endings a second; others are counted; 0: no limit [default: 10000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l max-reports -d 'Send collectors at most this many reports a second; the others\' turn comes later; 0: no limit [default: 10000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l http -d 'Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13280, without authentication; 127.0.0.1 restricts it to this host [default: no HTTP]' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l once -d 'Watch connections for this time, print a table of them, and exit [default: 2s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l top -d 'With --once or --watch: the most connections to show; those with most retransmissions come first' -r
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l json -d 'Print one JSON object per line (schema hostint.tcp/1)'
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -l watch -d 'Show the table on the screen in each period, instead of lines'
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand tcp" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l config -d 'Read settings from [collect] and [[watch]] of this TOML file; flags override them. SIGHUP reloads the file' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l listen -d 'Address to receive on, default port 32766; may be repeated [default: 0.0.0.0:32766 and [::]:32766]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l json -d 'Print one JSON object per line (schema hostint.report/1)' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l output -d 'Append the lines to this file instead of printing them; SIGUSR1 and SIGHUP reopen it' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l output-size -d 'Rotate --output before it exceeds this size, such as 100M' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l output-keep -d 'Number of rotated files to keep [default: 5]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l drop-reasons -d 'Names of drop reason codes: int-host-reporter, p4lang-switch, sd-fabric, or a file with a line such as 80 = "acl deny" for each code [default: int-host-reporter]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l name -d 'Name of a node, such as 7=web-3, for people to read beside its id; may be repeated [default: what the node tells]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l reverse-dns -d 'Ask DNS for the names of exporters whose nodes tell none, by their addresses [default: no]' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l http -d 'Serve the history as a web page, metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13277, without authentication; 127.0.0.1 restricts it to this host [default: no HTTP]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l receivers -d 'Number of threads that receive; one more thread decodes [default: 2, on hosts with one or two CPUs 1]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l queue -d 'Memory for datagrams that wait to be decoded; datagrams beyond it are dropped and counted [default: 64M]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l store -d 'Keep reports in this file for hostint history; none keeps nothing. With --read, only a file named here is kept [default: /var/lib/hostint/history.db, for users other than root ~/.local/state/hostint/history.db]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l store-size -d 'Greatest size of the store; beyond it the oldest reports are deleted first, then the finest roll-ups [default: 4G]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l store-queue -d 'Memory for reports that wait for the store [default: 64M]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l store-flows -d 'Greatest number of flows tracked at a time; reports of further flows count only for their nodes and class [default: 200000]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l keep-raw -d 'Keep single reports for this time [default: 1day]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l keep-10s -d 'Keep figures of every ten seconds for this time [default: 1day]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l keep-1m -d 'Keep figures of every minute for this time [default: 14days]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l keep-1h -d 'Keep figures of every hour for this time [default: 1year]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l engine-queue -d 'Memory for reports that wait for an engine, per engine; reports beyond it are dropped and counted [default: 64M]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l clickhouse -d 'Insert reports into a ClickHouse table, by the HTTP interface at this URL, such as http://host:8123/' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l clickhouse-database -d 'Database of the table [default: hostint]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l clickhouse-table -d 'Table, as created by share/hostint/clickhouse/schema.sql [default: reports]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l clickhouse-user -d 'User that inserts [default: the server\'s default user]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l clickhouse-password-file -d 'File with the user\'s password, readable by its owner only [default: no password]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l ipfix -d 'Export flow records to this IPFIX collector, default port 4739' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l ipfix-transport -d 'Transport protocol of messages [default: tcp]' -r -f -a "tcp\t'messages that the collector has not read are sent again'
udp\t'for collectors without TCP, such as nfdump\'s and pmacct\'s: nothing confirms that messages arrive'"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l ipfix-domain -d 'Observation domain ID of the messages [default: 0]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l ipfix-interval -d 'Time that one flow record covers, 100ms to 10m; less if there are many reports [default: 10s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka -d 'Hand reports on to Kafka: a broker of the cluster, default port 9092; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-topic -d 'Topic of reports, which must exist [default: hostint.reports.v1]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-clock-topic -d 'Topic of messages for comparing the clocks of two nodes, or none [default: hostint.clocks.v1]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-compression -d 'Compression of messages [default: lz4]' -r -f -a "none\t''
gzip\t''
lz4\t''
snappy\t''
zstd\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-tls -d 'Use TLS to brokers, with the certificates that this system trusts' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-user -d 'User at the brokers, by SASL [default: none]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-password-file -d 'File with the user\'s password' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l kafka-sasl -d 'How the user authenticates; without TLS, plain reveals the password to anyone on the network [default: scram-sha-512]' -r -f -a "plain\t''
scram-sha-256\t''
scram-sha-512\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l otlp-reports -d 'Hand reports on to the receiver of --otlp as logs; /v1/logs is appended to its URL' -r -f -a "true\t''
false\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l otlp -d 'Push metrics by OTLP/HTTP to this URL, such as http://192.0.2.9:4318; /v1/metrics is appended' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l remote-write -d 'Push metrics by Prometheus remote write to this URL, such as http://192.0.2.9:9090/api/v1/write' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l push-interval -d 'Interval between pushes, 1s to 1h [default: 15s]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l push-headers-file -d 'File with HTTP headers for --otlp and --remote-write, one line such as "Name: value" for each; readable by its owner only' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l push-instance -d 'Name that distinguishes these metrics from other senders\' (the label instance, service.instance.id) [default: the host\'s name, for a sink followed by /NODE-ID]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l read -d 'Read reports and TCP option 114 from a capture (pcap, pcapng), or hostint\'s JSON lines; - is standard input' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l port -d 'With --read: UDP port of the reports in a capture; may be repeated [default: 32766]' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l count -d 'Exit after this many datagrams' -r
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand collect" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand collect" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand collect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand collect" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "flows" -d 'The worst flows'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "pairs" -d 'Latency or loss from each node to each other, and the worst pairs'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "classes" -d 'Classes of traffic'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "coverage" -d 'Share of the traffic that the watchlists ask for that was measured, and why the rest was not'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "flow" -d 'One flow, and its figures over time'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "series" -d 'Figures over time: for all traffic, a pair of nodes, a class, or a flow'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "reports" -d 'Single reports, newest first'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "path" -d 'The way over transit hops, as a waterfall: where a pair\'s or a flow\'s packets spend their time'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "segments" -d 'The slowest segments of all paths over transit hops'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "drops" -d 'Packets that hosts dropped, by the kernel\'s reason, by place, by host or by flow'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "hops" -d 'The time that packets take through hosts, by flow'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "queues" -d 'Episodes of queues in which packets waited too long, and whose packets these were'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "tcp" -d 'TCP connections, as their hosts tell them: single ones, or sums by what limits them or by pair'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "info" -d 'The extent of the history'
complete -c hostint -n "__fish_hostint_using_subcommand history; and not __fish_seen_subcommand_from flows pairs classes coverage flow series reports path segments drops hops queues tcp info help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l sort -d 'Order of flows, largest first' -r -f -a "loss\t'most lost packets first'
latency\t'highest p99 latency first'
jitter\t'largest p99 - p50 first'
packets\t'most packets first'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l source -d 'Only flows from this node, by its id or its name' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l sink -d 'Only flows to this node, by its id or its name' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l class -d 'Only flows of this class' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l search -d 'Only flows whose text has all these words: addresses, ports, protocols, names of hosts, or parts of them' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l limit -d 'Number of flows to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flows" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l show -d 'Figure in the matrix' -r -f -a "p50\t'latency that half of the packets do not exceed'
p99\t'latency that 99 % of the packets do not exceed'
jitter\t'p99 - p50'
loss\t'share of sent packets that were lost'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l sort -d 'Order of the pairs' -r -f -a "loss\t'most lost packets first'
latency\t'highest p99 latency first'
jitter\t'largest p99 - p50 first'
packets\t'most packets first'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l limit -d 'Number of pairs to list; JSON and CSV list all' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from pairs" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from classes" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from coverage" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from coverage" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from coverage" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from coverage" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from coverage" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from coverage" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from coverage" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from coverage" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from coverage" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from coverage" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l points -d 'Approximate number of points in time' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from flow" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l source -d 'Packets from this node (its id or name), with --sink' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l sink -d 'Packets to this node (its id or name), with --source' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l class -d 'Packets of this class' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l flow -d 'Packets of the flow with this id' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l points -d 'Approximate number of points in time' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from series" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l source -d 'Packets from this node (its id or name), with --sink' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l sink -d 'Packets to this node (its id or name), with --source' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l class -d 'Packets of this class' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l flow -d 'Packets of the flow with this id' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l limit -d 'Number of reports to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from reports" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -l from -d 'The node of the INT source, by its id or its name, with --to' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -l to -d 'The node of the INT sink, by its id or its name, with --from' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -l flow -d 'The flow with this id, as hostint history flows shows it' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from path" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -l sort -d 'Order of the segments, largest first' -r -f -a "p99\t'highest p99 latency first'
share\t'largest share of the mean latency of their paths first'
lost\t'most lost packets first'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -l limit -d 'Number of segments to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from segments" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -l by -d 'What drops are added up by' -r -f -a "reason\t'the kernel\'s reason'
place\t'reason, function of the kernel, interface, and host'
node\t'host'
flow\t'flow, with reason, function and host'
pod\t'pod or container that misses the packets, and reason'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -l node -d 'Only drops of this host, by its id or its name' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -l limit -d 'Number of rows to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from drops" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l node -d 'Only flows through this host, by its id or its name' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l flow -d 'Only the flow with this id, as hostint history flows shows it, before or behind NAT' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l sort -d 'Order of flows, largest first' -r -f -a "mean\t'longest mean time first'
max\t'longest time of a packet first'
packets\t'most packets first'
newest\t'newest report first'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l limit -d 'Number of rows to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from hops" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -l node -d 'Only queues of this host, by its id or its name' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -l sort -d 'Order of episodes, largest first' -r -f -a "newest\t'newest first'
length\t'longest first'
wait\t'longest wait of a packet first'
bytes\t'most bytes in the queue first'
packets\t'most packets over the trigger first'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -l limit -d 'Number of rows to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from queues" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l by -d 'What is shown: single connections, or sums' -r -f -a "connection\t'nothing: each connection is a row'
limit\t'what limits the sender'
pair\t'sending host, and address of its peer'
hop\t'the worst hop of their paths, as option 114 told it'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l node -d 'Only connections of this host, by its id or its name' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l limited -d 'Only connections that this limits' -r -f -a "application\t'the application gives nothing to send'
receiver\t'the receiver\'s window is full'
send-buffer\t'the send buffer is too small'
host-queue\t'data waits in the host\'s own queues'
path\t'congestion control: the path takes no more'
unknown\t'the kernel\'s figures do not tell'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l flow -d 'Only connections whose segments are the flow with this id, as hostint history flows shows it' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l sort -d 'Order of connections, largest first' -r -f -a "retransmitted\t'most retransmitted segments first'
bytes\t'most bytes first, sent and received'
rtt\t'longest round-trip time first'
newest\t'newest state first'"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l limit -d 'Number of rows to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from tcp" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l store -d 'The collector\'s file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l since -d 'Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l until -d 'End of the span' -r
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l json -d 'Print one JSON object (schema hostint.history/1; of history path hostint.path/1)'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -l csv -d 'Print CSV, with column names in the first line'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from info" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "flows" -d 'The worst flows'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "pairs" -d 'Latency or loss from each node to each other, and the worst pairs'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "classes" -d 'Classes of traffic'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "coverage" -d 'Share of the traffic that the watchlists ask for that was measured, and why the rest was not'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "flow" -d 'One flow, and its figures over time'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "series" -d 'Figures over time: for all traffic, a pair of nodes, a class, or a flow'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "reports" -d 'Single reports, newest first'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "path" -d 'The way over transit hops, as a waterfall: where a pair\'s or a flow\'s packets spend their time'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "segments" -d 'The slowest segments of all paths over transit hops'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "drops" -d 'Packets that hosts dropped, by the kernel\'s reason, by place, by host or by flow'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "hops" -d 'The time that packets take through hosts, by flow'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "queues" -d 'Episodes of queues in which packets waited too long, and whose packets these were'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "tcp" -d 'TCP connections, as their hosts tell them: single ones, or sums by what limits them or by pair'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "info" -d 'The extent of the history'
complete -c hostint -n "__fish_hostint_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand status" -l flows -d 'Number of flows to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand status" -l sort -d 'Order of flows' -r -f -a "loss\t'most lost packets first'
latency\t'highest mean latency first'
packets\t'most packets first'"
complete -c hostint -n "__fish_hostint_using_subcommand status" -l peers -d 'Number of the source\'s peers to show' -r
complete -c hostint -n "__fish_hostint_using_subcommand status" -l watch -d 'Show flows, counters and peers on the whole screen, and refresh them at this interval [default: 1]; with --json print one line each time' -r
complete -c hostint -n "__fish_hostint_using_subcommand status" -l store -d 'With --watch: take the ways of packets from this history of a collector, which knows the times between nodes and where packets are lost [default: what this host\'s sink counts]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand status" -l control -d 'Socket of the sink\'s daemon, which is asked if this user may not read the host\'s state [default: /run/hostint/control.NAMESPACE.sock]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand status" -l config -d 'With --preflight: check the interfaces, collectors and lease key of this TOML file [default: HOSTINT_CONFIG, or /etc/hostint/hostint.toml if it exists]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand status" -l dev -d 'With --preflight: check this interface instead of those of the config file; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand status" -l collector -d 'With --preflight: check the route to this collector instead of those of the config file; may be repeated' -r
complete -c hostint -n "__fish_hostint_using_subcommand status" -l check-config -d 'Only check this config file, and list all mistakes in it' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand status" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand status" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand status" -l all -d 'Show counters that are 0, too'
complete -c hostint -n "__fish_hostint_using_subcommand status" -l json -d 'Print one JSON object (schema hostint.status/1, with --preflight hostint.preflight/1, with --check-config hostint.config-check/1)'
complete -c hostint -n "__fish_hostint_using_subcommand status" -l preflight -d 'Check instead whether this host has everything that hostint needs, with advice; changes nothing. Exit code 1 if a check fails'
complete -c hostint -n "__fish_hostint_using_subcommand status" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hostint -n "__fish_hostint_using_subcommand status" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand demo" -l seconds -d 'Stay for this many seconds after the result, for a look at the page [default: until Ctrl-C on a terminal, else not at all]' -r
complete -c hostint -n "__fish_hostint_using_subcommand demo" -l bpffs -d 'BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace [default: the system\'s /sys/fs/bpf]' -r -F
complete -c hostint -n "__fish_hostint_using_subcommand demo" -l log-level -d 'Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel' -r -f -a "error\t''
warning\t''
info\t''
debug\t''"
complete -c hostint -n "__fish_hostint_using_subcommand demo" -l recorded -d 'Show a recorded network of six hosts instead: needs neither root nor BPF'
complete -c hostint -n "__fish_hostint_using_subcommand demo" -s v -l verbose -d 'Log each request to the kernel, as --log-level debug does'
complete -c hostint -n "__fish_hostint_using_subcommand demo" -s h -l help -d 'Print help'
complete -c hostint -n "__fish_hostint_using_subcommand demo" -s V -l version -d 'Print version'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source transit postcards tcp collect history status demo help" -f -a "sink" -d 'Strip INT from received packets, measure flows and report them (a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source transit postcards tcp collect history status demo help" -f -a "source" -d 'Tag packets to watched destinations with INT (without a subcommand a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source transit postcards tcp collect history status demo help" -f -a "transit" -d 'Push this host\'s entry onto packets with INT that pass through it (without a subcommand a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source transit postcards tcp collect history status demo help" -f -a "postcards" -d 'Tell what this host drops and delays; no packet is changed (a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source transit postcards tcp collect history status demo help" -f -a "tcp" -d 'Tell the state of TCP connections, and what limits them; none is changed (a daemon, in the foreground)'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source transit postcards tcp collect history status demo help" -f -a "collect" -d 'Receive telemetry reports and print them'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source transit postcards tcp collect history status demo help" -f -a "history" -d 'Query the history that a collector keeps, while it runs or later'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source transit postcards tcp collect history status demo help" -f -a "status" -d 'Show what hostint does on this host, with counters and flows'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source transit postcards tcp collect history status demo help" -f -a "demo" -d 'See hostint at work on this machine, in a small network of its own'
complete -c hostint -n "__fish_hostint_using_subcommand help; and not __fish_seen_subcommand_from sink source transit postcards tcp collect history status demo help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from sink" -f -a "attach" -d 'Attach the sink and exit: packets are stripped and counted, and nothing is reported until a daemon runs'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from sink" -f -a "detach" -d 'Detach the sink. Sources stop tagging first, which takes a second'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "attach" -d 'Attach the source to interfaces and exit: the sink\'s daemon looks after it'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "detach" -d 'Detach the source; detaching the last interface also clears the watchlist'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "add-dest" -d 'Watch destinations, with immediate effect'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "del-dest" -d 'Stop watching destinations, with immediate effect'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "rules" -d 'List all rules of the watchlist, including those of the config file'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from source" -f -a "dests" -d 'List the watched destinations'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from transit" -f -a "attach" -d 'Attach the transit hop to interfaces and exit: packets get their entries, and nothing looks after it'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from transit" -f -a "detach" -d 'Detach the transit hop; packets pass unchanged from the next one on'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "flows" -d 'The worst flows'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "pairs" -d 'Latency or loss from each node to each other, and the worst pairs'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "classes" -d 'Classes of traffic'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "coverage" -d 'Share of the traffic that the watchlists ask for that was measured, and why the rest was not'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "flow" -d 'One flow, and its figures over time'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "series" -d 'Figures over time: for all traffic, a pair of nodes, a class, or a flow'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "reports" -d 'Single reports, newest first'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "path" -d 'The way over transit hops, as a waterfall: where a pair\'s or a flow\'s packets spend their time'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "segments" -d 'The slowest segments of all paths over transit hops'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "drops" -d 'Packets that hosts dropped, by the kernel\'s reason, by place, by host or by flow'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "hops" -d 'The time that packets take through hosts, by flow'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "queues" -d 'Episodes of queues in which packets waited too long, and whose packets these were'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "tcp" -d 'TCP connections, as their hosts tell them: single ones, or sums by what limits them or by pair'
complete -c hostint -n "__fish_hostint_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "info" -d 'The extent of the history'
