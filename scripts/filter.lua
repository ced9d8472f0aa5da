-- filter: keeps the records whose value contains a text, or the others.
--
--   moontide run scripts/filter.lua --in log --out errors -b localhost:9092 -g filter --set contains=ERROR
local M = {}

M.params = {
    contains = { type = "string", required = true, doc = "Text that a value must contain." },
    invert = { type = "boolean", default = false, doc = "Keep the others instead." },
}

function M.process(rec, ctx)
    local value = rec.value or ""
    local found = value:find(ctx.config.contains, 1, true) ~= nil
    if found ~= ctx.config.invert then
        return rec
    end
end

return M
