/* The target "xpu-sim": its options, and the list of its steps. */
#include <string.h>

#include "xpu_codegen/choose/factors.h"
#include "xpu_codegen/choose/layout.h"
#include "xpu_codegen/choose/precision.h"
#include "xpu_codegen/choose/post_chain.h"
#include "xpu_codegen/choose/precision_rules.h"
#include "xpu_codegen/choose/prologue.h"
#include "xpu_codegen/choose/rules.h"
#include "xpu_codegen/choose/strips.h"
#include "xpu_codegen/emit/portable_build.h"
#include "xpu_codegen/emit/program_text.h"
#include "xpu_codegen/emit/toolchain.h"
#include "xpu_codegen/lower/program.h"
#include "xpu_codegen/pack/file.h"
#include "xpu_codegen/pack/memory.h"
#include "xpu_codegen/pack/report.h"
#include "xpu_codegen/pack/weights.h"
#include "xpu_codegen/xpu_codegen.h"
#include "xpu_runtime/program/file.h"

static xpu_status read_precision(xpu_codegen *cg, const char *wanted) {
    if (!wanted) wanted = "auto";
    for (int mode = 0; xpu_mode_name(mode); mode++) {
        if (strcmp(xpu_mode_name(mode), wanted) != 0) continue;
        cg->mode = (xpu_precision_mode)mode;
        return XPU_OK;
    }
    return xpu_error(cg->diags, XPU_EUSAGE, NULL, "precision", NULL,
                     xpu_printf(cg->arena, "target 'xpu-sim' has no precision '%s'", xpu_escape(cg->arena, wanted, 40)),
                     "the precisions are auto, fp32, int16, int16x8", "leave --precision out to get auto");
}

static xpu_status start(xpu_target_job *job) {
    xpu_codegen *cg = XPU_NEW(job->arena, xpu_codegen);
    const xpu_compile_options *options = job->options;
    cg->job = job;
    cg->arena = job->arena;
    cg->graph = job->graph;
    cg->diags = job->diags;
    job->state = cg;
    cg->precision_rules = XPU_NEW(cg->arena, xpu_precision_rules);
    size_t errors = job->diags->errors;
    const char *folder = xpu_path_join(job->arena, options->resources, "configs/chip");
    const char *chip = options->chip ? options->chip : "standard";
    int is_file = strchr(chip, '/') || strstr(chip, ".json");
    if (!is_file && xpu_resource_check(cg, "configs/chip") != XPU_OK) return XPU_EIO;
    xpu_chip_load(job->arena, folder, chip, &cg->chip, job->diags);
    job->memory_bytes = cg->chip.gm_bytes;
    read_precision(cg, options->precision);
    if (options->precision_rules) {
        xpu_precision_rules_read(job->arena, options->precision_rules, cg->precision_rules, job->diags);
    }
    if (options->memory_rules) {
        xpu_memory_rules_read(job->arena, options->memory_rules, &cg->rules, job->diags);
    }
    cg->precision_rules->is_of_part = cg->rules.is_of_part = options->is_part;
    if (!options->emit || strcmp(options->emit, "xpu") == 0) xpu_toolchain_check(cg);
    return xpu_diags_since(job->diags, errors);
}

static xpu_codegen *codegen_of(xpu_target_job *job) {
    xpu_codegen *cg = job->state;
    cg->graph = job->graph;
    return cg;
}

/* What stands behind products goes into them. */
static xpu_status join_behind(xpu_codegen *cg) {
    xpu_status status = xpu_join_factors(cg);
    if (status == XPU_OK) status = xpu_join_epilogues(cg);
    return status == XPU_OK ? xpu_join_last_clips(cg) : status;
}

static xpu_status prepare(xpu_target_job *job) {
    xpu_codegen *cg = codegen_of(job);
    xpu_status status = xpu_choose_precision(cg);
    if (status == XPU_OK) status = xpu_join_prologues(cg);
    if (status == XPU_OK && !job->options->no_fuse) status = join_behind(cg);
    if (status == XPU_OK) status = xpu_choose_layouts(cg);
    if (status == XPU_OK) xpu_join_maxima(cg);
    return status;
}

static xpu_status cut(xpu_target_job *job) {
    return xpu_cut_strips(codegen_of(job));
}

static void verify(xpu_target_job *job, xpu_verify_report report, void *context) {
    xpu_verify_layouts(codegen_of(job), report, context);
}

static xpu_status lower(xpu_target_job *job, uint32_t region, xpu_section *section) {
    xpu_codegen *cg = codegen_of(job);
    xpu_status status = xpu_lower_program(cg);
    if (status != XPU_OK) return status;
    section->source = xpu_emit_region(cg, region);
    const xpu_portable *c = job->regions[region].portable;
    if (c && strcmp(job->options->emit, "c") == 0) /* to be looked at: it is compiled on its own */
        section->source = xpu_printf(cg->arena, "%s/* ---- the C of target '%s' ---- */\n%s\n", section->source,
                                     xpu_escape(cg->arena, job->regions[region].target->name, 80), c->source);
    if (region + 1 != job->region_count) return XPU_OK;
    section->source = xpu_printf(cg->arena, "%s%s", section->source ? section->source : "", xpu_emit_tail(cg));
    return XPU_OK;
}

static const char *whole_source(xpu_codegen *cg, const xpu_section *sections) {
    xpu_text text;
    xpu_text_init(&text, cg->arena);
    for (uint32_t i = 0; i < cg->job->region_count; i++) {
        if (sections[i].source) xpu_text_add(&text, "%s", sections[i].source);
    }
    if (!cg->job->region_count) xpu_text_add(&text, "%s", xpu_emit_tail(cg)); /* a model without operators */
    return text.text;
}

/* Said before the linker would say it. */
static xpu_status check_capacity(xpu_codegen *cg) {
    uint64_t weights = cg->program.weights_bytes, room = cg->chip.gm_bytes;
    if (weights <= room) return XPU_OK;
    return xpu_error(cg->diags, XPU_EMODEL, cg->graph->file, "gm-capacity", NULL, "the weights do not fit GM",
                     xpu_printf(cg->arena, "they have %llu bytes, GM of chip '%s' %llu: %llu bytes short",
                                (unsigned long long)weights, cg->chip.name, (unsigned long long)room,
                                (unsigned long long)(weights - room)),
                     "compile for a chip with more GM");
}

static xpu_status make_program(xpu_codegen *cg, const char *source, const char *path, xpu_arena *scratch) {
    xpu_device_build *build = xpu_compile_start(cg, source, scratch);
    const char *const *regions = build ? xpu_build_portable(cg, scratch) : NULL; /* while clang compiles */
    if (!regions) return xpu_diags_status(cg->diags);
    xpu_status status = xpu_program_check(&cg->program, scratch, cg->diags); /* while clang compiles */
    cg->program.is_checked = status == XPU_OK;
    if (status == XPU_OK) status = xpu_pack_ahead(cg);
    if (status == XPU_OK) status = xpu_graph_source_hash(cg->graph, &cg->program.source_hash, cg->diags);
    if (status != XPU_OK) return status;
    const char *elf = xpu_compile_finish(cg, build, regions);
    return elf ? xpu_pack_program(cg, elf, path) : xpu_diags_status(cg->diags);
}

static xpu_status pack(xpu_target_job *job, xpu_section *sections, const char *path, void *report) {
    xpu_codegen *cg = codegen_of(job);
    xpu_status status = xpu_lower_program(cg);
    if (status == XPU_OK) status = check_capacity(cg);
    if (status == XPU_OK) status = xpu_check_memory_rules(cg);
    if (status == XPU_OK && path) {
        xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(job->arena), "link");
        status = make_program(cg, whole_source(cg, sections), path, scratch);
        xpu_arena_free(scratch);
    }
    if (status == XPU_OK && report) xpu_report_program(cg, report, path != NULL);
    return status;
}

const xpu_target xpu_sim_target = {
    .version = XPU_TARGET_VERSION,
    .name = XPU_SIM_NAME,
    .about = "one RISC-V program for the XPU chip and its functional twin",
    .extension = ".xpu",
    .host_regions = 1,
    .patterns = xpu_sim_patterns,
    .support = xpu_sim_support,
    .start = start,
    .prepare = prepare,
    .cut = cut,
    .verify = verify,
    .lower = lower,
    .pack = pack,
    .takes_portable = 1,
};
