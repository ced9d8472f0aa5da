-- mask: personal data in texts is replaced: mail addresses, and long numbers such as those of cards and accounts,
-- of which the last four digits stay.
--
--   moontide run scripts/mask.lua --in tickets --out tickets-safe -b localhost:9092 -g mask
local M = {}

M.params = {
    digits = { type = "integer", default = 9, min = 5, doc = "A number of so many digits is masked." },
}

function M.process(rec, ctx)
    if rec.value == nil then
        return rec
    end
    local text = rec.value:gsub("[%w%.%-_%+]+@[%w%-]+%.[%w%.%-]*%w", "***@***")
    rec.value = text:gsub("%d[%d %-]+%d", function(number)
        local _, digits = number:gsub("%d", "")
        if digits >= ctx.config.digits then
            return ("*"):rep(digits - 4) .. number:gsub("%D", ""):sub(-4)
        end
    end)
    return rec
end

return M
