-- enrich: adds what a table knows of the key as headers; the table is a Lua module beside the script, read once at the
-- start by each worker. Keys that it does not know go to `unknown`.
--
--   moontide run scripts/enrich.lua --in sales --out sales-by-shop -b localhost:9092 -g enrich
local shops = require "shops"

return function(rec, ctx)
    local shop = shops[rec.key or ""]
    if shop == nil then
        ctx:emit("unknown", { key = rec.key, value = rec.value })
        return
    end
    rec.headers:set("city", shop.city)
    rec.headers:set("region", shop.region)
    return rec
end
