-- hostint's probes: a sink asks a collector, at its report port, whether it is there.

return function(fields, tools)
    local M = {}
    local h, put = fields.h, tools.put

    local MAGIC, LENGTH, QUESTION, ANSWER = 0xf0696e74, 32, 1, 2

    -- Returns the number of bytes taken: 0 if it is no probe.
    function M.dissect(tvb, pinfo, tree)
        if tvb:len() < LENGTH or tvb:reported_len() ~= LENGTH or tvb(0, 4):uint() ~= MAGIC then
            return 0
        end
        local kind = tvb(5, 1):uint()
        local top = tree:add(fields.lease, tvb(), "hostint probe")
        put(top, h.probe_magic, tvb(0, 4))
        local version = put(top, h.probe_version, tvb(4, 1))
        if tvb(4, 1):uint() ~= 1 then
            tools.warn(version, "header", "this dissector knows version 1 only")
        end
        put(top, h.probe_kind, tvb(5, 1))
        tools.reserved(top, h.probe_reserved, tvb(7, 1), tvb(7, 1):uint())
        put(top, h.probe_nonce, tvb(8, 8))
        put(top, h.probe_node, tvb(16, 4))
        tools.reserved(top, h.probe_reserved, tvb(20, 4), tvb(20, 4):uint())
        local node, sentence = tvb(16, 4):uint(), "Probe of unknown kind " .. kind
        if kind == QUESTION then
            sentence = string.format("Probe of node %d: is this collector there?", node)
        elseif kind == ANSWER then
            put(top, h.probe_queue, tvb(6, 1))
            put(top, h.probe_run, tvb(24, 8))
            sentence = string.format("Answer to the probe of node %d: queue %d %% full", node, tvb(6, 1):uint())
        end
        top:append_text(": " .. sentence)
        pinfo.cols.protocol = "hostint"
        pinfo.cols.info = sentence
        return LENGTH
    end

    return M
end
