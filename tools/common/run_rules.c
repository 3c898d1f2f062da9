/* Which of xpu-run's options need or exclude which. */
#include "tools/common/run_rules.h"

#include <string.h>

#define NOT_BARE(option)                                                                                               \
    {option,                                                                                                           \
     XPU_EXCLUDES,                                                                                                     \
     "bare",                                                                                                           \
     "this is not for bare programs",                                                                                  \
     "a bare program has no layers, inputs or outputs",                                                                \
     "leave it out; --dump-mem=SYMBOL:BYTES:FILE writes memory"}
#define ONLY_BARE(option, what, why, hint) {option, XPU_NEEDS, "bare", what, why, hint}
#define ONLY_RTL(option)                                                                                               \
    {option,                                                                                                           \
     XPU_NEEDS,                                                                                                        \
     "on rtl",                                                                                                         \
     "this device does not have this",                                                                                 \
     "only rtl, the Verilated chip, has time and signals",                                                             \
     "use --device=rtl"}
#define ONLY_FUNC(option)                                                                                              \
    {option,                                                                                                           \
     XPU_NEEDS,                                                                                                        \
     "on func",                                                                                                        \
     "this device does not have this",                                                                                 \
     "only func, the functional chip, can do it",                                                                      \
     "use --device=func"}
#define NOT_REF(option)                                                                                                \
    {option,                                                                                                           \
     XPU_EXCLUDES,                                                                                                     \
     "on ref",                                                                                                         \
     "this device does not have this",                                                                                 \
     "ref is no chip, it computes layers on the host",                                                                 \
     "use --device=rtl or --device=func"}
#define OF_IMAGE(option)                                                                                               \
    {option,                                                                                                           \
     XPU_NEEDS,                                                                                                        \
     "image",                                                                                                          \
     "there is no picture",                                                                                            \
     "it says how pixels become numbers",                                                                              \
     "add --image=FILE, or leave it out"}
#define NOT_ALONE(option)                                                                                              \
    {option,                                                                                                           \
     XPU_EXCLUDES,                                                                                                     \
     "layer",                                                                                                          \
     "one layer alone takes its operands from --from-dump",                                                            \
     "an operand that is given beside them would be compared with a result of the dump's",                             \
     "leave it out, or run the whole program with --dump-layers"}
#define NOT_SHOWN(option)                                                                                              \
    {option,                                                                                                           \
     XPU_EXCLUDES,                                                                                                     \
     "layer",                                                                                                          \
     "the outputs of the program are not printed",                                                                     \
     "one layer alone says how its result differs from the dump's",                                                    \
     "leave it out"}
#define NOT_FRAMES(option)                                                                                             \
    {option,                                                                                                           \
     XPU_EXCLUDES,                                                                                                     \
     "frames",                                                                                                         \
     "this is of one run",                                                                                             \
     "each frame is a run of its own",                                                                                 \
     "leave it out, or run one frame without --frames"}
#define OF_ONE_LAYER(option)                                                                                           \
    {option,                                                                                                           \
     XPU_EXCLUDES,                                                                                                     \
     "several layers",                                                                                                 \
     "this is of one run",                                                                                             \
     "more than one layer matches --layer, and each "                                                                  \
     "is a run of its own",                                                                                            \
     "name one layer"}

static const xpu_option_rule rules[] = {
    NOT_BARE("input"),
    NOT_BARE("image"),
    NOT_BARE("mean"),
    NOT_BARE("std"),
    NOT_BARE("bgr"),
    NOT_BARE("top"),
    NOT_BARE("labels"),
    NOT_BARE("output"),
    NOT_BARE("dump-layers"),
    NOT_BARE("dump-filter"),
    NOT_BARE("dump-iterations"),
    NOT_BARE("iteration"),
    NOT_BARE("layer"),
    NOT_BARE("from-dump"),
    NOT_BARE("heatmap"),
    NOT_BARE("stats"),
    NOT_BARE("profile"),
    NOT_BARE("frames"),
    NOT_BARE("trace"),
    {"bare", XPU_EXCLUDES, "on ref", "a bare program cannot run on ref",
     "ref computes layers of a network, it has no core", "use --device=func or --device=rtl"},
    ONLY_BARE("chip", "the program has its chip", "xpuc compiles for one chip, whose description is in the program",
              "leave it out, or compile with xpuc --chip"),
    ONLY_BARE("dump-mem", "the program is not bare", "memory is dumped of bare programs",
              "add --bare, or use --dump-layers=DIR"),
    ONLY_RTL("lockstep"),
    ONLY_RTL("no-skip"),
    ONLY_RTL("set"),
    ONLY_RTL("instructions"),
    ONLY_RTL("profile"),
    ONLY_RTL("trace"),
    ONLY_RTL("wave"),
    ONLY_FUNC("check-races"),
    ONLY_FUNC("gdb"),
    NOT_REF("seed"),
    {"dump-filter", XPU_NEEDS, "dump-layers", "nothing is dumped",
     "the filter chooses among the layers of --dump-layers", "add --dump-layers=DIR"},
    {"dump-iterations", XPU_NEEDS, "dump-layers", "nothing is dumped",
     "it chooses among the iterations of --dump-layers", "add --dump-layers=DIR"},
    {"iteration", XPU_NEEDS, "a layer or figures", "no layer is named",
     "it says in which iteration one layer runs alone, or which iterations --profile and --stats show",
     "add --layer=NAME --from-dump=DIR, --profile or --stats=FILE"},
    {"from-dump", XPU_NEEDS, "layer", "no layer is named", "a dump gives the operands of one layer that runs alone",
     "add --layer=NAME"},
    {"layer", XPU_NEEDS, "from-dump", "there are no operands", "one layer alone takes its operands from a dump folder",
     "add --from-dump=DIR; xpu-run --dump-layers=DIR makes one"},
    {"heatmap", XPU_NEEDS, "layer", "nothing is compared", "the picture is of what differs between a layer and a dump",
     "add --layer=NAME --from-dump=DIR, or use xpu-dump diff A B --heatmap"},
    {"core", XPU_NEEDS, "instructions", "no instructions are printed", "it chooses whose instructions are",
     "add --instructions"},
    OF_IMAGE("mean"),
    OF_IMAGE("std"),
    OF_IMAGE("bgr"),
    NOT_ALONE("input"),
    NOT_ALONE("image"),
    NOT_SHOWN("top"),
    NOT_SHOWN("labels"),
    {"dump-iterations", XPU_EXCLUDES, "layer", "there is nothing to choose", "one layer alone runs in one iteration",
     "leave it out"},
    {"dump-filter", XPU_EXCLUDES, "layer", "there is nothing to choose", "one layer alone dumps its own results",
     "leave it out"},
    NOT_FRAMES("dump-layers"),
    NOT_FRAMES("layer"),
    NOT_FRAMES("iteration"),
    NOT_FRAMES("profile"),
    NOT_FRAMES("trace"),
    NOT_FRAMES("wave"),
    OF_ONE_LAYER("stats"),
    OF_ONE_LAYER("trace"),
    OF_ONE_LAYER("wave"),
    OF_ONE_LAYER("gdb"),
    OF_ONE_LAYER("dump-layers"),
    {0},
};

int xpu_run_check_rules(xpu_tool *tool, const char *device, int several_layers) {
    const char *facts[4] = {strcmp(device, "rtl") == 0 ? "on rtl" : strcmp(device, "func") == 0 ? "on func" : "on ref"};
    int count = 1;
    if (several_layers) facts[count++] = "several layers";
    if (xpu_tool_flag(tool, "layer") || xpu_tool_flag(tool, "stats") || xpu_tool_flag(tool, "profile"))
        facts[count++] = "a layer or figures";
    return xpu_tool_check_rules(tool, rules, facts);
}
