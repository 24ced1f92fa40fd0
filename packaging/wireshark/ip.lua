-- The IP header of the packet being dissected: read from its fields, because no dissector passes it on.

return function()
    local M = {}

    local dscp = { Field.new("ip.dsfield.dscp"), Field.new("ipv6.tclass.dscp") }
    local length = { Field.new("ip.len"), Field.new("ipv6.plen") }
    local src, dst = { Field.new("ip.src"), Field.new("ipv6.src") }, { Field.new("ip.dst"), Field.new("ipv6.dst") }
    local sport = { [6] = Field.new("tcp.srcport"), [17] = Field.new("udp.srcport") }
    -- Without a listener that has a filter, tshark's summary builds no tree, and there are no fields to read.
    M.listener = Listener.new("frame", "int")

    -- The innermost header so far: the one that was dissected last.
    local function last(extractor)
        local all = { extractor() }
        return all[#all], #all
    end

    local function value(extractor)
        local field = last(extractor)
        return field and field.value
    end

    -- DSCP, and 1 for IPv4, 2 for IPv6.
    function M.header(pinfo)
        local version = value(src[2]) == pinfo.net_src and 2 or 1
        return value(dscp[version]), version
    end

    function M.length(version)
        return value(length[version])
    end

    function M.addresses(version)
        local from, to = last(src[version]), last(dst[version])
        if from and to then
            return from.range:bytes(), to.range:bytes()
        end
        return nil
    end

    -- Where the packet's TCP or UDP header begins, if it has only one.
    function M.only_segment(protocol)
        local field, number = last(sport[protocol])
        return number == 1 and field.offset or nil
    end

    return M
end
