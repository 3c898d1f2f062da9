/* Which option needs or excludes which: one table for each tool, so that none is dropped without a word. */
#ifndef XPU_TOOLS_RULES_H
#define XPU_TOOLS_RULES_H

#include "tools/common/tool.h"

typedef enum { XPU_NEEDS, XPU_EXCLUDES } xpu_option_relation;

/* `option` needs, or excludes, `other`: another option, or a fact that the caller states, such as "diff" or "on rtl".
 */
typedef struct {
    const char *option; /* NULL ends the table */
    xpu_option_relation relation;
    const char *other;
    const char *what, *why, *hint;
} xpu_option_rule;

/* The first rule that the command line breaks is an error [usage]; `facts` ends with NULL. Returns an exit code. */
int xpu_tool_check_rules(xpu_tool *tool, const xpu_option_rule *rules, const char *const *facts);

#endif
