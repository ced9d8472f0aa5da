-- deduplicate: of records with one key and one value only the first passes, as long as it is among the last `keep`
-- that this worker has seen. What is remembered is the worker's own and ends with the process: leave
-- num.threads.per.task at 1, so that a partition has one worker.
--
--   moontide run scripts/deduplicate.lua --in events --out once -b localhost:9092 -g once
local M = {}

M.params = { keep = { type = "integer", default = 100000, min = 1, doc = "How many records are remembered." } }

local seen, ring, at = {}, {}, 0

function M.process(rec, ctx)
    local key = rec.key or ""
    local id = #key .. ":" .. key .. (rec.value or "\0none")
    if seen[id] then
        return
    end
    at = at % ctx.config.keep + 1
    if ring[at] then
        seen[ring[at]] = nil
    end
    seen[id], ring[at] = true, id
    return rec
end

return M
