#include "xpu_codegen/emit/portable_build.h"

#include <string.h>

#include "xpu_codegen/emit/chain_body.h"
#include "xpu_codegen/emit/object_symbols.h"
#include "xpu_codegen/emit/toolchain.h"
#include "xpu_codegen/lower/portable.h"

/* ---- the call ---- */

/* "const float *" for each operand, "float *" for each result; `values`: with what stands in in[]. */
static void add_parameters(xpu_codegen *cg, xpu_text *text, const xpu_portable *c, int values) {
    const uint32_t count = c->operand_count + c->result_count;
    for (uint32_t i = 0; i < count; i++) {
        int is_operand = i < c->operand_count;
        xpu_value value = is_operand ? c->operands[i] : c->results[i - c->operand_count];
        const char *type = xpu_memory_type(xpu_value_at(cg->graph, value)->dtype);
        const char *constness = is_operand ? "const " : "";
        if (values)
            xpu_text_add(text, "(%s%s *)(uintptr_t)in[%u], ", constness, type, i);
        else
            xpu_text_add(text, "%s%s *, ", constness, type);
    }
    if (values)
        xpu_text_add(text, "(void *)(uintptr_t)in[%u], %s", count,
                     c->dim_count ? xpu_printf(cg->arena, "(const int32_t *)in[%u]", count + 1) : "0");
    else
        xpu_text_add(text, "void *, const int32_t *");
}

static void add_declaration(xpu_codegen *cg, xpu_text *text, const xpu_portable *c) {
    xpu_text_add(text, "void %s(", c->entry);
    add_parameters(cg, text, c, 0);
    xpu_text_add(text, ");\n");
}

void xpu_emit_portable_call(xpu_codegen *cg, xpu_text *text, const xpu_region *region) {
    const xpu_portable *c = region->portable;
    xpu_text_add(text, "/* The C of target '%s' is compiled on its own. */\n",
                 xpu_escape(cg->arena, region->target->name, 80));
    add_declaration(cg, text, c);
    xpu_text_add(text,
                 "static void %s(const float *const *in, const float *c, float *out, uint32_t n) {\n"
                 "    (void)c;\n    (void)out;\n    (void)n;\n    %s(",
                 xpu_portable_body(cg, region), c->entry);
    add_parameters(cg, text, c, 1);
    xpu_text_add(text, ");\n}\n\n");
}

/* ---- compiling ---- */

enum {
    MOST_FRAME_BYTES = 1024, /* of the 4 KiB of a core's stack */
    MOST_CONSTANT_BYTES = 2048,
    LARGEST_OBJECT = 1 << 26,
    AT_ONCE = 4 /* compilers that run */
};

typedef struct {
    xpu_codegen *cg;
    const xpu_region *region;
    xpu_arena *arena;
    const char *source, *object;
    xpu_child_running *compiler; /* NULL: it could not be started, which is reported */
} building;

static const char *about_c(const building *b) {
    return xpu_printf(b->cg->arena, "region-%u.c", b->region->number);
}

static int refuse(const building *b, const char *rule, const char *what, const char *why, const char *hint) {
    xpu_codegen *cg = b->cg;
    xpu_error(cg->diags, XPU_EUSAGE, cg->graph->file, rule, xpu_node_where(cg->graph, b->region->nodes[0], cg->arena),
              xpu_printf(cg->arena, "the C of target '%s' for region %u %s",
                         xpu_escape(cg->arena, b->region->target->name, 80), b->region->number, what),
              why, hint);
    return 0;
}

static void start_compiler(building *b, const char *device) {
    const char *const behind[] = {"-fno-crash-diagnostics",
                                  xpu_printf(b->arena, "@%s/clang.flags", device),
                                  "-nostdlibinc", /* headers of the compiler alone */
                                  "-Wno-everything",
                                  xpu_printf(b->arena, "-Wframe-larger-than=%d", MOST_FRAME_BYTES),
                                  "-Werror=frame-larger-than",
                                  "-fno-color-diagnostics",
                                  "-c",
                                  b->source,
                                  "-o",
                                  b->object,
                                  NULL};
    const char *argv[XPU_COMPILER_WORDS + sizeof behind / sizeof *behind];
    memcpy(argv + xpu_compiler_begin(b->cg, argv), behind, sizeof behind);
    b->compiler = xpu_child_start(b->arena, argv, xpu_compiler_seconds(b->cg), b->cg->diags);
}

static int has_compiled(const building *b) {
    xpu_child child;
    xpu_status status = xpu_child_wait(b->compiler, &child, b->cg->diags);
    if (status == XPU_OK && child.exit_code == 0 && xpu_file_exists(b->object)) return 1;
    if (status == XPU_OK && child.exit_code > 0 && strstr(child.error, about_c(b)))
        return refuse(b, "portable-compile", "does not compile", xpu_first_lines(b->cg->arena, child.error),
                      "the plug-in has to mend it; --emit=c prints the C");
    if (!child.found || status == XPU_OK) xpu_compiler_failed(b->cg, &child, "the C of a region does not compile");
    return 0;
}

/* ---- symbols ---- */

/* What the library has for the compiler itself: memory functions and arithmetic in 64 bits. */
static int is_of_compiler(const char *symbol) {
    return strncmp(symbol, "mem", 3) == 0 || strncmp(symbol, "__", 2) == 0;
}

static int check_symbols(const building *b, const xpu_object_symbols *symbols, const uint8_t *library, size_t length) {
    static const char rule[] = "portable-symbol";
    const char *entry = b->region->portable->entry;
    int found = 0;
    if (xpu_library_has(library, length, entry))
        return refuse(b, rule, "defines what the device library has",
                      xpu_printf(b->cg->arena, "its function is called '%s'", entry), "give the function another name");
    for (uint32_t i = 0; i < symbols->defined.count; i++) {
        const char *name = symbols->defined.items[i];
        if (strcmp(name, entry) == 0)
            found = 1;
        else
            return refuse(b, rule, "defines more than its function",
                          xpu_printf(b->cg->arena, "'%s' is external, too", xpu_escape(b->cg->arena, name, 80)),
                          "make it static");
    }
    if (!found)
        return refuse(b, rule, "does not define its function",
                      xpu_printf(b->cg->arena, "there is no external '%s'", entry),
                      "entry has to be the name of a function that the text defines");
    for (uint32_t i = 0; i < symbols->undefined.count; i++) {
        const char *name = symbols->undefined.items[i];
        if (is_of_compiler(name) && xpu_library_has(library, length, name)) continue;
        return refuse(b, rule, "uses what is not there",
                      xpu_printf(b->cg->arena, "'%s' is not defined", xpu_escape(b->cg->arena, name, 80)),
                      "no libm and no malloc on the device: define it in the text, or ask for scratch");
    }
    return 1;
}

static int check_data(const building *b, const xpu_object_symbols *symbols) {
    xpu_arena *arena = b->cg->arena;
    if (symbols->variable_bytes)
        return refuse(b, "portable-symbol", "has variables of static storage",
                      xpu_printf(arena, "they have %llu bytes; each core's LM would hold them",
                                 (unsigned long long)symbols->variable_bytes),
                      "ask for scratch, and pass it on");
    if (symbols->constant_bytes > MOST_CONSTANT_BYTES)
        return refuse(b, "portable-symbol", "has too many constants",
                      xpu_printf(arena, "they have %llu bytes; each core's LM holds them, at most %d",
                                 (unsigned long long)symbols->constant_bytes, MOST_CONSTANT_BYTES),
                      "make constants of the model operands: they lie with the weights");
    return 1;
}

static int check_object(const building *b, const uint8_t *library, size_t length) {
    size_t size;
    xpu_object_symbols symbols;
    const uint8_t *bytes = xpu_file_read_all(b->arena, b->object, LARGEST_OBJECT, &size, b->cg->diags);
    if (!bytes) return 0;
    if (!xpu_object_read(bytes, size, &symbols, b->arena)) {
        xpu_codegen_bug(b->cg, "the compiler's object file cannot be read", "%s", b->object);
        return 0;
    }
    return check_symbols(b, &symbols, library, length) && check_data(b, &symbols);
}

/* ---- all regions ---- */

/* Behind the declaration that the program has, so that the types of the parameters are compared. */
static void start_region(building *b, const char *device) {
    const char *source = b->region->portable->source;
    xpu_text text;
    xpu_text_init(&text, b->arena);
    xpu_text_add(&text, "#include <stdint.h>\n");
    add_declaration(b->cg, &text, b->region->portable);
    xpu_text_add(&text, "#line 1 \"%s\"\n", about_c(b));
    xpu_text_add_bytes(&text, source, strlen(source));
    if (xpu_file_write(b->arena, b->source, text.text, text.length, b->cg->diags) == XPU_OK) start_compiler(b, device);
}

static int build_all(building *all, uint32_t count, const char *device, xpu_arena *arena) {
    size_t length;
    uint32_t started = 0, failed = 0;
    const char *path = xpu_path_join(arena, device, "libxpudevice.a");
    const uint8_t *library = xpu_file_read_all(arena, path, LARGEST_OBJECT, &length, all->cg->diags);
    if (!library) return 0;
    for (uint32_t i = 0; i < count && !xpu_stopped(arena); i++) {
        while (started < count && started < i + AT_ONCE) start_region(&all[started++], device);
        failed += !(all[i].compiler && has_compiled(&all[i]) && check_object(&all[i], library, length));
    }
    if (xpu_stopped(arena) && !all->cg->diags->errors)
        xpu_error_stopped(all->cg->diags, NULL, NULL, "the C of regions was being compiled");
    return !failed && !xpu_stopped(arena);
}

const char *const *xpu_build_portable(xpu_codegen *cg, xpu_arena *arena) {
    const uint32_t most = cg->job->region_count;
    const char **objects = XPU_NEW_ARRAY(arena, const char *, most + 1), *folder = NULL;
    building *all = XPU_NEW_ARRAY(arena, building, most + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < most; i++) {
        const xpu_region *region = &cg->job->regions[i];
        if (!region->call.id) continue;
        if (!folder) folder = xpu_temporary_folder(arena, cg->diags);
        if (!folder) return NULL;
        const char *name = xpu_path_join(arena, folder, xpu_printf(arena, "region-%u", region->number));
        all[count] = (building){.cg = cg, .region = region, .arena = arena};
        all[count].source = xpu_printf(arena, "%s.c", name);
        objects[count] = all[count].object = xpu_printf(arena, "%s.o", name);
        count++;
    }
    const char *device = xpu_path_join(arena, cg->job->options->resources, "device");
    return !count || build_all(all, count, device, arena) ? objects : NULL;
}
