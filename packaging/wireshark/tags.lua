-- SipHash-2-4, which signs hostint's lease messages.

return function()
    local M = {}

    local function little_endian(bytes, at, count)
        local low, high = 0, 0
        for i = count - 1, 0, -1 do
            if i >= 4 then
                high = high * 256 + bytes:get_index(at + i)
            else
                low = low * 256 + bytes:get_index(at + i)
            end
        end
        return UInt64.new(low, high)
    end

    local function rounds(v, count)
        for _ = 1, count do
            v[1] = v[1] + v[2]
            v[2] = v[2]:rol(13):bxor(v[1])
            v[1] = v[1]:rol(32)
            v[3] = v[3] + v[4]
            v[4] = v[4]:rol(16):bxor(v[3])
            v[1] = v[1] + v[4]
            v[4] = v[4]:rol(21):bxor(v[1])
            v[3] = v[3] + v[2]
            v[2] = v[2]:rol(17):bxor(v[3])
            v[3] = v[3]:rol(32)
        end
    end

    -- The tag of bytes with a key of 16 bytes.
    function M.tag(key, bytes)
        local first, second = little_endian(key, 0, 8), little_endian(key, 8, 8)
        local v = {
            UInt64.new(0x70736575, 0x736f6d65):bxor(first), UInt64.new(0x6e646f6d, 0x646f7261):bxor(second),
            UInt64.new(0x6e657261, 0x6c796765):bxor(first), UInt64.new(0x79746573, 0x74656462):bxor(second),
        }
        local size = bytes:len()
        local whole = size - size % 8
        local function take(word)
            v[4] = v[4]:bxor(word)
            rounds(v, 2)
            v[1] = v[1]:bxor(word)
        end
        for at = 0, whole - 8, 8 do
            take(little_endian(bytes, at, 8))
        end
        take(little_endian(bytes, whole, size % 8):bxor(UInt64.new(0, size % 256 * 0x1000000)))
        v[3] = v[3]:bxor(UInt64.new(0xff, 0))
        rounds(v, 4)
        return v[1]:bxor(v[2]):bxor(v[3]):bxor(v[4])
    end

    return M
end
