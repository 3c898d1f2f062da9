/* What the target takes, as Markdown. */
#include "xpu_codegen/choose/rules.h"
#include "xpu_codegen/xpu_codegen.h"

/* A cell of a table: a '|' inside of it is not its end. */
static void add_cell(xpu_text *text, const char *content) {
    xpu_text_add(text, "| ");
    for (; *content; content++) {
        if (*content == '|') xpu_text_add(text, "\\");
        xpu_text_add_bytes(text, content, 1);
    }
    xpu_text_add(text, " ");
}

static void document_row(xpu_text *text, const xpu_support *row) {
    const xpu_op *op = xpu_op_of(row->op);
    add_cell(text, op->name);
    add_cell(text, op->about);
    add_cell(text, row->lowering);
    xpu_text_add(text, "| ");
    for (const xpu_rule *const *rule = row->rules; *rule; rule++) {
        xpu_text_add(text, "%s%s", rule == row->rules ? "" : ", ", (*rule)->id);
    }
    xpu_text_add(text, " |\n");
}

/* Whether no row before has the rule. */
static int is_new_rule(const xpu_support *row, const xpu_rule *rule) {
    for (const xpu_support *r = xpu_sim_support; r != row; r++) {
        for (const xpu_rule *const *other = r->rules; *other; other++) {
            if (*other == rule) return 0;
        }
    }
    return 1;
}

static void document_rules(xpu_text *text) {
    xpu_text_add(text, "\n| rule | what it says | what to do |\n|---|---|---|\n");
    for (const xpu_support *row = xpu_sim_support; row->lowering; row++) {
        for (const xpu_rule *const *rule = row->rules; *rule; rule++) {
            if (!is_new_rule(row, *rule)) continue;
            add_cell(text, (*rule)->id);
            add_cell(text, (*rule)->sentence);
            add_cell(text, (*rule)->hint);
            xpu_text_add(text, "|\n");
        }
    }
}

void xpu_codegen_document(xpu_text *text) {
    xpu_text_add(text,
                 "# What xpu-sim supports\n\nThe lowering table, rules and patterns of the target (`make gen`).\n\n");
    xpu_text_add(text, "| operator | meaning | becomes | rules |\n|---|---|---|---|\n");
    for (const xpu_support *row = xpu_sim_support; row->lowering; row++) document_row(text, row);
    document_rules(text);
    xpu_text_add(text, "\n| this | then this is fused | what it does to results |\n|---|---|---|\n");
    for (const xpu_pattern *pattern = xpu_sim_patterns; pattern->name; pattern++) {
        add_cell(text, pattern->chain[0]);
        add_cell(text, pattern->chain[1]);
        add_cell(text, pattern->sentence);
        xpu_text_add(text, "|\n");
    }
}
