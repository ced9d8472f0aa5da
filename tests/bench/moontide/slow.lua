-- slow: each record waits a millisecond, as for an answer from elsewhere.
local tide = require "moontide"

return function(rec)
    tide.sleep("1ms")
    return rec
end
