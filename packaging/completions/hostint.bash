_hostint() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="hostint"
                ;;
            hostint,collect)
                cmd="hostint__subcmd__collect"
                ;;
            hostint,demo)
                cmd="hostint__subcmd__demo"
                ;;
            hostint,help)
                cmd="hostint__subcmd__help"
                ;;
            hostint,history)
                cmd="hostint__subcmd__history"
                ;;
            hostint,postcards)
                cmd="hostint__subcmd__postcards"
                ;;
            hostint,sink)
                cmd="hostint__subcmd__sink"
                ;;
            hostint,source)
                cmd="hostint__subcmd__source"
                ;;
            hostint,status)
                cmd="hostint__subcmd__status"
                ;;
            hostint,tcp)
                cmd="hostint__subcmd__tcp"
                ;;
            hostint,transit)
                cmd="hostint__subcmd__transit"
                ;;
            hostint__subcmd__help,collect)
                cmd="hostint__subcmd__help__subcmd__collect"
                ;;
            hostint__subcmd__help,demo)
                cmd="hostint__subcmd__help__subcmd__demo"
                ;;
            hostint__subcmd__help,help)
                cmd="hostint__subcmd__help__subcmd__help"
                ;;
            hostint__subcmd__help,history)
                cmd="hostint__subcmd__help__subcmd__history"
                ;;
            hostint__subcmd__help,postcards)
                cmd="hostint__subcmd__help__subcmd__postcards"
                ;;
            hostint__subcmd__help,sink)
                cmd="hostint__subcmd__help__subcmd__sink"
                ;;
            hostint__subcmd__help,source)
                cmd="hostint__subcmd__help__subcmd__source"
                ;;
            hostint__subcmd__help,status)
                cmd="hostint__subcmd__help__subcmd__status"
                ;;
            hostint__subcmd__help,tcp)
                cmd="hostint__subcmd__help__subcmd__tcp"
                ;;
            hostint__subcmd__help,transit)
                cmd="hostint__subcmd__help__subcmd__transit"
                ;;
            hostint__subcmd__help__subcmd__history,classes)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__classes"
                ;;
            hostint__subcmd__help__subcmd__history,coverage)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__coverage"
                ;;
            hostint__subcmd__help__subcmd__history,drops)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__drops"
                ;;
            hostint__subcmd__help__subcmd__history,flow)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__flow"
                ;;
            hostint__subcmd__help__subcmd__history,flows)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__flows"
                ;;
            hostint__subcmd__help__subcmd__history,hops)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__hops"
                ;;
            hostint__subcmd__help__subcmd__history,info)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__info"
                ;;
            hostint__subcmd__help__subcmd__history,pairs)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__pairs"
                ;;
            hostint__subcmd__help__subcmd__history,path)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__path"
                ;;
            hostint__subcmd__help__subcmd__history,queues)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__queues"
                ;;
            hostint__subcmd__help__subcmd__history,reports)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__reports"
                ;;
            hostint__subcmd__help__subcmd__history,segments)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__segments"
                ;;
            hostint__subcmd__help__subcmd__history,series)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__series"
                ;;
            hostint__subcmd__help__subcmd__history,tcp)
                cmd="hostint__subcmd__help__subcmd__history__subcmd__tcp"
                ;;
            hostint__subcmd__help__subcmd__sink,attach)
                cmd="hostint__subcmd__help__subcmd__sink__subcmd__attach"
                ;;
            hostint__subcmd__help__subcmd__sink,detach)
                cmd="hostint__subcmd__help__subcmd__sink__subcmd__detach"
                ;;
            hostint__subcmd__help__subcmd__source,add-dest)
                cmd="hostint__subcmd__help__subcmd__source__subcmd__add__subcmd__dest"
                ;;
            hostint__subcmd__help__subcmd__source,attach)
                cmd="hostint__subcmd__help__subcmd__source__subcmd__attach"
                ;;
            hostint__subcmd__help__subcmd__source,del-dest)
                cmd="hostint__subcmd__help__subcmd__source__subcmd__del__subcmd__dest"
                ;;
            hostint__subcmd__help__subcmd__source,dests)
                cmd="hostint__subcmd__help__subcmd__source__subcmd__dests"
                ;;
            hostint__subcmd__help__subcmd__source,detach)
                cmd="hostint__subcmd__help__subcmd__source__subcmd__detach"
                ;;
            hostint__subcmd__help__subcmd__source,rules)
                cmd="hostint__subcmd__help__subcmd__source__subcmd__rules"
                ;;
            hostint__subcmd__help__subcmd__transit,attach)
                cmd="hostint__subcmd__help__subcmd__transit__subcmd__attach"
                ;;
            hostint__subcmd__help__subcmd__transit,detach)
                cmd="hostint__subcmd__help__subcmd__transit__subcmd__detach"
                ;;
            hostint__subcmd__history,classes)
                cmd="hostint__subcmd__history__subcmd__classes"
                ;;
            hostint__subcmd__history,coverage)
                cmd="hostint__subcmd__history__subcmd__coverage"
                ;;
            hostint__subcmd__history,drops)
                cmd="hostint__subcmd__history__subcmd__drops"
                ;;
            hostint__subcmd__history,flow)
                cmd="hostint__subcmd__history__subcmd__flow"
                ;;
            hostint__subcmd__history,flows)
                cmd="hostint__subcmd__history__subcmd__flows"
                ;;
            hostint__subcmd__history,help)
                cmd="hostint__subcmd__history__subcmd__help"
                ;;
            hostint__subcmd__history,hops)
                cmd="hostint__subcmd__history__subcmd__hops"
                ;;
            hostint__subcmd__history,info)
                cmd="hostint__subcmd__history__subcmd__info"
                ;;
            hostint__subcmd__history,pairs)
                cmd="hostint__subcmd__history__subcmd__pairs"
                ;;
            hostint__subcmd__history,path)
                cmd="hostint__subcmd__history__subcmd__path"
                ;;
            hostint__subcmd__history,queues)
                cmd="hostint__subcmd__history__subcmd__queues"
                ;;
            hostint__subcmd__history,reports)
                cmd="hostint__subcmd__history__subcmd__reports"
                ;;
            hostint__subcmd__history,segments)
                cmd="hostint__subcmd__history__subcmd__segments"
                ;;
            hostint__subcmd__history,series)
                cmd="hostint__subcmd__history__subcmd__series"
                ;;
            hostint__subcmd__history,tcp)
                cmd="hostint__subcmd__history__subcmd__tcp"
                ;;
            hostint__subcmd__history__subcmd__help,classes)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__classes"
                ;;
            hostint__subcmd__history__subcmd__help,coverage)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__coverage"
                ;;
            hostint__subcmd__history__subcmd__help,drops)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__drops"
                ;;
            hostint__subcmd__history__subcmd__help,flow)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__flow"
                ;;
            hostint__subcmd__history__subcmd__help,flows)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__flows"
                ;;
            hostint__subcmd__history__subcmd__help,help)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__help"
                ;;
            hostint__subcmd__history__subcmd__help,hops)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__hops"
                ;;
            hostint__subcmd__history__subcmd__help,info)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__info"
                ;;
            hostint__subcmd__history__subcmd__help,pairs)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__pairs"
                ;;
            hostint__subcmd__history__subcmd__help,path)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__path"
                ;;
            hostint__subcmd__history__subcmd__help,queues)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__queues"
                ;;
            hostint__subcmd__history__subcmd__help,reports)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__reports"
                ;;
            hostint__subcmd__history__subcmd__help,segments)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__segments"
                ;;
            hostint__subcmd__history__subcmd__help,series)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__series"
                ;;
            hostint__subcmd__history__subcmd__help,tcp)
                cmd="hostint__subcmd__history__subcmd__help__subcmd__tcp"
                ;;
            hostint__subcmd__sink,attach)
                cmd="hostint__subcmd__sink__subcmd__attach"
                ;;
            hostint__subcmd__sink,detach)
                cmd="hostint__subcmd__sink__subcmd__detach"
                ;;
            hostint__subcmd__sink,help)
                cmd="hostint__subcmd__sink__subcmd__help"
                ;;
            hostint__subcmd__sink__subcmd__help,attach)
                cmd="hostint__subcmd__sink__subcmd__help__subcmd__attach"
                ;;
            hostint__subcmd__sink__subcmd__help,detach)
                cmd="hostint__subcmd__sink__subcmd__help__subcmd__detach"
                ;;
            hostint__subcmd__sink__subcmd__help,help)
                cmd="hostint__subcmd__sink__subcmd__help__subcmd__help"
                ;;
            hostint__subcmd__source,add-dest)
                cmd="hostint__subcmd__source__subcmd__add__subcmd__dest"
                ;;
            hostint__subcmd__source,attach)
                cmd="hostint__subcmd__source__subcmd__attach"
                ;;
            hostint__subcmd__source,del-dest)
                cmd="hostint__subcmd__source__subcmd__del__subcmd__dest"
                ;;
            hostint__subcmd__source,dests)
                cmd="hostint__subcmd__source__subcmd__dests"
                ;;
            hostint__subcmd__source,detach)
                cmd="hostint__subcmd__source__subcmd__detach"
                ;;
            hostint__subcmd__source,help)
                cmd="hostint__subcmd__source__subcmd__help"
                ;;
            hostint__subcmd__source,rules)
                cmd="hostint__subcmd__source__subcmd__rules"
                ;;
            hostint__subcmd__source__subcmd__help,add-dest)
                cmd="hostint__subcmd__source__subcmd__help__subcmd__add__subcmd__dest"
                ;;
            hostint__subcmd__source__subcmd__help,attach)
                cmd="hostint__subcmd__source__subcmd__help__subcmd__attach"
                ;;
            hostint__subcmd__source__subcmd__help,del-dest)
                cmd="hostint__subcmd__source__subcmd__help__subcmd__del__subcmd__dest"
                ;;
            hostint__subcmd__source__subcmd__help,dests)
                cmd="hostint__subcmd__source__subcmd__help__subcmd__dests"
                ;;
            hostint__subcmd__source__subcmd__help,detach)
                cmd="hostint__subcmd__source__subcmd__help__subcmd__detach"
                ;;
            hostint__subcmd__source__subcmd__help,help)
                cmd="hostint__subcmd__source__subcmd__help__subcmd__help"
                ;;
            hostint__subcmd__source__subcmd__help,rules)
                cmd="hostint__subcmd__source__subcmd__help__subcmd__rules"
                ;;
            hostint__subcmd__transit,attach)
                cmd="hostint__subcmd__transit__subcmd__attach"
                ;;
            hostint__subcmd__transit,detach)
                cmd="hostint__subcmd__transit__subcmd__detach"
                ;;
            hostint__subcmd__transit,help)
                cmd="hostint__subcmd__transit__subcmd__help"
                ;;
            hostint__subcmd__transit__subcmd__help,attach)
                cmd="hostint__subcmd__transit__subcmd__help__subcmd__attach"
                ;;
            hostint__subcmd__transit__subcmd__help,detach)
                cmd="hostint__subcmd__transit__subcmd__help__subcmd__detach"
                ;;
            hostint__subcmd__transit__subcmd__help,help)
                cmd="hostint__subcmd__transit__subcmd__help__subcmd__help"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        hostint)
            opts="-v -h -V --bpffs --log-level --verbose --help --version sink source transit postcards tcp collect history status demo help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__collect)
            opts="-v -h -V --config --listen --json --output --output-size --output-keep --drop-reasons --name --reverse-dns --http --receivers --queue --store --store-size --store-queue --store-flows --keep-raw --keep-10s --keep-1m --keep-1h --engine-queue --clickhouse --clickhouse-database --clickhouse-table --clickhouse-user --clickhouse-password-file --ipfix --ipfix-transport --ipfix-domain --ipfix-interval --kafka --kafka-topic --kafka-clock-topic --kafka-compression --kafka-tls --kafka-user --kafka-password-file --kafka-sasl --otlp-reports --otlp --remote-write --push-interval --push-headers-file --push-instance --read --port --count --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --json)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output-keep)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --drop-reasons)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reverse-dns)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --http)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --receivers)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --queue)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --store-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --store-queue)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --store-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keep-raw)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keep-10s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keep-1m)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keep-1h)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --engine-queue)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clickhouse)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clickhouse-database)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clickhouse-table)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clickhouse-user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clickhouse-password-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ipfix)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ipfix-transport)
                    COMPREPLY=($(compgen -W "tcp udp" -- "${cur}"))
                    return 0
                    ;;
                --ipfix-domain)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ipfix-interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kafka)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kafka-topic)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kafka-clock-topic)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kafka-compression)
                    COMPREPLY=($(compgen -W "none gzip lz4 snappy zstd" -- "${cur}"))
                    return 0
                    ;;
                --kafka-tls)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --kafka-user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kafka-password-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kafka-sasl)
                    COMPREPLY=($(compgen -W "plain scram-sha-256 scram-sha-512" -- "${cur}"))
                    return 0
                    ;;
                --otlp-reports)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --otlp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --remote-write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --push-interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --push-headers-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --push-instance)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --count)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__demo)
            opts="-v -h -V --recorded --seconds --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help)
            opts="sink source transit postcards tcp collect history status demo help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__collect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__demo)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history)
            opts="flows pairs classes coverage flow series reports path segments drops hops queues tcp info"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__classes)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__coverage)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__drops)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__flow)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__flows)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__hops)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__info)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__pairs)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__path)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__queues)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__reports)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__segments)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__series)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__history__subcmd__tcp)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__postcards)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__sink)
            opts="attach detach"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__sink__subcmd__attach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__sink__subcmd__detach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__source)
            opts="attach detach add-dest del-dest rules dests"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__source__subcmd__add__subcmd__dest)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__source__subcmd__attach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__source__subcmd__del__subcmd__dest)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__source__subcmd__dests)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__source__subcmd__detach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__source__subcmd__rules)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__tcp)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__transit)
            opts="attach detach"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__transit__subcmd__attach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__help__subcmd__transit__subcmd__detach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history)
            opts="-v -h -V --bpffs --log-level --verbose --help --version flows pairs classes coverage flow series reports path segments drops hops queues tcp info help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__classes)
            opts="-v -h -V --store --since --until --json --csv --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__coverage)
            opts="-v -h -V --store --since --until --json --csv --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__drops)
            opts="-v -h -V --store --since --until --json --csv --by --node --limit --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --by)
                    COMPREPLY=($(compgen -W "reason place node flow pod" -- "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__flow)
            opts="-v -h -V --store --since --until --json --csv --points --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --points)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__flows)
            opts="-v -h -V --store --since --until --json --csv --sort --source --sink --class --search --limit --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sort)
                    COMPREPLY=($(compgen -W "loss latency jitter packets" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sink)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --search)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help)
            opts="flows pairs classes coverage flow series reports path segments drops hops queues tcp info help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__classes)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__coverage)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__drops)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__flow)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__flows)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__hops)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__info)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__pairs)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__path)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__queues)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__reports)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__segments)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__series)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__help__subcmd__tcp)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__hops)
            opts="-v -h -V --store --since --until --json --csv --node --flow --sort --limit --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sort)
                    COMPREPLY=($(compgen -W "mean max packets newest" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__info)
            opts="-v -h -V --store --since --until --json --csv --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__pairs)
            opts="-v -h -V --store --since --until --json --csv --show --sort --limit --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --show)
                    COMPREPLY=($(compgen -W "p50 p99 jitter loss" -- "${cur}"))
                    return 0
                    ;;
                --sort)
                    COMPREPLY=($(compgen -W "loss latency jitter packets" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__path)
            opts="-v -h -V --store --since --until --json --csv --from --to --flow --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__queues)
            opts="-v -h -V --store --since --until --json --csv --node --sort --limit --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sort)
                    COMPREPLY=($(compgen -W "newest length wait bytes packets" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__reports)
            opts="-v -h -V --store --since --until --json --csv --source --sink --class --flow --limit --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sink)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__segments)
            opts="-v -h -V --store --since --until --json --csv --sort --limit --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sort)
                    COMPREPLY=($(compgen -W "p99 share lost" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__series)
            opts="-v -h -V --store --since --until --json --csv --source --sink --class --flow --points --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sink)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --points)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__history__subcmd__tcp)
            opts="-v -h -V --store --since --until --json --csv --by --node --limited --flow --sort --limit --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --by)
                    COMPREPLY=($(compgen -W "connection limit pair hop" -- "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limited)
                    COMPREPLY=($(compgen -W "application receiver send-buffer host-queue path unknown" -- "${cur}"))
                    return 0
                    ;;
                --flow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sort)
                    COMPREPLY=($(compgen -W "retransmitted bytes rtt newest" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__postcards)
            opts="-v -h -V --config --drops --hops --dev --local --queue --node-id --netns --ignored-reasons --inner --collector --report-format --node-name --label --no-identity --report-period --latency-step --latency-hold --no-places --no-pods --max-flows --max-new-flows --max-reports --http --json --once --import --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --drops)
                    COMPREPLY=($(compgen -W "none all" -- "${cur}"))
                    return 0
                    ;;
                --hops)
                    COMPREPLY=($(compgen -W "none watched all" -- "${cur}"))
                    return 0
                    ;;
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --local)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --queue)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --netns)
                    COMPREPLY=($(compgen -W "own all" -- "${cur}"))
                    return 0
                    ;;
                --ignored-reasons)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --inner)
                    COMPREPLY=($(compgen -W "none vxlan geneve gtp-u" -- "${cur}"))
                    return 0
                    ;;
                --collector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report-format)
                    COMPREPLY=($(compgen -W "v0.5 v0.5-standard v2.0" -- "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-identity)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --report-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency-step)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency-hold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-places)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --no-pods)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --max-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-new-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-reports)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --once)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --import)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__sink)
            opts="-v -h -V --config --dev --node-id --node-name --label --no-identity --hook --xdp-mode --nic-timestamps --host-times --clock-error --encap --dscp-value --dscp-mask --extension-port --int-dscp --report-period --summary-period --loss-timeout --idle-flow-timeout --latency-buckets --bucket-hold --collector --spread --report-format --report-to-sender --report-log --log-format --no-node-id-word --no-packet-headers --compat --drop-tagged --max-flows --max-fine-flows --allow --strict --lease-key --max-new-flows --max-reports --max-summaries --control --http --otlp --remote-write --push-interval --push-headers-file --push-instance --detach --now --bpffs --log-level --verbose --help --version attach detach help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-identity)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --hook)
                    COMPREPLY=($(compgen -W "auto xdp tc" -- "${cur}"))
                    return 0
                    ;;
                --xdp-mode)
                    COMPREPLY=($(compgen -W "auto native generic" -- "${cur}"))
                    return 0
                    ;;
                --nic-timestamps)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --host-times)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --clock-error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --encap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dscp-value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dscp-mask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --extension-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --int-dscp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --summary-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --loss-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --idle-flow-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency-buckets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bucket-hold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spread)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --report-format)
                    COMPREPLY=($(compgen -W "v0.5 v1.0 v2.0" -- "${cur}"))
                    return 0
                    ;;
                --report-to-sender)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report-log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-format)
                    COMPREPLY=($(compgen -W "host-int json" -- "${cur}"))
                    return 0
                    ;;
                --no-node-id-word)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --no-packet-headers)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --compat)
                    COMPREPLY=($(compgen -W "host-int" -- "${cur}"))
                    return 0
                    ;;
                --drop-tagged)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --max-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-fine-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --strict)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --lease-key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-new-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-reports)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-summaries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --control)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --otlp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --remote-write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --push-interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --push-headers-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --push-instance)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__sink__subcmd__attach)
            opts="-v -h -V --config --dev --node-id --node-name --label --no-identity --hook --xdp-mode --nic-timestamps --host-times --clock-error --encap --dscp-value --dscp-mask --extension-port --int-dscp --report-period --summary-period --loss-timeout --idle-flow-timeout --latency-buckets --bucket-hold --collector --spread --report-format --report-to-sender --report-log --log-format --no-node-id-word --no-packet-headers --compat --drop-tagged --max-flows --max-fine-flows --allow --strict --lease-key --max-new-flows --max-reports --max-summaries --control --http --otlp --remote-write --push-interval --push-headers-file --push-instance --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-identity)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --hook)
                    COMPREPLY=($(compgen -W "auto xdp tc" -- "${cur}"))
                    return 0
                    ;;
                --xdp-mode)
                    COMPREPLY=($(compgen -W "auto native generic" -- "${cur}"))
                    return 0
                    ;;
                --nic-timestamps)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --host-times)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --clock-error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --encap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dscp-value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dscp-mask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --extension-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --int-dscp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --summary-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --loss-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --idle-flow-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency-buckets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bucket-hold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spread)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --report-format)
                    COMPREPLY=($(compgen -W "v0.5 v1.0 v2.0" -- "${cur}"))
                    return 0
                    ;;
                --report-to-sender)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report-log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-format)
                    COMPREPLY=($(compgen -W "host-int json" -- "${cur}"))
                    return 0
                    ;;
                --no-node-id-word)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --no-packet-headers)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --compat)
                    COMPREPLY=($(compgen -W "host-int" -- "${cur}"))
                    return 0
                    ;;
                --drop-tagged)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --max-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-fine-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --strict)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --lease-key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-new-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-reports)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-summaries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --control)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --otlp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --remote-write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --push-interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --push-headers-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --push-instance)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__sink__subcmd__detach)
            opts="-v -h -V --dev --now --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__sink__subcmd__help)
            opts="attach detach help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__sink__subcmd__help__subcmd__attach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__sink__subcmd__help__subcmd__detach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__sink__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source)
            opts="-v -h -V --config --dev --node-id --hook --encap --superpackets --compat --dscp-value --dscp-mask --extension-port --int-dscp --mode --mx-sample --mtu --max-hops --path-items --dest-file --static --idle-flow-timeout --max-flows --collector --node-name --label --no-identity --clock-error --force --lease-key --no-mss-clamp --no-tcx --bpffs --log-level --verbose --help --version attach detach add-dest del-dest rules dests help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hook)
                    COMPREPLY=($(compgen -W "tc tc-ingress xdp" -- "${cur}"))
                    return 0
                    ;;
                --encap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --superpackets)
                    COMPREPLY=($(compgen -W "encap encap-all stage no-gso skip" -- "${cur}"))
                    return 0
                    ;;
                --compat)
                    COMPREPLY=($(compgen -W "host-int" -- "${cur}"))
                    return 0
                    ;;
                --dscp-value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dscp-mask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --extension-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --int-dscp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mode)
                    COMPREPLY=($(compgen -W "md mx" -- "${cur}"))
                    return 0
                    ;;
                --mx-sample)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mtu)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-hops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --path-items)
                    COMPREPLY=($(compgen -W "latency queue" -- "${cur}"))
                    return 0
                    ;;
                --dest-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --static)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --idle-flow-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-identity)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --clock-error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --force)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --lease-key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-mss-clamp)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__add__subcmd__dest)
            opts="-v -h -V --dest-file --static --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --dest-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__attach)
            opts="-v -h -V --foreground --config --dev --node-id --hook --encap --superpackets --compat --dscp-value --dscp-mask --extension-port --int-dscp --mode --mx-sample --mtu --max-hops --path-items --dest-file --static --idle-flow-timeout --max-flows --collector --node-name --label --no-identity --clock-error --force --lease-key --no-mss-clamp --no-tcx --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hook)
                    COMPREPLY=($(compgen -W "tc tc-ingress xdp" -- "${cur}"))
                    return 0
                    ;;
                --encap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --superpackets)
                    COMPREPLY=($(compgen -W "encap encap-all stage no-gso skip" -- "${cur}"))
                    return 0
                    ;;
                --compat)
                    COMPREPLY=($(compgen -W "host-int" -- "${cur}"))
                    return 0
                    ;;
                --dscp-value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dscp-mask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --extension-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --int-dscp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mode)
                    COMPREPLY=($(compgen -W "md mx" -- "${cur}"))
                    return 0
                    ;;
                --mx-sample)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mtu)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-hops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --path-items)
                    COMPREPLY=($(compgen -W "latency queue" -- "${cur}"))
                    return 0
                    ;;
                --dest-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --static)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --idle-flow-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-identity)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --clock-error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --force)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --lease-key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-mss-clamp)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__del__subcmd__dest)
            opts="-v -h -V --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__dests)
            opts="-v -h -V --json --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__detach)
            opts="-v -h -V --dev --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__help)
            opts="attach detach add-dest del-dest rules dests help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__help__subcmd__add__subcmd__dest)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__help__subcmd__attach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__help__subcmd__del__subcmd__dest)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__help__subcmd__dests)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__help__subcmd__detach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__help__subcmd__rules)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__source__subcmd__rules)
            opts="-v -h -V --json --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__status)
            opts="-v -h -V --flows --sort --peers --all --json --watch --store --control --preflight --config --dev --collector --check-config --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --flows)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sort)
                    COMPREPLY=($(compgen -W "loss latency packets" -- "${cur}"))
                    return 0
                    ;;
                --peers)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --watch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --control)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --check-config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__tcp)
            opts="-v -h -V --config --node-id --sample-period --cgroup --option --option-period --collector --node-name --label --no-identity --report-period --report --max-connections --max-endings --max-reports --http --json --once --watch --top --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sample-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cgroup)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --option)
                    COMPREPLY=($(compgen -W "none leased all" -- "${cur}"))
                    return 0
                    ;;
                --option-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-identity)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --report-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=($(compgen -W "change sample end" -- "${cur}"))
                    return 0
                    ;;
                --max-connections)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-endings)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-reports)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --once)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --top)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__transit)
            opts="-v -h -V --config --dev --node-id --allow --dscp-value --dscp-mask --extension-port --carriers --int-dscp --int-port --hold --link-speed --mtu --collector --waits --node-name --label --no-identity --max-arrivals --http --no-tcx --bpffs --log-level --verbose --help --version attach detach help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dscp-value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dscp-mask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --extension-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --carriers)
                    COMPREPLY=($(compgen -W "host-int vxlan-gpe int-md geneve tcp-int" -- "${cur}"))
                    return 0
                    ;;
                --int-dscp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --int-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --link-speed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mtu)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --waits)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-identity)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --max-arrivals)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__transit__subcmd__attach)
            opts="-v -h -V --config --dev --node-id --allow --dscp-value --dscp-mask --extension-port --carriers --int-dscp --int-port --hold --link-speed --mtu --collector --waits --node-name --label --no-identity --max-arrivals --http --no-tcx --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dscp-value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dscp-mask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --extension-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --carriers)
                    COMPREPLY=($(compgen -W "host-int vxlan-gpe int-md geneve tcp-int" -- "${cur}"))
                    return 0
                    ;;
                --int-dscp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --int-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --link-speed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mtu)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --collector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --waits)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --no-identity)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --max-arrivals)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --http)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__transit__subcmd__detach)
            opts="-v -h -V --dev --bpffs --log-level --verbose --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --dev)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bpffs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -W "error warning info debug" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__transit__subcmd__help)
            opts="attach detach help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__transit__subcmd__help__subcmd__attach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__transit__subcmd__help__subcmd__detach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        hostint__subcmd__transit__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _hostint -o nosort -o bashdefault -o default hostint
else
    complete -F _hostint -o bashdefault -o default hostint
fi
