#include "tools/common/rules.h"

#include <string.h>

static int holds(const xpu_tool *tool, const char *condition, const char *const *facts) {
    for (; *facts; facts++) {
        if (strcmp(*facts, condition) == 0) return 1;
    }
    return xpu_tool_flag(tool, condition);
}

int xpu_tool_check_rules(xpu_tool *tool, const xpu_option_rule *rules, const char *const *facts) {
    for (; rules->option; rules++) {
        if (!xpu_tool_flag(tool, rules->option)) continue;
        if (holds(tool, rules->other, facts) == (rules->relation == XPU_NEEDS)) continue;
        return xpu_tool_usage(tool, xpu_printf(tool->arena, "option '--%s'", rules->option), rules->what, rules->why,
                              rules->hint);
    }
    return XPU_OK;
}
