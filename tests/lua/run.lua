--[[
The tests of Lua code that needs no C: luajit tests/lua/run.lua, from the root of the repository.

Each tests/lua/test_*.lua returns a table from facts to functions that raise when the fact is not one.
The last line is "N passed, N failed, N skipped"; the exit code is 1 when one failed.
]]
package.path = "lua/?.lua;tests/lua/?.lua"

local NAMES = { "test_doc", "test_headers", "test_params" }

-- The C side, for modules that only need strings of it.
package.loaded["moontide.host"] = require "fake_host"

local passed, failed = 0, 0
for _, name in ipairs(NAMES) do
    for fact, test in pairs(require(name)) do
        local ok, why = xpcall(test, debug.traceback)
        if ok then
            passed = passed + 1
        else
            failed = failed + 1
            print("FAILED " .. name .. ": " .. fact .. "\n" .. why)
        end
    end
end
print(("%d passed, %d failed, 0 skipped"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
