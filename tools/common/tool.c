#include "tools/common/tool.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/stop.h"
#include "base/temporary.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpuc/include/xpuc.h"

static int is_common(const xpu_arguments *all, uint32_t i, const char *name) {
    return all->items[i].name && strcmp(all->items[i].name, name) == 0;
}

/* Takes the options that every tool has out of the list. */
static void take_common(xpu_tool *tool, const xpu_arguments *all, const xpu_argument **help, int *version) {
    for (uint32_t i = 0; i < all->count; i++) {
        if (is_common(all, i, "quiet"))
            tool->quiet = 1;
        else if (is_common(all, i, "verbose"))
            tool->verbose++;
        else if (is_common(all, i, "help"))
            *help = &all->items[i];
        else if (is_common(all, i, "version"))
            *version = 1;
        else
            XPU_PUSH(tool->arena, &tool->arguments, all->items[i]);
    }
}

static int work(xpu_tool *tool, int argc, char **argv, int (*run)(xpu_tool *tool)) {
    xpu_arguments all;
    const xpu_argument *help = NULL;
    int version = 0;
    xpu_options_parse(tool->arena, tool->command, argc, argv, &all, &tool->diags);
    take_common(tool, &all, &help, &version);
    if (help) {
        xpu_diags_clear(&tool->diags);
        const char *text = xpu_options_text(tool->arena, tool->command, help->value, XPU_VERSION, &tool->diags);
        if (text) fputs(text, stdout);
        return XPU_OK;
    }
    if (version) {
        xpu_diags_clear(&tool->diags);
        printf("%s %s\n", tool->command->tool, XPU_VERSION);
        return XPU_OK;
    }
    if (tool->diags.errors) return XPU_EUSAGE;
    int status = (int)xpu_standard_streams(tool->arena, tool->command, &tool->arguments, &tool->diags);
    return status ? status : run(tool);
}

int xpu_tool_main(const xpu_command *command, int argc, char **argv, int (*run)(xpu_tool *tool)) {
    static xpu_tool tool; /* static: its contents are needed after a longjmp */
    static int result;
    static void (*const ends[])(void) = {xpuc_end_temporaries, xpurt_end_temporaries, xpu_temporaries_end, NULL};
    tool.command = command;
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of the write */
    xpu_stop_install(command->tool, ends);
    xpu_mem_init(&tool.mem);
    xpu_keep_what_is_read(&tool.mem);
    xpu_diags_init(&tool.diags);
    if (setjmp(tool.mem.out_of_memory)) {
        xpu_error_oom_of(&tool.diags, &tool.mem);
    } else {
        tool.arena = xpu_arena_new(&tool.mem, "tool");
        result = work(&tool, argc, argv, run);
    }
    if (tool.diags.errors || tool.diags.out_of_memory) result = (int)xpu_diags_status(&tool.diags);
    if (result == XPU_OK) result = (int)xpu_flush_stdout(&tool.diags);
    fflush(stdout);
    xpu_standard_rename(&tool.diags);
    xpu_diags_print(&tool.diags, stderr);
    xpu_diags_clear(&tool.diags);
    xpu_mem_release(&tool.mem);
    return xpu_stop_exit_code(result);
}

const char *xpu_tool_option(const xpu_tool *tool, const char *name) {
    const char *value = NULL;
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (a->name && strcmp(a->name, name) == 0) value = a->value;
    }
    return value;
}

const char *const *xpu_tool_options(xpu_tool *tool, const char *name) {
    XPU_ARRAY(const char *) values = {0};
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (a->name && strcmp(a->name, name) == 0) XPU_PUSH(tool->arena, &values, a->value);
    }
    XPU_PUSH(tool->arena, &values, NULL);
    return values.items;
}

int xpu_tool_flag(const xpu_tool *tool, const char *name) {
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (a->name && strcmp(a->name, name) == 0) return 1;
    }
    return 0;
}

const char *xpu_tool_word(const xpu_tool *tool, uint32_t index) {
    for (uint32_t i = 0; i < tool->arguments.count; i++) {
        if (!tool->arguments.items[i].name && index-- == 0) return tool->arguments.items[i].value;
    }
    return NULL;
}

uint32_t xpu_tool_words(const xpu_tool *tool) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < tool->arguments.count; i++) count += tool->arguments.items[i].name == NULL;
    return count;
}

const char *xpu_tool_path(const xpu_tool *tool, const char *path) {
    return xpu_path_is_stream(path) ? "standard output"
                                    : xpu_escape_message(tool->arena, xpu_standard_shown(tool->arena, path), 4096);
}

int xpu_tool_usage(xpu_tool *tool, const char *where, const char *what, const char *why, const char *hint) {
    return (int)xpu_error(&tool->diags, XPU_EUSAGE, NULL, "usage", where, what, why, hint);
}

static const char *option_name(xpu_tool *tool, const xpu_tool_output *output) {
    return xpu_printf(tool->arena, "option '--%s'", output->option);
}

static int same_name(xpu_tool *tool, const xpu_tool_output *output, const xpu_tool_output *other) {
    return xpu_tool_usage(tool, option_name(tool, output), "two outputs have one name",
                          xpu_printf(tool->arena, "--%s is '%s', --%s is '%s'", output->option,
                                     xpu_escape(tool->arena, output->path, 200), other->option,
                                     xpu_escape(tool->arena, other->path, 200)),
                          "give the output another name");
}

int xpu_tool_check_outputs(xpu_tool *tool, const xpu_tool_output *outputs, uint32_t count, const char *const *read) {
    int status = XPU_OK;
    for (const char *const *path = read; *path; path++) {
        xpu_keep(tool->arena, *path);
        xpu_keep_files(tool->arena, *path, "*.npy"); /* where it is a dump folder */
        xpu_keep_files(tool->arena, *path, "index.json");
    }
    for (uint32_t i = 0; i < count; i++) {
        const xpu_tool_output *output = &outputs[i];
        if (!output->path) continue;
        const char *kept = xpu_kept_path(&tool->mem, output->path);
        if (kept)
            status = (int)xpu_kept_error(tool->arena, &tool->diags, option_name(tool, output), output->path, kept);
        for (uint32_t k = 0; k < i; k++) {
            const xpu_tool_output *other = &outputs[k];
            if (other->path && xpu_paths_clash(output->path, other->path)) status = same_name(tool, output, other);
        }
    }
    return status;
}

int xpu_tool_report(const xpu_tool *tool, int status, const char *text) {
    if (text && (status || !tool->quiet)) fputs(xpu_standard_shown(tool->arena, text), stderr);
    return status;
}
