/* Elementwise chains: the call, and which loop body it shares. */
#include "xpu_codegen/lower/chain.h"

#include <string.h>

#include "xpu_codegen/choose/chain_loops.h"
#include "xpu_codegen/choose/costs.h"
#include "xpu_codegen/choose/post_chain.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/by_size.h"
#include "xpu_codegen/lower/epilogue.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"
#include "xpu_codegen/lower/post_chain.h"
#include "xpu_codegen/image_chain.h"
#include "xpu_codegen/read_through.h"
#include "xpu_runtime/include/xpu_kernel_args.h"

/* ---- bodies ---- */

/* The structure without immediates and unused operands: what a body's text depends on. */
static uint64_t hash_chain(const xpu_chain *chain, const xpu_chain_types *types) {
    uint64_t hash = 14695981039346656037u;
#define MIX(value) hash = (hash ^ (uint64_t)(value)) * 1099511628211u
    MIX(chain->input_count);
    for (uint32_t v = 0; v < chain->input_count + chain->step_count; v++) MIX(types->values[v]);
    for (uint32_t s = 0; s < chain->step_count; s++) {
        MIX(chain->steps[s].op);
        for (int i = 0; i < xpu_elementwise_arity(chain->steps[s].op); i++) MIX(chain->steps[s].operands[i]);
    }
#undef MIX
    return hash;
}

static int same_structure(const xpu_chain *a, const xpu_chain *b, const xpu_chain_types *a_types,
                          const xpu_chain_types *b_types) {
    if (a->input_count != b->input_count || a->step_count != b->step_count) return 0;
    for (uint32_t v = 0; v < a->input_count + a->step_count; v++) {
        if (a_types->values[v] != b_types->values[v]) return 0;
    }
    for (uint32_t s = 0; s < a->step_count; s++) {
        if (a->steps[s].op != b->steps[s].op) return 0;
        for (int i = 0; i < xpu_elementwise_arity(a->steps[s].op); i++) {
            if (a->steps[s].operands[i] != b->steps[s].operands[i]) return 0;
        }
    }
    return 1;
}

/* "chain_sub_mul_2": the operators of the steps, numbered. */
static const char *body_name(xpu_codegen *cg, const xpu_chain *chain) {
    xpu_text text;
    xpu_text_init(&text, cg->arena);
    xpu_text_add(&text, "chain_%u", cg->bodies.count + 1);
    for (uint32_t s = 0; s < chain->step_count && s < 4; s++) {
        xpu_text_add(&text, "_%s", xpu_elementwise_name(chain->steps[s].op));
    }
    return text.text;
}

static xpu_chain_body_text *body_of(xpu_codegen *cg, uint32_t layer, const xpu_chain *chain,
                                    const xpu_chain_types *types, int finds_most) {
    uint64_t hash = hash_chain(chain, types) + (uint64_t)finds_most;
    int32_t *last = &cg->body_of[hash % XPU_BODY_SLOTS];
    for (int32_t i = *last; i >= 0; i = cg->bodies.items[i].other) {
        xpu_chain_body_text *body = &cg->bodies.items[i];
        if (body->hash == hash && body->finds_most == finds_most &&
            same_structure(body->chain, chain, body->types, types))
            return body;
    }
    const xpu_chain_types *own = xpu_copy(cg->arena, types, sizeof *types);
    xpu_chain_body_text body = {.hash = hash,
                                .chain = chain,
                                .types = own,
                                .name = body_name(cg, chain),
                                .region = cg->layers.items[layer].region,
                                .other = *last,
                                .finds_most = finds_most};
    *last = (int32_t)cg->bodies.count;
    XPU_PUSH(cg->arena, &cg->bodies, body);
    return &cg->bodies.items[*last];
}

/* ---- the call ---- */

static void set_loops(xpu_codegen *cg, struct xpu_loops_group *call, const xpu_chain_loops *loops, uint32_t inputs) {
    for (int d = 0; d < XPU_CHAIN_DIMS; d++) {
        int loop = d - (XPU_CHAIN_DIMS - loops->rank);
        call->d[d] = xpu_arg_dim(loop < 0 ? xpu_dim_of(cg, 1) : loops->size[loop]);
        for (uint32_t i = 0; i < XPU_CHAIN_MAX_INPUTS; i++) {
            xpu_dim stride = loop < 0 || i >= inputs ? xpu_dim_of(cg, 0) : loops->stride[i][loop];
            call->strides[XPU_CHAIN_DIMS * i + (uint32_t)d] = xpu_arg_dim(stride);
        }
    }
}

_Static_assert((int)XPU_CHAIN_ALL_IMMEDIATES == (int)XPU_CHAIN_ARGUMENT_IMMEDIATES,
               "the kernel's arguments have room for the immediates of all steps");

/* c: XPU_CHAIN_ARGUMENT_IMMEDIATES of them. */
static void set_immediates(xpu_arg_float *c, const xpu_chain *chain) {
    uint32_t next = 0;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        for (int i = 0; i < xpu_elementwise_immediates(chain->steps[s].op); i++) {
            c[next++] = xpu_arg_real(chain->steps[s].immediates[i]);
        }
    }
    while (next < XPU_CHAIN_ARGUMENT_IMMEDIATES) c[next++] = xpu_arg_real(0);
}

const char *xpu_prologue_of(xpu_codegen *cg, uint32_t layer, xpu_node node, xpu_arg_float *c) {
    const xpu_chain *chain = xpu_chain_of(cg->graph, node);
    const xpu_dtype dtype = XPU_F32;
    xpu_chain_types types;
    if (!xpu_chain_types_of(chain, &dtype, &types)) return NULL; /* its shape function refuses it */
    set_immediates(c, chain);
    xpu_chain_body_text *body = body_of(cg, layer, chain, &types, 0);
    body->is_prologue = 1;
    return body->name;
}

static uint32_t size_bits(xpu_dtype dtype) {
    return (uint32_t)__builtin_ctz((unsigned)xpu_dtype_bytes(dtype));
}

/* Element sizes as chain_typed takes them. */
static uint32_t sizes_word(const xpu_chain *chain, const xpu_chain_types *types) {
    uint32_t word = size_bits(types->values[chain->input_count + chain->step_count - 1]) << 2 * XPU_CHAIN_MAX_INPUTS;
    for (uint32_t i = 0; i < chain->input_count; i++) word |= size_bits(types->values[i]) << 2 * i;
    return word;
}

/* ---- results in place of operands ---- */

/* Whether an operand's elements stand in the order of the result, without gaps. */
static int is_dense(xpu_codegen *cg, const xpu_chain_loops *loops, uint32_t input) {
    xpu_dim stride = xpu_dim_of(cg, 1);
    for (int d = loops->rank; d-- > 0;) {
        if (!xpu_dim_equal(loops->stride[input][d], stride)) return 0;
        stride = xpu_dim_mul(&cg->graph->dims, stride, loops->size[d]);
    }
    return 1;
}

/* The result may overwrite a dense operand of its size, which has as many elements, each as large as the result's: the
 * kernel loads every block of it before it stores that block. An operand that is read in another order too would be
 * read behind what was overwritten. */
static void offer_in_place(xpu_codegen *cg, const struct xpu_loops_group *call, const xpu_chain_loops *loops,
                           uint32_t inputs) {
    const xpu_program_buffer *buffers = cg->program.buffers.items;
    uint32_t result = call->y.arg.word.buffer;
    for (uint32_t i = 0; i < inputs; i++) {
        uint32_t operand = call->x[i].arg.word.buffer;
        int fits = xpu_dim_equal(buffers[operand].bytes, buffers[result].bytes);
        for (uint32_t k = 0; fits && k < inputs; k++) {
            fits = call->x[k].arg.word.buffer != operand || is_dense(cg, loops, k);
        }
        if (fits) xpu_offer_in_place(cg, result, operand);
    }
}

/* Whether the two innermost loops have few elements, of which LM has room for several times as many, and others are
 * around them: a rotary embedding's factors are the same for all heads. */
static int has_small_planes(const xpu_codegen *cg, const xpu_chain_loops *loops, uint32_t inputs) {
    enum { MOST = 1024, PARTS = 4, FLOAT_BYTES = 4 };
    if (loops->rank < 3) return 0;
    const int64_t width = xpu_dim_upper(cg, loops->size[loops->rank - 1]);
    const int64_t rows = xpu_dim_upper(cg, loops->size[loops->rank - 2]);
    const int64_t room = xpu_lm_room(cg) / (2 * ((int64_t)inputs + 1) * FLOAT_BYTES);
    return width <= MOST && rows <= MOST && width * rows <= MOST && PARTS * width * rows <= room;
}

/* ---- chains of dense operands ---- */

/* Whether every operand lies as the result does. */
static int all_dense(xpu_codegen *cg, const xpu_chain_loops *loops, uint32_t inputs) {
    if (loops->rank > 1) return 0;
    for (uint32_t i = 0; i < inputs; i++) {
        if (!is_dense(cg, loops, i)) return 0;
    }
    return 1;
}

/* What each core has to do when the product ends, in cycles. The rows of the engine's last step are there then. */
static double late_work(const xpu_codegen *cg, double work, const xpu_tile *tile, double rows) {
    const double cores = cg->chip.cores;
    const double meanwhile = tile->tile_h < rows ? tile->cycles * (1 - tile->tile_h / rows) : 0;
    const double late = (work - (cores - 1) * meanwhile) / cores;
    return late > 0 ? late : 0;
}

/* In thousandths: what core 0 does, which first queues the engine's steps, so that all cores end together. */
static int64_t late_share(const xpu_codegen *cg, double vectors, const xpu_chain *chain, const xpu_tile *tile,
                          double rows) {
    const double work = vectors * xpu_chain_vector_cycles(chain);
    return (int64_t)(1000 * late_work(cg, work, tile, rows) / work);
}

/* The tiles of the layer before, whose rows a chain begins with; NULL: there is none. */
static const xpu_tiles *tiles_before(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const int is_image = xpu_value_at(cg->graph, xpu_node_input(cg->graph, node, 0))->rank == 4;
    return is_image && cg->chip.cores > 1 ? xpu_convolution_before(cg, layer, node) : NULL;
}

/* A chain behind a convolution on the tensor engine begins with the first rows. */
static void begin_early(xpu_codegen *cg, uint32_t layer, xpu_node node, struct xpu_chain_dense_call *call) {
    const xpu_value x = xpu_node_input(cg->graph, node, 0);
    const xpu_tiles *made = tiles_before(cg, layer, node);
    int has_rows = 0; /* before the product ends */
    call->late_share = xpu_arg_number(-1);
    call->row = call->rows = xpu_arg_number(0);
    if (!made) return;
    xpu_dim width = xpu_value_dim(cg, x, 3), channels = xpu_value_dim(cg, x, 1);
    xpu_sized_field share = {.field = &call->late_share};
    for (uint32_t i = 0; i < made->sizes.count; i++) {
        const xpu_size *size = &made->sizes.items[i];
        int last = i + 1 == made->sizes.count;
        double out_h = last ? (double)xpu_dim_upper(cg, xpu_value_dim(cg, x, 2)) : size->out_h;
        double out_w = last ? (double)xpu_dim_upper(cg, width) : size->out_w;
        double images = (double)xpu_dim_upper(cg, xpu_value_dim(cg, x, 0)), pixels = images * out_h * out_w;
        has_rows |= images > 1 || made->items[i].tile_h < out_h;
        share.values[i] = late_share(cg, pixels * (double)xpu_dim_upper(cg, channels) / 16,
                                     xpu_chain_of(cg->graph, node), &made->items[i], out_h);
    }
    if (!has_rows) return;
    call->row = xpu_arg_dim(xpu_dim_mul(&cg->graph->dims, width, channels));
    call->rows = xpu_arg_dim(xpu_value_dim(cg, x, 2));
    cg->layers.items[layer].begins_early = 1;
    xpu_set_by_size(cg, &made->sizes, &share, 1);
}

static xpu_dim element_count(xpu_codegen *cg, xpu_value value) {
    return xpu_dims_product(cg, value, 0, xpu_value_at(cg->graph, value)->rank);
}

/* The kernel for any loops begins sooner: 256 elements take 970 cycles there, 1,260 here. */
static int is_worth_dense(xpu_codegen *cg, xpu_node node) {
    enum { LEAST = 1 << 13 };
    return xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX).id ||
           xpu_dim_upper(cg, element_count(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y))) >= LEAST;
}

/* Whether the cores, which begin with the first rows of the product in front, end sooner than the tensor engine. */
static int ends_sooner_on_cores(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_post_chain *post) {
    const xpu_tiles *made = post->shape.is_flat && is_worth_dense(cg, node) ? tiles_before(cg, layer, node) : NULL;
    if (!made) return 0;
    const xpu_value y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    const double vectors = (double)xpu_dim_upper(cg, element_count(cg, y)) / 16,
                 work = vectors * xpu_chain_vector_cycles(xpu_chain_of(cg->graph, node)),
                 rows = (double)xpu_dim_upper(cg, xpu_value_dim(cg, xpu_node_input(cg->graph, node, 0), 2));
    return xpu_cost.start_core + late_work(cg, work, &made->items[made->sizes.count - 1], rows) < post->cycles;
}

static xpu_status lower_dense(xpu_codegen *cg, uint32_t layer, xpu_node node, const struct xpu_loops_group *loops,
                              const char *body) {
    const xpu_value y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    struct xpu_chain_dense_call call = {.y = loops->y, .inputs = loops->inputs, .y_absmax = xpu_arg_absent()};
    const xpu_value most = xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX);
    memcpy(call.x, loops->x, sizeof call.x);
    memcpy(call.c, loops->c, sizeof call.c);
    call.count = xpu_arg_dim(element_count(cg, y));
    if (most.id) call.y_absmax = xpu_arg_at(xpu_activation_buffer(cg, most));
    begin_early(cg, layer, node, &call);
    xpu_describe_layer(cg, layer, XPU_KERNEL_chain_dense, xpu_dim_of(cg, 0));
    return xpu_add_chain_dense(cg, layer, &call, body);
}

/* ---- chains over images ---- */

/* How far an operand's images lie apart, and what a pixel of it stands for. */
static void set_image_operand(xpu_codegen *cg, xpu_value y, const xpu_image_operand *x, uint32_t i,
                              struct xpu_chain_image_call *call) {
    xpu_dim image = xpu_dims_product(cg, x->source, 1, xpu_value_at(cg->graph, x->source)->rank);
    call->image[i] = xpu_arg_dim(x->is_shared ? xpu_dim_of(cg, 0) : image);
    call->repeat_h[i] = x->is_pixel ? xpu_arg_dim(xpu_value_dim(cg, y, 2)) : xpu_arg_number(x->repeat[0]);
    call->repeat_w[i] = x->is_pixel ? xpu_arg_dim(xpu_value_dim(cg, y, 3)) : xpu_arg_number(x->repeat[1]);
}

static xpu_status lower_image(xpu_codegen *cg, uint32_t layer, xpu_node node, const xpu_image_chain *chain,
                              const struct xpu_loops_group *loops, const char *body) {
    const xpu_value y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    const xpu_value most = xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX);
    struct xpu_chain_image_call call = {.y = loops->y, .inputs = loops->inputs, .y_absmax = xpu_arg_absent()};
    memcpy(call.x, loops->x, sizeof call.x);
    memcpy(call.c, loops->c, sizeof call.c);
    if (most.id) call.y_absmax = xpu_arg_at(xpu_activation_buffer(cg, most));
    call.batch = xpu_arg_dim(xpu_value_dim(cg, y, 0));
    call.height = xpu_arg_dim(xpu_value_dim(cg, y, 2));
    call.width = xpu_arg_dim(xpu_value_dim(cg, y, 3));
    call.channels = xpu_arg_number(chain->channels);
    call.pitch = xpu_arg_dim(xpu_value_extent(cg, y, 1));
    for (uint32_t i = 0; i < XPU_CHAIN_MAX_INPUTS; i++) {
        call.image[i] = call.repeat_h[i] = call.repeat_w[i] = xpu_arg_number(0);
        if (i < xpu_node_at(cg->graph, node)->input_count) set_image_operand(cg, y, &chain->x[i], i, &call);
    }
    xpu_describe_layer(cg, layer, XPU_KERNEL_chain_image, xpu_dim_of(cg, 0));
    return xpu_add_chain_image(cg, layer, &call, body);
}

/* Whether it runs so: it has to where an operand is nowhere but in a smaller image, and where its pixels lie apart;
 * other operands are read as they are. */
static int runs_as_image(xpu_codegen *cg, xpu_node node, xpu_image_chain *chain) {
    if (!xpu_image_chain_of(cg, node, chain)) return 0;
    int has_to = xpu_has_gaps(cg, xpu_node_output(cg->graph, node, XPU_OUT_Y));
    for (uint32_t i = 0; i < xpu_node_at(cg->graph, node)->input_count; i++) {
        xpu_image_operand *x = &chain->x[i];
        if (!x->repeat_node.id) continue;
        if (xpu_is_read_through(cg, x->repeat_node))
            has_to = 1;
        else
            *x = (xpu_image_operand){.source = xpu_node_input(cg->graph, node, i), .repeat = {1, 1}};
    }
    return has_to || xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX).id ||
           (chain->channels <= XPU_FEW_CHANNELS && is_worth_dense(cg, node));
}

/* The second result of a chain whose kernel does not find it. */
static xpu_status add_absmax(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_value y = xpu_node_output(cg->graph, node, XPU_OUT_Y);
    const xpu_value most = xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX);
    if (!most.id) return XPU_OK;
    struct xpu_absmax_f32_call call = {.x = xpu_arg_at(xpu_activation_buffer(cg, y)),
                                       .y = xpu_arg_at(xpu_activation_buffer(cg, most))};
    call.count = xpu_arg_dim(element_count(cg, y));
    return xpu_add_absmax_f32(cg, layer, &call);
}

static xpu_status lower_on_cores(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_chain *chain = xpu_chain_of(cg->graph, node);
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    xpu_chain_loops loops;
    if (!xpu_chain_plan(cg, node, xpu_value_at(cg->graph, y)->layout, &loops, NULL)) {
        return xpu_codegen_bug(cg, "a chain has loops that its kernel cannot run", "%s",
                               xpu_node_where(cg->graph, node, cg->arena));
    }
    xpu_chain_types types;
    if (!xpu_chain_types_of_node(cg->graph, node, &types)) {
        return xpu_codegen_bug(cg, "a chain has types that its steps do not take", "%s",
                               xpu_node_where(cg->graph, node, cg->arena));
    }
    xpu_image_chain image;
    const int is_image = runs_as_image(cg, node, &image);
    struct xpu_chain_typed_call call = {.sizes = xpu_arg_number(sizes_word(chain, &types))};
    call.y = xpu_arg_at(xpu_activation_buffer(cg, y));
    call.inputs = xpu_arg_number(chain->input_count);
    for (uint32_t i = 0; i < XPU_CHAIN_MAX_INPUTS; i++) {
        call.x[i] = xpu_arg_absent();
        if (i >= chain->input_count) continue;
        const xpu_value x = is_image ? image.x[i].source : xpu_node_input(cg->graph, node, i);
        call.x[i] = xpu_arg_at(xpu_operand_buffer(cg, layer, x, xpu_printf(cg->arena, "x%u", i)));
    }
    set_loops(cg, &call.loops, &loops, chain->input_count);
    const int is_dense_chain =
        types.is_float32 && is_worth_dense(cg, node) && all_dense(cg, &loops, chain->input_count);
    const int finds_most = (is_image || is_dense_chain) && xpu_node_output(cg->graph, node, XPU_OUT_ABSMAX).id;
    xpu_chain_body_text *made_body = body_of(cg, layer, chain, &types, finds_most);
    const char *body = made_body->name;
    made_body->is_image |= is_image;
    set_immediates(call.loops.c, chain);
    offer_in_place(cg, &call.loops, &loops, chain->input_count);
    if (!types.is_float32) {
        xpu_describe_layer(cg, layer, XPU_KERNEL_chain_typed, xpu_dim_of(cg, 0));
        return xpu_add_chain_typed(cg, layer, &call, body);
    }
    if (is_image) return lower_image(cg, layer, node, &image, &call.loops, body);
    if (is_dense_chain) return lower_dense(cg, layer, node, &call.loops, body);
    if (has_small_planes(cg, &loops, chain->input_count)) {
        struct xpu_chain_planes_call planes = {.loops = call.loops};
        xpu_describe_layer(cg, layer, XPU_KERNEL_chain_planes, xpu_dim_of(cg, 0));
        xpu_status made = xpu_add_chain_planes(cg, layer, &planes, body);
        return made == XPU_OK ? add_absmax(cg, layer, node) : made;
    }
    struct xpu_chain_call plain = {.loops = call.loops};
    xpu_describe_layer(cg, layer, XPU_KERNEL_chain, xpu_dim_of(cg, 0));
    xpu_status status = xpu_add_chain(cg, layer, &plain, body);
    return status == XPU_OK ? add_absmax(cg, layer, node) : status;
}

xpu_status xpu_lower_chain(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_post_chain post;
    if (xpu_post_chain_of(cg, node, 0, &post) && !ends_sooner_on_cores(cg, layer, node, &post))
        return xpu_lower_post_chain(cg, layer, node, &post);
    return lower_on_cores(cg, layer, node);
}
