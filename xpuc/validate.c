/* xpuc_validate: two models on the same inputs. The API boundary, and what is done in which order. */
#include "xpuc/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

void xpu_validate_clear_difference(xpuc_difference *difference) {
    char *const texts[] = {difference->tensor_a, difference->tensor_b, difference->operator_a, difference->operator_b,
                           difference->node_a,   difference->node_b,   difference->where_a,    difference->where_b};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
    *difference = (xpuc_difference){.tensor_a = NULL};
}

void xpuc_validation_clear(xpuc_validation *validation) {
    if (!validation) return;
    xpu_validate_clear_difference(&validation->first);
    xpu_validate_clear_difference(&validation->output);
    xpu_validate_clear_difference(&validation->device_first);
    free(validation->text);
    free(validation->json);
    *validation = (xpuc_validation){.differ = 0};
}

/* ---- outputs ---- */

static xpu_apart apart_of_output(const xpu_validation *v, uint32_t i, const xpu_tensor *a, const xpu_tensor *b) {
    if (!xpu_validate_same_dims(a, b)) return xpu_validate_other_dims(a);
    return xpu_validate_apart(a, b, xpu_validate_largest(a), (double)INFINITY,
                              xpu_validate_is_quantised(v->a.graph, v->a.graph->outputs.items[i]));
}

/* Whether it differs. */
static int compare_output(xpu_validation *v, uint32_t i, const xpu_tensor *a, const xpu_tensor *b) {
    const xpu_value value = v->a.graph->outputs.items[i], other = v->b.graph->outputs.items[v->output_b[i]];
    const double most = v->result->largest;
    xpu_hit hit = {.a = value, .b = other, .apart = apart_of_output(v, i, a, b)};
    if (hit.apart.of_max > most) v->result->largest = hit.apart.of_max;
    if (hit.apart.of_max <= v->tolerance) return 0;
    v->output_differs[i] = 1;
    if (v->result->output.tensor_a && hit.apart.of_max <= most) return 1;
    xpu_validate_place(&hit, a, b);
    xpu_validate_clear_difference(&v->result->output);
    v->result->output =
        xpu_validate_difference(v, &hit, xpu_value_at(v->a.graph, value)->node, xpu_value_at(v->b.graph, other)->node);
    return 1;
}

/* Whether any differs. */
static int compare_outputs(xpu_validation *v, const xpu_record *record, const xpu_beside *beside) {
    int differ = 0;
    for (uint32_t i = 0; i < v->a.graph->outputs.count; i++)
        differ |= compare_output(v, i, &record->outputs[i], &beside->outputs[v->output_b[i]]);
    return differ;
}

/* Which operator it was: B once more, on A's tensors. Of outputs that differ because of nothing roundings have grown.
 */
static xpu_status locate(xpu_validation *v, xpu_record *record, int outputs_differ) {
    xpu_beside beside;
    xpu_status status = xpu_validate_beside(v, record, 1, &beside);
    if (status != XPU_OK) return status;
    xpu_node cause = {0};
    const xpu_hit *hit = xpu_validate_first(v, &beside, !outputs_differ, &cause);
    int differ = hit != NULL;
    if (hit && !v->result->has_first) {
        xpu_node node_a = xpu_value_at(v->a.graph, hit->a)->node;
        if (!hit->is_sure && !xpu_validate_is_alike(v)) node_a = xpu_validate_cause_in_a(v, record, hit);
        v->result->first = xpu_validate_difference(v, hit, node_a, cause);
        v->result->has_first = 1;
    }
    for (uint32_t i = 0; !differ && outputs_differ && i < v->a.graph->outputs.count; i++) {
        const xpu_tensor *a = &record->outputs[i], *b = &beside.outputs[v->output_b[i]];
        differ = apart_of_output(v, i, a, b).of_max > v->tolerance;
    }
    v->result->differ |= differ;
    v->result->grown |= outputs_differ && !differ;
    return XPU_OK;
}

/* ---- samples ---- */

static void say(const xpu_validation *v, char letter) {
    if (v->wanted->progress)
        v->wanted->progress(v->wanted->context,
                            xpu_printf(v->scratch, "sample %u of %u: %c", v->sample + 1, v->samples, letter));
}

static void count(xpu_validation *v, const xpu_beside *beside) {
    xpuc_validation *r = v->result;
    r->inner = beside->inner;
    r->matched = beside->matched;
    r->by_name = beside->kinds[XPU_MATCH_NAME];
    r->by_structure = beside->kinds[XPU_MATCH_STRUCTURE];
    r->by_value = beside->kinds[XPU_MATCH_VALUE];
    if (beside->differing > r->differing) r->differing = beside->differing;
}

static xpu_status run_sample(xpu_validation *v) {
    xpu_record record;
    xpu_beside beside = {.inner = 0};
    xpu_status status = xpu_validate_draw(v);
    if (status != XPU_OK) return status;
    say(v, 'A');
    xpu_doing(xpu_arena_mem(v->arena), "running", v->a.path);
    status = xpu_validate_record(v, &record);
    if (status == XPU_OK && v->has_b) {
        say(v, 'B');
        xpu_doing(xpu_arena_mem(v->arena), "running", v->b.path);
        status = xpu_validate_beside(v, &record, 0, &beside);
    }
    if (status != XPU_OK) return status;
    v->result->samples++;
    if (v->has_b) {
        count(v, &beside);
        int differ = compare_outputs(v, &record, &beside);
        xpu_node unused;
        if (differ || xpu_validate_first(v, &beside, 1, &unused)) status = locate(v, &record, differ);
        if (status == XPU_OK && v->wanted->device) status = xpu_validate_on_device(v, &beside);
    }
    return status == XPU_OK ? xpu_validate_expect(v, &record, &beside) : status;
}

static int is_all_given(const xpu_validation *v) {
    for (uint32_t i = 0; i < v->a.graph->inputs.count; i++) {
        if (!v->given[i]) return 0;
    }
    return 1;
}

static xpu_status choose_samples(xpu_validation *v) {
    const int given = is_all_given(v);
    v->samples = v->wanted->samples ? v->wanted->samples : given ? 1 : 2;
    if (!v->wanted->expected_count || given) return XPU_OK;
    return xpu_error(v->diags, XPU_EUSAGE, NULL, "validate-expect", NULL, "inputs are missing",
                     "expected outputs belong to inputs that somebody had, and some here would be drawn",
                     "give all inputs");
}

/* What no sample has met: a channel that none of them reaches, say. */
static xpu_status compare_constants(xpu_validation *v) {
    xpu_hit hit = {.rank = -1};
    xpu_node node_a;
    if (!v->has_b || v->result->differ || v->result->grown || !xpu_validate_is_alike(v)) return XPU_OK;
    xpu_doing(xpu_arena_mem(v->arena), "comparing", "constants");
    v->sample = 0;
    if (xpu_validate_constants(v, &node_a, &hit)) {
        v->result->differ = v->result->has_first = 1;
        v->result->first = xpu_validate_difference(v, &hit, node_a, hit.node);
        v->result->first.is_constant = 1;
    }
    return xpu_diags_status(v->diags);
}

static xpu_status validate(xpu_validation *v) {
    xpu_status status = xpu_validate_read(v);
    if (status == XPU_OK) status = xpu_validate_read_ranges(v);
    if (status == XPU_OK) status = choose_samples(v);
    if (status != XPU_OK) return status;
    v->result->outputs = v->a.graph->outputs.count;
    v->output_differs = XPU_NEW_ARRAY(v->arena, uint8_t, v->result->outputs + 1);
    for (v->sample = 0; status == XPU_OK && v->sample < v->samples; v->sample++) {
        if (xpu_stopped(v->arena)) status = XPU_ESTOPPED;
        if (v->scratch) xpu_arena_free(v->scratch);
        v->scratch = xpu_arena_new(xpu_arena_mem(v->arena), "sample");
        if (status == XPU_OK) status = run_sample(v);
    }
    if (status == XPU_ESTOPPED && !v->diags->errors)
        return xpu_error_stopped(
            v->diags, v->a.path, NULL,
            xpu_printf(v->arena, "%u of %u samples were complete", v->result->samples, v->samples));
    if (status != XPU_OK) return status;
    status = compare_constants(v);
    if (status != XPU_OK) return status;
    for (uint32_t i = 0; i < v->result->outputs; i++) v->result->differing_outputs += v->output_differs[i];
    xpu_validate_texts(v);
    return v->result->differ ? XPU_EDIFF : XPU_OK;
}

/* ---- the boundary ---- */

static const char *problem_of(const char *a, const char *b, const xpuc_validate_options *options,
                              const xpuc_validation *result) {
    if (!a) return "the path of A is NULL";
    if (!result) return "the result is NULL";
    if (!b && !options->expected_count) return "the path of B is NULL, and there are no expected tensors";
    if (options->input_count && !options->inputs) return "options.inputs is NULL";
    if (options->expected_count && !options->expected) return "options.expected is NULL";
    if (options->samples > XPUC_MOST_SAMPLES) return "options.samples is more than 1000";
    if (!(options->tolerance >= 0) || !isfinite(options->tolerance)) return "options.tolerance is no number from 0 on";
    return NULL;
}

static void attempt(xpu_validation *v, xpuc_error *error) {
    xpu_mem mem;
    xpu_mem_init(&mem);
    xpu_keep_what_is_read(&mem);
    mem.stop = v->wanted->stop;
    mem.stop_context = v->wanted->context;
    if (setjmp(mem.out_of_memory)) {
        xpu_error_oom_of(v->diags, &mem);
        error->status = XPU_EIO;
    } else {
        v->arena = xpu_arena_new(&mem, "validation");
        error->status = (int)validate(v);
        if (!error->status) error->status = (int)xpu_diags_status(v->diags);
    }
    xpu_mem_release(&mem);
}

int xpuc_validate(const char *a, const char *b, const xpuc_validate_options *options, xpuc_validation *result,
                  xpuc_error *error) {
    static const xpuc_validate_options defaults = {.seed = 0};
    xpu_diags diags;
    xpuc_error own = {.status = 0};
    xpu_validation v = {.wanted = options ? options : &defaults, .result = result, .diags = &diags};
    const char *problem = problem_of(a, b, v.wanted, result);
    xpu_diags_init(&diags);
    if (result) *result = (xpuc_validation){.differ = 0};
    v.a.path = a;
    v.b.path = b;
    v.has_b = b != NULL;
    v.tolerance = v.wanted->tolerance > 0 ? v.wanted->tolerance : XPU_VALIDATE_TOLERANCE;
    if (problem)
        own.status = (int)xpu_error(&diags, XPU_EUSAGE, NULL, "argument", "xpuc_validate", "the call cannot be made",
                                    problem, "xpuc_validate.h says what it takes");
    else
        attempt(&v, &own);
    own = xpu_error_of(own.status, &diags, 0);
    xpu_diags_clear(&diags);
    if (own.status && !(own.status == XPU_EDIFF && result->text)) xpuc_validation_clear(result);
    int status = own.status;
    if (error)
        *error = own;
    else
        xpuc_error_clear(&own);
    return status;
}
