#!/usr/bin/env bash
# scripts/layers finds what it forbids: in small trees, each with one planted include.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
put() { # FILE INCLUDED...: a file with these includes
    mkdir -p "$folder/$(dirname "$1")"
    printf '#include "%s"\n' "${@:2}" >"$folder/$1"
}
plain() { # a tree that holds
    rm -rf "${folder:?}"/*
    put core/ir/graph.h base/arena.h
    put core/ir/graph.c core/ir/graph.h
    put core/ops/op.h core/ir/graph.h
    put xpu_codegen/state.h core/ir/graph.h
    put xpu_codegen/state.c xpu_codegen/state.h
    put xpu_codegen/choose/tiles.h xpu_codegen/state.h
    put xpu_codegen/lower/matrix.c xpu_codegen/choose/tiles.h
    put xpu_codegen/lower/layers.h xpu_codegen/state.h
    put xpu_codegen/emit/text.h xpu_codegen/lower/layers.h
    put xpu_codegen/pack/file.h xpu_codegen/state.h
    put xpu_codegen/target.c xpu_codegen/pack/file.h
    put sim/func/core.h core/chip.h
    put base/arena.h stdlib.h
}
layers() { bash "$folder.layers" "$folder"; }
cp scripts/layers "$folder.layers"
trap 'rm -rf "$folder" "$folder.layers"' EXIT
plain
check 0 ' 0 violations' layers
put base/arena.h core/ir/graph.h
check 1 'base/arena.h:1: error [layers] base may not include core' layers
for later in "choose/tiles.h lower/layers.h" "choose/tiles.c pack/file.h" "lower/layers.c emit/text.h" \
    "emit/text.c pack/file.h" "state.h choose/tiles.h" "state.c choose/tiles.h"; do
    set -- $later
    plain
    put "xpu_codegen/$1" "xpu_codegen/$2"
    check 1 "xpu_codegen/$1:1: error [step] a later step is included (xpu_codegen/$2)" layers
done
plain
put core/ir/graph.c core/ir/graph.h core/ops/op.h # through the pair of graph.c and graph.h
check 1 'core/ops/op: error [circle] core/ir/graph -> core/ops/op -> core/ir/graph' layers
plain
put sim/func/core.h sim/func/part.h
put sim/func/part.h sim/func/rest.h
put sim/func/rest.c sim/func/core.h
check 1 'sim/func/core -> sim/func/part -> sim/func/rest -> sim/func/core' layers
plain
put core/ir/dim.c core/ops/op.h
check 1 'core/ir/dim.c:1: error [layers] core goes from ir over ops to passes (core/ops/op.h)' layers
plain
put core/ops/ref.c core/target.h
check 1 'core/ops/ref.c:1: error [layers] core goes from ir over ops to passes (core/target.h)' layers
echo "$passed passed, $failed failed"
[ $failed = 0 ]
