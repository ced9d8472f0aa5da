--[[
posix: processes, signals and the clock, for the driver of these tests. Linux on 64 bits.
]]
local ffi = require "ffi"

ffi.cdef [[
struct timespec { long sec; long nsec; };
int clock_gettime(int clock, struct timespec *time);
int nanosleep(const struct timespec *time, struct timespec *rest);
int fork(void);
int execvp(const char *file, char *const argv[]);
int open(const char *path, int flags, int mode);
int dup2(int from, int to);
int kill(int pid, int signal);
int waitpid(int pid, int *status, int options);
int prctl(int option, unsigned long value, unsigned long, unsigned long, unsigned long);
void _exit(int code);
int setenv(const char *name, const char *value, int overwrite);
int getpid(void);
]]
local C = ffi.C
local WRITE_CREATE, APPEND, DEVNULL_READ = 0x41, 0x400, 0
local SET_DEATH_SIGNAL, KILL, NOHANG = 1, 9, 1

local posix = { KILL = KILL, TERM = 15, STOP = 19, CONT = 18 }

local time = ffi.new "struct timespec"

-- Milliseconds since 1970.
function posix.now_ms()
    C.clock_gettime(0, time)
    return tonumber(time.sec) * 1000 + math.floor(tonumber(time.nsec) / 1e6)
end

function posix.sleep_ms(ms)
    time.sec, time.nsec = math.floor(ms / 1000), (ms % 1000) * 1e6
    C.nanosleep(time, nil)
end

function posix.setenv(name, value)
    C.setenv(name, value, 1)
end

function posix.pid()
    return C.getpid()
end

-- Starts argv with stdout and stderr appended to a file. It dies with this process, unless `stays`.
function posix.spawn(argv, log, stays)
    local args = ffi.new("const char *[?]", #argv + 1)
    for i, arg in ipairs(argv) do
        args[i - 1] = arg
    end
    local pid = C.fork()
    if pid == 0 then
        if not stays then
            C.prctl(SET_DEATH_SIGNAL, KILL, 0, 0, 0)
        end
        C.dup2(C.open("/dev/null", DEVNULL_READ, 0), 0)
        local fd = C.open(log, WRITE_CREATE + APPEND, 420)
        C.dup2(fd, 1)
        C.dup2(fd, 2)
        C.execvp(argv[1], ffi.cast("char *const *", args))
        C._exit(127)
    end
    assert(pid > 0, "fork failed")
    return pid
end

function posix.kill(pid, signal)
    return C.kill(pid, signal) == 0
end

local status = ffi.new "int[1]"

-- nil while the child runs, then how it ended, once: its exit code, or minus the signal.
function posix.ended(pid)
    if C.waitpid(pid, status, NOHANG) ~= pid then
        return nil
    end
    local signal = bit.band(status[0], 127)
    return signal ~= 0 and -signal or bit.rshift(status[0], 8)
end

return posix
