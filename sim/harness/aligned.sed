# Arrays of the Verilated model that host vectors run over begin a line of the host's cache, wherever other variables stand
s/^( +)(Vl[^ ]*(VlWide<(16|32)>|[IQ]Data\/\*[0-9:]*\*\/, (16|32|64|128|256|1024)>).* [A-Za-z_0-9]+;)$/\1alignas(64) \2/
