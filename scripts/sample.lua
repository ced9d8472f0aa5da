-- sample: one in `n` keys passes, with all of its records, so that what belongs together stays together; records
-- without a key pass by their offset. The same keys pass in every run and on every worker.
--
--   moontide run scripts/sample.lua --in events --out some -b localhost:9092 -g sample --set n=100
local M = {}

M.params = { n = { type = "integer", default = 10, min = 1, doc = "One in so many keys." } }

local function hash(text)
    local h = 5381
    for i = 1, #text do
        h = (h * 33 + text:byte(i)) % 4294967296
    end
    return h
end

function M.process(rec, ctx)
    local number = rec.key and hash(rec.key) or rec.offset
    if number % ctx.config.n == 0 then
        return rec
    end
end

return M
