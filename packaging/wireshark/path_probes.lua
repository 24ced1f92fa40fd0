-- The probes that prove a lease's path.

return function(fields, tools, ip, leases, options)
    local M = {}
    local h, put, FORMS = fields.h, tools.put, leases.FORMS

    local PROBE_MAGIC, PROBE_LENGTH, INT_BLOCK, MD_BLOCK = 0x68696e70, 24, 36, 48

    local function show_probe(tvb, at, pinfo, tree)
        local probe = tvb(at, PROBE_LENGTH):tvb()
        local top = tree:add(fields.lease, tvb(at), "hostint probe of a path")
        put(top, h.probe_path_magic, probe(0, 4))
        put(top, h.probe_path_version, probe(4, 1))
        put(top, h.probe_path_form, probe(5, 1))
        put(top, h.probe_path_number, probe(6, 1))
        put(top, h.probe_path_tos, probe(7, 1))
        put(top, h.probe_path_round, probe(8, 8))
        local tag = put(top, h.probe_path_tag, probe(16, 8))
        local _, version = ip.header(pinfo)
        local src, dst = ip.addresses(version)
        if options.lease_key and src then
            leases.check(tag, probe(16, 8):uint64(), probe(0, 16):bytes(), src, dst)
        end
        local form = FORMS[probe(5, 1):uint()] or "unknown form"
        local sentence = string.format("Probe %d of %s", probe(6, 1):uint(), form)
        top:append_text(": " .. sentence)
        pinfo.cols.protocol = "hostint"
        pinfo.cols.info = sentence
        return true
    end

    -- Where a probe begins in the payload of UDP or TCP: at once, or behind an INT block whose mark was lost.
    local function place(tvb)
        for _, at in ipairs({ 0, INT_BLOCK, MD_BLOCK }) do
            if tvb:len() >= at + PROBE_LENGTH and tvb(at, 4):uint() == PROBE_MAGIC then
                return at
            end
        end
    end

    -- True if the payload is a probe.
    function M.probe(tvb, pinfo, tree)
        local at = place(tvb)
        return at and show_probe(tvb, at, pinfo, tree) or false
    end

    local plain = DissectorTable.get("udp.port"):get_dissector(4790)
    M.plain = plain

    -- UDP to the port of VXLAN-GPE: a probe, or what it was taken for without this dissector.
    function M.port(tvb, pinfo, tree)
        return M.probe(tvb, pinfo, tree) and tvb:len() or nil
    end

    function M.pass(tvb, pinfo, tree)
        return tools.pass(plain or Dissector.get("data"), tvb, pinfo, tree)
    end

    return M
end
