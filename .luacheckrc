-- No ignores: what luacheck says is mended.
std = "luajit"
max_line_length = 120
