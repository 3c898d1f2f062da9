/* Networks made in C: the API boundary, inputs, constants, outputs, compilation. Operators: network_operators.c. */
#include "xpuc/network.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char CHECK_CALL[] = "xpuc_build.h says what the function takes";

static const fe_frontend frontend = {
    .rules = {[FE_FORM] = "network-form",
              [FE_OPERAND] = "network-operand",
              [FE_ATTRIBUTE] = "network-attribute",
              [FE_SHAPE] = "network-shape"},
    .hints = {[FE_FORM] = CHECK_CALL, [FE_OPERAND] = CHECK_CALL, [FE_ATTRIBUTE] = CHECK_CALL, [FE_SHAPE] = CHECK_CALL},
};

static xpu_value fail(const fe_builder *b, const char *rule, const char *what, const char *why, const char *hint) {
    xpu_error(b->diags, XPU_EMODEL, b->file, rule, b->where, what, why, hint ? hint : CHECK_CALL);
    return (xpu_value){0};
}

/* ---- the boundary ---- */

/* Memory ran out: the graph may be half changed, so nothing touches it any more. */
static void lose(xpuc_network *network) {
    xpu_error_oom_of(&network->diags, &network->mem);
    network->out_of_memory = 1;
}

xpuc_network *xpuc_network_new(const char *name, xpuc_error *error) {
    xpuc_network *network = xpu_alloc_fails() ? NULL : calloc(1, sizeof *network);
    if (error) *error = (xpuc_error){.status = 0};
    if (network) {
        xpu_diags_init(&network->diags);
        xpu_mem_init(&network->mem);
        if (setjmp(network->mem.out_of_memory) == 0) {
            network->arena = xpu_arena_new(&network->mem, "network");
            network->built.name = xpu_strdup(network->arena, name && name[0] ? name : "network");
            network->graph = xpu_graph_new(network->arena, network->built.name, network->built.name);
            network->built.graph = network->graph;
            network->built.diags = &network->diags;
            return network;
        }
    }
    xpu_diags diags;
    xpu_diags_init(&diags);
    int status = (int)xpu_error_oom(&diags);
    if (error) *error = xpu_error_of(status, &diags, 0);
    xpu_diags_clear(&diags);
    xpuc_network_free(network);
    return NULL;
}

void xpuc_network_free(xpuc_network *network) {
    if (!network) return;
    xpu_mem_release(&network->mem);
    xpu_diags_clear(&network->diags);
    free(network);
}

/* ---- one operator ---- */

/* The caller's operand as a value of the graph; 0 in *ok where the call is to stop: after reporting, or because what
 * it was made from was reported. */
static xpu_value operand_of(const xpuc_network *network, const fe_builder *b, const xpu_network_call *call, uint32_t i,
                            int *ok) {
    uint32_t id = call->values[i].id;
    if (id == XPU_NETWORK_FAILED.id) {
        *ok = 0;
    } else if (id == 0 && i < call->required) {
        fail(b, "network-operand", fe_format(b, "operand %u is absent", i),
             fe_format(b, "%s needs it", xpu_escape(b->scratch, call->op, 60)), NULL);
        *ok = 0;
    } else if (id >= network->graph->values.count) {
        fail(b, "network-operand", fe_format(b, "operand %u is no value of this network", i),
             fe_format(b, "it is number %u of %u", id, network->graph->values.count - 1), NULL);
        *ok = 0;
    } else if (id && xpu_value_at(network->graph, (xpu_value){id})->dtype == XPU_DTYPE_NONE) {
        *ok = 0;
    }
    return *ok ? (xpu_value){id} : (xpu_value){0};
}

/* A name that is free, or the caller's; NULL after reporting. */
static const char *name_of(const xpuc_network *network, const fe_builder *b, const char *wanted, const char *stem,
                           uint32_t number) {
    if (wanted && wanted[0]) {
        if (xpu_graph_may_name(network->graph, wanted)) return wanted;
        fail(b, "network-name", "the name is given twice", "names of a network's tensors are unique", NULL);
        return NULL;
    }
    const char *name = fe_format(b, "%s_%u", stem, number);
    while (xpu_graph_by_name(network->graph, name).id) name = fe_format(b, "%s_", name);
    return name;
}

static fe_builder builder_of(xpuc_network *network, const char *where) {
    return (fe_builder){.frontend = &frontend,
                        .graph = network->graph,
                        .scratch = network->scratch,
                        .diags = &network->diags,
                        .file = network->built.name,
                        .where = where};
}

static xpu_value build(xpuc_network *network, const xpu_network_call *call, xpu_network_make *make) {
    static const xpu_value failed = {0};
    fe_builder b = builder_of(network, NULL);
    const char *shown = call->name && call->name[0] ? call->name : fe_format(&b, "%s_%u", call->op, network->operators);
    xpu_origin origin = {.framework = "c", .op = call->op, .name = shown, .index = network->operators};
    b.where = xpu_origin_text(&origin, call->op, network->scratch);
    const char *name = name_of(network, &b, call->name, call->op, network->operators);
    int ok = name != NULL;
    xpu_value *x = XPU_NEW_ARRAY(network->scratch, xpu_value, call->value_count + 1);
    for (uint32_t i = 0; i < call->value_count; i++) {
        int good = 1;
        x[i] = operand_of(network, &b, call, i, &good);
        ok &= good;
    }
    network->operators++;
    if (!ok) return failed;
    origin.name = name;
    b.where = xpu_origin_text(&origin, call->op, network->scratch);
    b.origin = xpu_graph_origin(network->graph, &origin);
    b.names = &name;
    b.name_count = 1;
    return make(&b, call, x);
}

/* Runs `work` with scratch memory; 0 where memory ran out, now or before. */
static int guarded(xpuc_network *network, void (*work)(xpuc_network *network, void *context), void *context) {
    if (!network || network->out_of_memory) return 0;
    if (setjmp(network->mem.out_of_memory)) {
        lose(network);
        return 0;
    }
    network->scratch = xpu_arena_new(&network->mem, "operator");
    work(network, context);
    xpu_arena_free(network->scratch);
    network->scratch = NULL;
    return 1;
}

typedef struct {
    const xpu_network_call *call;
    xpu_network_make *make;
    xpu_value result;
} building;

static void run_build(xpuc_network *network, void *context) {
    building *what = context;
    what->result = build(network, what->call, what->make);
}

xpuc_value xpu_network_build(xpuc_network *network, const xpu_network_call *call, xpu_network_make *make) {
    building what = {call, make, {0}};
    if (!guarded(network, run_build, &what) || !what.result.id) return XPU_NETWORK_FAILED;
    return (xpuc_value){what.result.id};
}

int xpu_network_form(const fe_builder *b, const void *given, size_t least, void *form, size_t room) {
    if (!given) return 1;
    size_t bytes;
    memcpy(&bytes, given, sizeof bytes);
    if (bytes == 0) bytes = least;
    const char *members = given;
    int ok = bytes >= least;
    for (size_t i = room; i < bytes && ok; i++) ok = i < room + 4096 && members[i] == 0;
    if (!ok) {
        fe_bad_attr(b, "size",
                    fe_format(b, "it is %zu; the struct of this version has %zu bytes, and what is behind them is 0",
                              bytes, room));
        return 0;
    }
    memcpy(form, given, bytes < room ? bytes : room);
    return 1;
}

/* ---- inputs ---- */

xpu_dtype xpu_network_dtype(const char *name) {
    for (int i = XPU_DTYPE_NONE + 1; name && i < XPU_DTYPE_COUNT; i++) {
        if (strcmp(xpu_dtype_name((xpu_dtype)i), name) == 0) return (xpu_dtype)i;
    }
    return XPU_DTYPE_NONE;
}

typedef struct {
    const char *name, *dtype;
    int rank;
    const xpuc_dim *dims;
    const int64_t *sizes; /* of a constant */
    const void *data;
    int borrowed;
    xpu_value result;
} tensor_call;

/* Element type and rank; 0 after reporting. */
static int check_type(const fe_builder *b, const char *rule, const tensor_call *call, const void *dims) {
    int ok = 1;
    if (xpu_network_dtype(call->dtype) == XPU_DTYPE_NONE) {
        const char *shown = call->dtype ? xpu_escape(b->scratch, call->dtype, 40) : NULL;
        fail(b, rule, "the element type is unknown", shown ? fe_format(b, "it is '%s'", shown) : "it is NULL",
             "use NumPy's names: float32, int8, uint8, int64, ...");
        ok = 0;
    }
    if (call->rank < 0 || call->rank > XPU_MAX_RANK || (call->rank && !dims)) {
        fail(b, rule, "the rank is not supported",
             call->rank >= 0 && call->rank <= XPU_MAX_RANK ? "it is not 0, and the dims are NULL"
                                                           : fe_format(b, "it is %d; 0 to 8 are", call->rank),
             NULL);
        ok = 0;
    }
    return ok;
}

static int bad_dim(const fe_builder *b, int index, const char *why) {
    fail(b, "network-input", fe_format(b, "dim %d is invalid", index), why, NULL);
    return 0;
}

/* The symbol with its range; one that is there keeps the first. */
static int read_symbol(xpuc_network *network, const fe_builder *b, int index, const xpuc_dim *given, xpu_dim *dim) {
    const char *shown = xpu_escape(b->scratch, given->symbol, 80);
    int64_t step = given->step ? given->step : 1;
    for (uint32_t i = 0; i < network->symbols.count; i++) {
        const xpu_network_symbol *known = &network->symbols.items[i];
        if (strcmp(known->name, given->symbol) != 0) continue;
        *dim = known->dim;
        int same = given->min == known->min && given->max == known->max && step == known->step;
        if (same || (given->min == 0 && given->max == 0)) return 1;
        return bad_dim(b, index, fe_format(b, "'%s' has two ranges", shown));
    }
    if (given->min < 1 || given->max < given->min || given->max > INT32_MAX || step < 1) {
        return bad_dim(b, index,
                       fe_format(b, "'%s' is %" PRId64 "..%" PRId64 ":%" PRId64 "; ranges are in 1 to 2147483647",
                                 shown, given->min, given->max, step));
    }
    *dim =
        xpu_dim_symbol(&network->graph->dims, xpu_strdup(network->arena, given->symbol), given->min, given->max, step);
    xpu_network_symbol symbol = {xpu_strdup(network->arena, given->symbol), given->min, given->max, step, *dim};
    XPU_PUSH(network->arena, &network->symbols, symbol);
    return 1;
}

static int read_dim(xpuc_network *network, const fe_builder *b, int index, const xpuc_dim *given, xpu_dim *dim) {
    if (given->symbol && given->symbol[0]) {
        if (given->size == 0) return read_symbol(network, b, index, given, dim);
        return bad_dim(b, index, "it has both a size and a symbol");
    }
    if (given->size < 0 || given->size > INT32_MAX) {
        return bad_dim(b, index, fe_format(b, "it is %" PRId64 "; sizes are 0 to 2147483647", given->size));
    }
    *dim = xpu_dim_const(&network->graph->dims, given->size);
    return 1;
}

static const char *place(const xpuc_network *network, const char *kind, const char *name) {
    if (!name || !name[0]) return xpu_printf(network->scratch, "%s without a name", kind);
    return xpu_printf(network->scratch, "%s '%s'", kind, xpu_escape(network->scratch, name, 100));
}

static void add_input(xpuc_network *network, void *context) {
    tensor_call *call = context;
    fe_builder b = builder_of(network, place(network, "input", call->name));
    xpu_dim dims[XPU_MAX_RANK];
    const char *name = name_of(network, &b, call->name, "input", network->tensors);
    if (!check_type(&b, "network-input", call, call->dims) || !name) return;
    int ok = 1;
    for (int i = 0; i < call->rank; i++) ok &= read_dim(network, &b, i, &call->dims[i], &dims[i]);
    if (!ok) return;
    call->result = xpu_graph_input(network->graph, name, xpu_network_dtype(call->dtype), call->rank, dims);
    network->tensors++;
}

static xpuc_value value_of(int done, xpu_value value) {
    return done && value.id ? (xpuc_value){value.id} : XPU_NETWORK_FAILED;
}

xpuc_value xpuc_input(xpuc_network *network, const char *name, const char *dtype, int rank, const xpuc_dim *dims) {
    tensor_call call = {.name = name, .dtype = dtype, .rank = rank, .dims = dims};
    int done = guarded(network, add_input, &call);
    return value_of(done, call.result);
}

/* ---- constants ---- */

static void add_constant(xpuc_network *network, void *context) {
    static const int64_t most_bytes = (int64_t)1 << 40;
    tensor_call *call = context;
    fe_builder b = builder_of(network, place(network, "constant", call->name));
    const char *name = name_of(network, &b, call->name, "constant", network->tensors);
    if (!check_type(&b, "network-constant", call, call->sizes) || !name) return;
    xpu_tensor tensor = {.dtype = xpu_network_dtype(call->dtype), .rank = call->rank, .data = (void *)call->data};
    int64_t bytes = (int64_t)xpu_dtype_bytes(tensor.dtype);
    for (int i = 0; i < call->rank; i++) {
        tensor.dims[i] = call->sizes[i];
        if (tensor.dims[i] < 0 || tensor.dims[i] > most_bytes || (bytes && tensor.dims[i] > most_bytes / bytes)) {
            fail(&b, "network-constant", fe_format(&b, "dim %d is invalid", i),
                 fe_format(&b, "it is %" PRId64, tensor.dims[i]), NULL);
            return;
        }
        bytes *= tensor.dims[i];
    }
    if (bytes && !call->data) {
        fail(&b, "network-constant", "the elements are missing", "the data are NULL", NULL);
        return;
    }
    if (!bytes) tensor.data = (void *)"";
    call->result = call->borrowed ? xpu_graph_const_borrowed(network->graph, name, &tensor)
                                  : xpu_graph_const_bytes(network->graph, name, &tensor);
    network->tensors++;
}

static xpuc_value constant(xpuc_network *network, tensor_call call) {
    int done = guarded(network, add_constant, &call);
    return value_of(done, call.result);
}

xpuc_value xpuc_constant(xpuc_network *network, const char *name, const char *dtype, int rank, const int64_t *dims,
                         const void *data) {
    return constant(network, (tensor_call){.name = name, .dtype = dtype, .rank = rank, .sizes = dims, .data = data});
}

xpuc_value xpuc_constant_borrowed(xpuc_network *network, const char *name, const char *dtype, int rank,
                                  const int64_t *dims, const void *data) {
    return constant(
        network, (tensor_call){.name = name, .dtype = dtype, .rank = rank, .sizes = dims, .data = data, .borrowed = 1});
}

xpuc_value xpuc_scalar(xpuc_network *network, float value) {
    return constant(network, (tensor_call){.dtype = "float32", .data = &value});
}

/* ---- outputs ---- */

/* An input, a constant, what is an output already, and what is to have another name get a copy. */
static xpu_value make_output(fe_builder *b, const xpu_network_call *call, const xpu_value *x) {
    const xpu_value_info *info = fe_info(b, x[0]);
    int as_it_is = info->kind == XPU_VALUE_NODE && !info->is_output && !call->text;
    xpu_value output = as_it_is ? x[0] : fe_elementwise(b, XPU_OP_IDENTITY, x, 1, NULL, 0);
    if (output.id) xpu_graph_output(b->graph, output);
    return output;
}

int xpuc_output(xpuc_network *network, xpuc_value value, const char *name) {
    if (!network) return XPU_EUSAGE;
    xpu_network_call call = {.op = "Output",
                             .name = name,
                             .text = name && name[0] ? name : NULL,
                             .values = &value,
                             .value_count = 1,
                             .required = 1};
    xpuc_value output = xpu_network_build(network, &call, make_output);
    if (output.id != XPU_NETWORK_FAILED.id) return 0;
    return (int)xpu_diags_status(&network->diags);
}

/* ---- the whole network ---- */

typedef struct {
    xpuc_value value;
    const char *text;
} type_call;

static void write_type(xpuc_network *network, void *context) {
    type_call *call = context;
    uint32_t id = call->value.id;
    if (id == 0 || id >= network->graph->values.count) return;
    if (xpu_value_at(network->graph, (xpu_value){id})->dtype == XPU_DTYPE_NONE) return;
    call->text = xpu_type_text(network->graph, (xpu_value){id}, network->arena);
}

const char *xpuc_type(xpuc_network *network, xpuc_value value) {
    type_call call = {value, NULL};
    return guarded(network, write_type, &call) ? call.text : NULL;
}

int xpuc_network_check(const xpuc_network *network, xpuc_error *error) {
    int status = network ? (int)xpu_diags_status(&network->diags) : XPU_EUSAGE;
    if (!error) return status;
    *error = network ? xpu_error_of(status, &network->diags, 0) : (xpuc_error){.status = status};
    return status;
}

static const xpu_built absent;

int xpuc_network_compile(const xpuc_network *network, const xpuc_options *options, xpuc_result *result,
                         xpuc_error *error) {
    return xpu_compile_built("xpuc_network_compile", network ? &network->built : &absent, NULL, 0, options, result,
                             error);
}

int xpuc_network_compile_to_file(const xpuc_network *network, const char *output, const xpuc_options *options,
                                 xpuc_result *result, xpuc_error *error) {
    return xpu_compile_built("xpuc_network_compile_to_file", network ? &network->built : &absent, output, 1, options,
                             result, error);
}
