/* Shape functions, table driven: operands and attributes as text, the result as text or the rule that refuses. */
#include "core/ops/window.h"
#include "core/ops/ref.h"
#include "tests/unit/ir.h"

/* Symbols of the table: N 1..16, H 3..100, W 32..224:32, K 1..2^40. */
static xpu_dim dim_named(xpu_dims *dims, char name) {
    switch (name) {
    case 'N': return xpu_dim_symbol(dims, "N", 1, 16, 1);
    case 'H': return xpu_dim_symbol(dims, "H", 3, 100, 1);
    case 'W': return xpu_dim_symbol(dims, "W", 32, 224, 32);
    default: return xpu_dim_symbol(dims, "K", 1, (int64_t)1 << 40, 1);
    }
}

/* "N,3,H" -> dims; "" is rank 0. Returns the rank. */
static int parse_dims(xpu_dims *dims, const char *text, size_t length, xpu_dim *out) {
    int rank = 0;
    for (const char *end = text + length; text < end; text++) {
        if (*text >= 'A' && *text <= 'Z') {
            out[rank++] = dim_named(dims, *text++);
        } else {
            char *next;
            out[rank++] = xpu_dim_const(dims, strtoll(text, &next, 10));
            text = next;
        }
    }
    return rank;
}

/* "f[N,3] i16[4] _ -": operands; "_" is absent. */
static uint32_t parse_operands(bench *b, const char *text, xpu_value *values) {
    uint32_t count = 0;
    while (*text) {
        xpu_dim dims[XPU_MAX_RANK];
        const char *open = strchr(text, '['), *close = strchr(text, ']');
        if (*text == ' ') {
            text++;
        } else if (*text == '_') {
            values[count++] = (xpu_value){0};
            text++;
        } else {
            xpu_dtype dtype = strncmp(text, "i16", 3) == 0   ? XPU_I16
                              : strncmp(text, "i8", 2) == 0  ? XPU_I8
                              : strncmp(text, "i64", 3) == 0 ? XPU_I64
                              : *text == 'b'                 ? XPU_BOOL
                                                             : XPU_F32;
            int rank = parse_dims(&b->graph->dims, open + 1, (size_t)(close - open - 1), dims);
            values[count++] = xpu_graph_input(b->graph, NULL, dtype, rank, dims);
            text = close + 1;
        }
    }
    return count;
}

/* "strides=2,2 group=3 shape=N,-1 mode=edge" */
static uint32_t parse_attrs(bench *b, const char *text, xpu_attr *attrs) {
    uint32_t count = 0;
    while (*text) {
        size_t name = strcspn(text, "="), length = strcspn(text, " ");
        int id = 0;
        while (strlen(xpu_attr_name((xpu_attr_id)id)) != name ||
               strncmp(xpu_attr_name((xpu_attr_id)id), text, name) != 0)
            id++;
        xpu_attr attr = {.id = (xpu_attr_id)id};
        const char *value = text + name + 1;
        xpu_dim *dims = XPU_NEW_ARRAY(b->arena, xpu_dim, XPU_MAX_RANK + 1);
        int64_t *ints = XPU_NEW_ARRAY(b->arena, int64_t, 16);
        switch (xpu_attr_type_of(attr.id)) {
        case XPU_ATTR_TYPE_INTS:
            for (const char *at = value; at < text + length;) {
                char *next;
                ints[attr.count++] = strtoll(at, &next, 10);
                at = next + 1;
            }
            attr.ints = ints;
            break;
        case XPU_ATTR_TYPE_DIMS:
            attr.count = (uint32_t)parse_dims(&b->graph->dims, value, (size_t)(text + length - value), dims);
            attr.dims = dims;
            break;
        case XPU_ATTR_TYPE_STRING: attr.s = xpu_strndup(b->arena, value, (size_t)(text + length - value)); break;
        case XPU_ATTR_TYPE_FLOAT: attr.f = strtof(value, NULL); break;
        default: attr.i = strtoll(value, NULL, 10); break;
        }
        attrs[count++] = attr;
        text += length + (text[length] == ' ');
    }
    return count;
}

typedef struct {
    xpu_op_id op;
    const char *operands, *attrs;
    const char *expected; /* "N,3,8", "N,3,8 if H = W" where there is a guard, or "!rule" */
} infer_case;

static void run_cases(const infer_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        BENCH_OPEN(b);
        xpu_value inputs[8];
        xpu_attr attrs[8];
        uint32_t input_count = parse_operands(&b, cases[i].operands, inputs);
        uint32_t attr_count = parse_attrs(&b, cases[i].attrs, attrs);
        xpu_node node = bench_node(&b, cases[i].op, inputs, input_count, attrs, attr_count);
        const char *got = "!no rule";
        if (b.diags.errors) {
            got = xpu_printf(b.arena, "!%s", b.diags.items[0].rule);
            CU_ASSERT(b.diags.items[0].what && b.diags.items[0].why && b.diags.items[0].status == XPU_EMODEL);
            CU_ASSERT_EQUAL(b.diags.errors, 1);
            CU_ASSERT_NOT_EQUAL(xpu_op_infer(b.graph, node, &b.diags), XPU_OK);
        } else {
            const xpu_value_info *y = xpu_value_at(b.graph, xpu_node_output(b.graph, node, 0));
            xpu_text text;
            xpu_text_init(&text, b.arena);
            for (int d = 0; d < y->rank; d++) {
                xpu_text_add(&text, "%s%s", d ? "," : "", xpu_dim_text(&b.graph->dims, y->dims[d], b.arena));
            }
            for (uint32_t g = 0; g < b.graph->guards.count; g++) {
                xpu_text_add(&text, " if %s", xpu_guard_text(b.graph, &b.graph->guards.items[g], b.arena));
            }
            got = text.text;
            uint32_t guards = b.graph->guards.count;
            CU_ASSERT_EQUAL(xpu_verify(b.graph, "infer", &b.diags), XPU_OK);
            /* a second run changes nothing */
            CU_ASSERT_EQUAL(xpu_op_infer(b.graph, node, &b.diags), XPU_OK);
            CU_ASSERT_EQUAL(b.graph->guards.count, guards);
        }
        CU_ASSERT_STRING_EQUAL(got, cases[i].expected);
        if (strcmp(got, cases[i].expected) != 0) {
            printf("%s(%s) {%s}: %s\n", xpu_op_of(cases[i].op)->name, cases[i].operands, cases[i].attrs, got);
            bench_print(&b);
        }
        bench_close(&b);
    }
}

#define RUN(cases) run_cases(cases, sizeof(cases) / sizeof(cases)[0])

static void windows(void) {
    static const infer_case cases[] = {
        {XPU_OP_CONV, "f[N,3,224,224] f[64,3,7,7]", "strides=2,2 pads=3,3,3,3", "N,64,112,112"},
        {XPU_OP_CONV, "f[1,3,H,W] f[8,3,3,3]", "pads=1,1,1,1", "1,8,H,W"},
        {XPU_OP_CONV, "f[1,3,H,W] f[8,3,3,3]", "pads=1,1,1,1 strides=2,2", "1,8,(H+1)/2,W/2"},
        {XPU_OP_CONV, "f[1,4,9] f[6,2,3]", "group=2 dilations=2 pads=0,1", "1,6,6"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3] f[6] f[1,6,7]", "", "1,6,7"},
        {XPU_OP_CONV, "f[1,4,9] i16[6,4,3] f[6] _ f[6] f[]", "precision=1", "1,6,7"},
        {XPU_OP_CONV, "f[1,4,9] i16[6,4,3] f[6]", "precision=1", "!int16-operands"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3]", "precision=1", "!dtype-operand"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3]", "precision=7", "!op-attribute"},
        {XPU_OP_CONV, "i64[1,4,9] f[6,4,3]", "", "!dtype-operand"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3] f[5]", "", "!shape-bias"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3] f[6] f[1,6,8]", "", "!shape-branch"},
        {XPU_OP_CONV, "f[1,4,9] f[6,3,3]", "", "!shape-conv-channels"},
        {XPU_OP_CONV, "f[1,N,9] f[6,3,3]", "", "!shape-conv-channels"},
        {XPU_OP_CONV, "f[1,4,9] f[6,2,3]", "group=4", "!shape-conv-group"},
        {XPU_OP_CONV, "f[1,4,9] f[6,2,3]", "group=0", "!shape-conv-group"},
        {XPU_OP_CONV, "f[1,4,9] f[6,2,3]", "group=-2", "!shape-conv-group"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4611686018427387904,3]", "group=6", "!shape-conv-channels"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,0]", "", "!shape-conv-weights"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,N]", "", "!shape-conv-weights"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3,3]", "", "!shape-conv-weights"},
        {XPU_OP_CONV, "f[1,4,9,9,9] f[6,4,3,3,3]", "", "!shape-window-rank"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3]", "strides=0", "!shape-window-attribute"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3]", "strides=1,1", "!shape-window-attribute"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3]", "pads=-1,0", "!shape-window-attribute"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3]", "pads=9223372036854775807,9223372036854775807", "!shape-window-attribute"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,3]", "dilations=1000000000", "!shape-window-fit"},
        {XPU_OP_CONV, "f[1,4,9] f[6,4,10]", "", "!shape-window-fit"},
        {XPU_OP_CONV, "f[1048576,1,1048576] f[64,1,1]", "", "!shape-too-large"},
        {XPU_OP_CONV, "f[1,4,9]", "", "!op-operands"},
        {XPU_OP_CONV, "_ f[1,4,9]", "", "!op-operands"},
        {XPU_OP_MAX_POOL, "f[N,8,9,9]", "kernel=2,2 strides=2,2", "N,8,4,4"},
        {XPU_OP_MAX_POOL, "f[N,8,9,9]", "kernel=2,2 strides=2,2 ceil_mode=1", "N,8,5,5"},
        /* the last window would start in the right padding: it does not count */
        {XPU_OP_MAX_POOL, "f[1,1,4]", "kernel=1 strides=5 ceil_mode=1", "1,1,1"},
        {XPU_OP_AVERAGE_POOL, "f[1,1,4]", "kernel=3 strides=3 pads=1,2 ceil_mode=1", "1,1,2"},
        {XPU_OP_MAX_POOL, "f[1,1,5]", "kernel=2 strides=3 pads=1,1 ceil_mode=1", "1,1,2"},
        {XPU_OP_MAX_POOL, "f[1,1,W]", "kernel=2 strides=2 ceil_mode=1", "1,1,W/2"},
        {XPU_OP_MAX_POOL, "f[1,1,H]", "kernel=2 strides=2 ceil_mode=1", "1,1,(H+1)/2"},
        {XPU_OP_MAX_POOL, "f[1,1,4]", "", "!shape-window-attribute"},
        {XPU_OP_MAX_POOL, "f[1,1,4]", "kernel=0", "!shape-window-attribute"},
        {XPU_OP_MAX_POOL, "f[1,1,4]", "kernel=2 pads=2,0", "!shape-pool-pads"},
        {XPU_OP_MAX_POOL, "f[1,4]", "kernel=2", "!shape-window-rank"},
        {XPU_OP_MAX_POOL, "i64[1,1,4]", "kernel=2", "!dtype-operand"},
        {XPU_OP_GLOBAL_AVERAGE_POOL, "f[N,8,H,W,3]", "", "N,8,1,1,1"},
        {XPU_OP_GLOBAL_AVERAGE_POOL, "f[N,8]", "", "!shape-window-rank"},
        {XPU_OP_GLOBAL_AVERAGE_POOL, "f[N,8,H,W]", "precision=2", "!op-attribute"},
        {XPU_OP_QGLOBAL_AVERAGE_POOL, "i8[N,8,H,W]", "dtype=0", "!quantised-attribute"},
    };
    RUN(cases);
}

static void matrices(void) {
    static const infer_case cases[] = {
        {XPU_OP_MATMUL, "f[N,400] f[400,10] f[10]", "", "N,10"},
        {XPU_OP_MATMUL, "f[N,12,H,64] f[64,32]", "", "N,12,H,32"},
        {XPU_OP_MATMUL, "f[1,12,H,64] f[N,1,64,H]", "", "N,12,H,H"},
        {XPU_OP_MATMUL, "f[3,4] f[5,6]", "", "!shape-matmul-k"},
        {XPU_OP_MATMUL, "f[3,N] f[4,6]", "", "!shape-matmul-k"},
        {XPU_OP_MATMUL, "f[3,W] f[100,6]", "", "!shape-matmul-k"},
        {XPU_OP_MATMUL, "f[3,N] f[17,6]", "", "!shape-matmul-k"},
        {XPU_OP_MATMUL, "f[3,N] f[H,6]", "", "3,6 if N = H"},
        {XPU_OP_MATMUL, "f[N,3,4] f[H,4,6]", "", "N,3,6 if N = H"},
        {XPU_OP_MATMUL, "f[4] f[4,6]", "", "!shape-matmul-rank"},
        {XPU_OP_MATMUL, "f[2,3,4] f[5,4,6]", "", "!shape-broadcast"},
        {XPU_OP_MATMUL, "f[3,4] f[4,6] f[3]", "", "!shape-bias"},
        {XPU_OP_MATMUL, "f[3,4] f[4,6] _ f[3,6]", "", "3,6"},
        {XPU_OP_MATMUL, "f[3,4] f[4,6] _ f[6]", "", "!shape-branch"},
        {XPU_OP_MATMUL, "f[3,4] i16[4,6] f[6] _ f[4] f[]", "precision=1", "!shape-weight-scales"},
        {XPU_OP_MATMUL, "f[3,4] i16[4,6] f[6] _ f[6] f[1]", "precision=1", "!int16-operands"},
    };
    RUN(cases);
}

static void movers(void) {
    static const infer_case cases[] = {
        {XPU_OP_RESHAPE, "f[N,16,4,4]", "shape=N,256", "N,256"},
        {XPU_OP_RESHAPE, "i64[6]", "shape=2,3", "2,3"},
        {XPU_OP_RESHAPE, "f[N,16,4,4]", "shape=1,256", "!shape-reshape-count"},
        {XPU_OP_RESHAPE, "f[N,3]", "shape=H,3", "H,3 if N*3 = H*3"},
        {XPU_OP_RESHAPE, "f[N,H]", "shape=64", "64 if N*H = 64"},
        {XPU_OP_RESHAPE, "f[N,16]", "shape=7", "!shape-reshape-count"},
        {XPU_OP_RESHAPE, "f[2,3]", "shape=7", "!shape-reshape-count"},
        {XPU_OP_RESHAPE, "f[2,3]", "shape=-6", "!shape-negative"},
        {XPU_OP_RESHAPE, "f[2,3]", "", "!shape-reshape-rank"},
        {XPU_OP_RESHAPE, "f[2,3]", "shape=1,1,1,1,1,1,1,2,3", "!shape-reshape-rank"},
        {XPU_OP_RESHAPE, "f[0,3]", "shape=0", "0"},
        {XPU_OP_TRANSPOSE, "f[N,3,H]", "perm=2,0,1", "H,N,3"},
        {XPU_OP_TRANSPOSE, "f[N,3,H]", "", "H,3,N"},
        {XPU_OP_TRANSPOSE, "f[N,3,H]", "perm=0,1", "!shape-transpose-perm"},
        {XPU_OP_TRANSPOSE, "f[N,3,H]", "perm=0,1,1", "!shape-transpose-perm"},
        {XPU_OP_TRANSPOSE, "f[N,3,H]", "perm=0,1,-1", "!shape-transpose-perm"},
        {XPU_OP_CONCAT, "f[N,3,H] f[N,5,H]", "axis=1", "N,8,H"},
        {XPU_OP_CONCAT, "f[H,3] f[W,3]", "axis=-2", "H+W,3"},
        {XPU_OP_CONCAT, "f[N,3,H] f[N,5,W]", "axis=1", "N,8,H if H = W"},
        {XPU_OP_CONCAT, "f[N,3,H] f[H,5,W]", "axis=1", "!shape-concat"}, /* 16 < 32 */
        {XPU_OP_CONCAT, "f[N,3,H] f[H,5,N]", "axis=1", "N,8,N if N = H"},
        {XPU_OP_CONCAT, "f[N,3,H] f[N,5,7]", "axis=1", "!shape-concat"},
        {XPU_OP_CONCAT, "f[N,3,101] f[N,5,H]", "axis=1", "!shape-concat"},
        {XPU_OP_CONCAT, "f[N,3] i64[N,3]", "axis=1", "!shape-concat"},
        {XPU_OP_CONCAT, "f[N,3] _", "axis=1", "!shape-concat"},
        {XPU_OP_CONCAT, "f[N,3] f[N,3]", "axis=2", "!shape-axis"},
        {XPU_OP_CONCAT, "f[] f[]", "axis=0", "!shape-axis"},
        {XPU_OP_PAD, "f[N,3,H]", "pads=0,1,2,0,-1,3 mode=constant", "N,3,H+5"},
        {XPU_OP_PAD, "i64[3]", "pads=1,1", "5"},
        {XPU_OP_PAD, "i64[3]", "pads=1,1 value=2", "5"},
        {XPU_OP_PAD, "i64[3]", "pads=1,1 value=2.5", "!pad-value"},
        {XPU_OP_PAD, "f[3]", "pads=2,2 mode=reflect", "7"},
        {XPU_OP_PAD, "f[3]", "pads=3,0 mode=reflect", "!shape-pad"},
        {XPU_OP_PAD, "f[0]", "pads=1,0 mode=edge", "!shape-pad"},
        {XPU_OP_PAD, "f[3]", "pads=-2,-2", "!shape-negative"},
        {XPU_OP_PAD, "f[3]", "pads=1", "!shape-pad"},
        {XPU_OP_PAD, "f[3]", "pads=9223372036854775807,1", "!shape-pad"},
        {XPU_OP_PAD, "f[3]", "pads=1,1 mode=wrap", "!pad-mode"},
        {XPU_OP_PAD, "f[1048576,1048576]", "pads=0,1,0,1", "!shape-too-large"},
        {XPU_OP_IDENTITY, "i64[N,3]", "", "N,3"},
        {XPU_OP_RELAYOUT, "f[N,3,H,W]", "layout=1", "N,3,H,W"},
        {XPU_OP_RELAYOUT, "f[N,3]", "layout=1", "!relayout-layout"},
        {XPU_OP_RELAYOUT, "f[N,3]", "layout=9", "!relayout-layout"},
    };
    RUN(cases);
}

static void elementwise(void) {
    static const infer_case cases[] = {
        {XPU_OP_ADD, "f[N,3,H] f[3,1]", "", "N,3,H"},
        {XPU_OP_ADD, "f[] f[N,3]", "", "N,3"},
        {XPU_OP_ADD, "f[N,1] f[1,H]", "", "N,H"},
        {XPU_OP_MUL, "f[N,1,1] f[N,W,H]", "", "N,W,H"},
        {XPU_OP_ADD, "f[N] f[H]", "", "N if N = H"},
        {XPU_OP_ADD, "f[N,H] f[3,1,W]", "", "3,N,H if H = W"},
        {XPU_OP_ADD, "f[N] f[4]", "", "!shape-broadcast"},
        {XPU_OP_ADD, "f[3] f[4]", "", "!shape-broadcast"},
        {XPU_OP_ADD, "f[3] i64[3]", "", "!dtype-operand"},
        {XPU_OP_ADD, "f[3]", "", "!op-operands"},
        {XPU_OP_ADD, "f[3] _", "", "!op-operands"},
        {XPU_OP_ADD, "f[1048576,1] f[1,1048577]", "", "!shape-too-large"},
        {XPU_OP_RELU, "f[N,3]", "", "N,3"},
        {XPU_OP_RELU, "f[K,K]", "", "K,K"}, /* may be too large, but need not */
        {XPU_OP_CLIP, "f[N,3]", "low=0 high=6", "N,3"},
        {XPU_OP_SOFTMAX, "f[N,3]", "axis=-1", "N,3"},
        {XPU_OP_SOFTMAX, "f[N,3]", "axis=-3", "!shape-axis"},
        {XPU_OP_SOFTMAX, "f[N,3]", "axis=9223372036854775807", "!shape-axis"},
        {XPU_OP_SOFTMAX, "i64[N,3]", "axis=0", "!dtype-operand"},
        {XPU_OP_ABSMAX, "f[N,3]", "", ""},
        {XPU_OP_RECURRENT, "f[K,N,40] f[10,20]", "", "K,2,N,5"}, /* an LSTM of 5 units, in two directions */
        {XPU_OP_RECURRENT, "f[K,N,20] f[5,20] _ f[1,N,5] _ _ f[1,N,5]", "", "K,1,N,5"},
        {XPU_OP_RECURRENT, "f[K,N,15] f[5,15] f[1,15] f[1,N,5]", "kind=1", "K,1,N,5"},
        {XPU_OP_RECURRENT, "f[K,N,5] i16[5,5] _ _ f[5]", "kind=2 precision=1 backwards=1", "K,1,N,5"},
        {XPU_OP_RECURRENT, "f[K,N,5] i8[5,5] _ _ f[5]", "kind=2 precision=2", "K,1,N,5"},
        {XPU_OP_RECURRENT, "f[K,N,20] f[15,20]", "", "!shape-recurrent"},
        {XPU_OP_RECURRENT, "f[K,N,40] f[5,20]", "", "!shape-recurrent"},
        {XPU_OP_RECURRENT, "f[K,N,21] f[5,21]", "", "!shape-recurrent"},
        {XPU_OP_RECURRENT, "f[N,20] f[5,20]", "", "!shape-recurrent"},
        {XPU_OP_RECURRENT, "f[K,N,20] f[H,20]", "", "!shape-recurrent"},
        {XPU_OP_RECURRENT, "f[K,N,20] f[5,20] f[20]", "", "!shape-recurrent"},
        {XPU_OP_RECURRENT, "f[K,N,20] f[5,20] _ f[2,N,5]", "", "!shape-recurrent"},
        {XPU_OP_RECURRENT, "f[K,N,5] f[5,5] _ _ _ _ f[1,N,5]", "kind=2", "!shape-recurrent"}, /* cells of an RNN */
        {XPU_OP_RECURRENT, "f[K,N,20] f[5,20]", "kind=3", "!shape-recurrent"},
        {XPU_OP_RECURRENT, "f[K,N,20] i16[5,20]", "precision=1", "!shape-recurrent"},
        {XPU_OP_RECURRENT, "f[K,N,20] i8[5,20] _ _ f[20]", "precision=1", "!dtype-operand"},
        {XPU_OP_RECURRENT, "f[K,N,20] i8[5,20] _ _ f[20]", "precision=3", "!op-attribute"},
        {XPU_OP_ROW_SCALE, "f[N,2,3]", "", "N,2,3"},
        {XPU_OP_ROW_SCALE, "f[]", "", "!shape-rows"},
        {XPU_OP_ROW_RESTORE, "f[N,2,3] f[N,2,1] f[3] f[N,2,3]", "", "N,2,3"},
        {XPU_OP_ROW_RESTORE, "f[N,2,3] f[N,2,1] _ f[N,2,3]", "", "N,2,3"},
        {XPU_OP_ROW_RESTORE, "f[N,2,3] f[N,2,3]", "", "!shape-rows"},
        {XPU_OP_ROW_RESTORE, "f[N,2,3] f[N,2,1] f[2]", "", "!shape-rows"},
        {XPU_OP_ROW_RESTORE, "f[N,2,3] f[2,1]", "", "!shape-rows"},
        {XPU_OP_ROW_RESTORE, "f[N,2,3] f[N,2,1]", "activation=3", "!op-attribute"},
        {XPU_OP_CHAIN, "f[8]", "", "!chain-program"},
    };
    RUN(cases);
}

static void composites(void) {
    static const infer_case cases[] = {
        {XPU_OP_ATTENTION, "f[2,N,8] f[2,K,8] f[2,K,5]", "", "2,N,5"},
        {XPU_OP_ATTENTION, "f[2,N,8] f[2,K,8] f[2,K,5] b[N,K]", "scale=0.5", "2,N,5"},
        {XPU_OP_ATTENTION, "f[2,N,8] f[2,K,8] f[2,K,5] b[1,N,K]", "", "2,N,5"},
        {XPU_OP_ATTENTION, "f[2,N,8] f[2,K,8] f[2,K,5] b[2,N,K]", "", "!shape-attention"},
        {XPU_OP_ATTENTION, "f[2,N,8] f[2,K,8] f[2,K,5] b[N,9]", "", "!shape-attention"},
        {XPU_OP_ATTENTION, "f[2,N,8] f[2,K,9] f[2,K,5]", "", "!shape-attention"},
        {XPU_OP_ATTENTION, "f[2,N,8] f[3,K,8] f[2,K,5]", "", "!shape-attention"},
        {XPU_OP_ATTENTION, "f[2,N,8] f[2,4,8] f[2,5,5]", "", "!shape-attention"},
        {XPU_OP_ATTENTION, "f[8] f[8] f[8]", "", "!shape-attention"},
        {XPU_OP_ROTARY, "f[N,4,8] f[N,1,8] f[N,1,8]", "interleaved=1", "N,4,8"},
        {XPU_OP_ROTARY, "f[2,4,N,8] f[N,8] f[N,8]", "", "2,4,N,8"},
        {XPU_OP_ROTARY, "f[2,4,N,8] f[2,1,N,8] f[2,1,N,8]", "", "2,4,N,8"},
        {XPU_OP_ROTARY, "f[8] f[8] f[8]", "", "8"},
        {XPU_OP_ROTARY, "f[2,4,N,8] f[1,4,1,8] f[1,4,1,8]", "", "!shape-rotary"},
        {XPU_OP_ROTARY, "f[N,4,8] f[N,1,8] f[1,1,8]", "", "!shape-rotary"},
        {XPU_OP_ROTARY, "f[1,4,8] f[3,1,8] f[3,1,8]", "", "!shape-rotary"},
        {XPU_OP_ROTARY, "f[4,8] f[4,1,8] f[4,1,8]", "", "!shape-rotary"},
        {XPU_OP_ROTARY, "f[N,7] f[7] f[7]", "", "!shape-rotary"},
        {XPU_OP_ROTARY, "f[N,8] f[4] f[4]", "", "!shape-rotary"},
        {XPU_OP_ROTARY, "f[N,258] f[258] f[258]", "", "!shape-rotary"},
        {XPU_OP_ROTARY, "f[] f[] f[]", "", "!shape-rotary"},
        {XPU_OP_BATCH_NORM, "f[N,8,H] f[8] f[8] f[8] f[8]", "", "N,8,H"},
        {XPU_OP_BATCH_NORM, "f[N,8,H] f[8] f[8] f[7] f[8]", "", "!shape-batch-norm"},
        {XPU_OP_BATCH_NORM, "f[8] f[8] f[8] f[8] f[8]", "", "!shape-batch-norm"},
        {XPU_OP_NORM, "f[N,8]", "", "N,8"},
        {XPU_OP_NORM, "f[N,8] _ f[8]", "centred=0", "N,8"},
        {XPU_OP_NORM, "f[8] f[8] f[8]", "", "8"},
        {XPU_OP_NORM, "f[] f[8]", "", "!shape-norm"},
        {XPU_OP_NORM, "f[N,8] f[7]", "", "!shape-norm"},
        {XPU_OP_NORM, "f[8,8] f[8] f[8,8]", "", "!shape-norm"},
    };
    RUN(cases);
}

/* Small constants fold, of any element type for copies; later nodes see the result. */
static void folding(void) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    int64_t numbers[] = {1, 2, 3, 4, 5, 6};
    float values[] = {1, -2, 3};
    xpu_value n = xpu_graph_const_bytes(g, "n", &(xpu_tensor){XPU_I64, 2, {2, 3}, numbers});
    xpu_value t = xpu_node_output(g, bench_node(&b, XPU_OP_TRANSPOSE, &n, 1, NULL, 0), 0);
    xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 1);
    xpu_value joined = xpu_node_output(g, bench_node(&b, XPU_OP_CONCAT, (xpu_value[]){t, t}, 2, &axis, 1), 0);
    static const int64_t expected[] = {1, 4, 1, 4, 2, 5, 2, 5, 3, 6, 3, 6};
    CU_ASSERT_PTR_NOT_NULL_FATAL(xpu_value_at(g, joined)->constant);
    CU_ASSERT_EQUAL(memcmp(xpu_const_data(g, joined, b.arena, &b.diags), expected, sizeof expected), 0);
    xpu_value v = xpu_graph_const_bytes(g, "v", &(xpu_tensor){XPU_F32, 1, {3}, values});
    xpu_node relu = bench_node(&b, XPU_OP_RELU, &v, 1, NULL, 0);
    float *result = xpu_const_data(g, xpu_node_output(g, relu, 0), b.arena, &b.diags);
    CU_ASSERT(result[0] == 1 && result[1] == 0 && result[2] == 3);
    xpu_node_set_input(g, relu, 0, bench_input(&b, "x", XPU_F32, DIMS(5)));
    CU_ASSERT_EQUAL(xpu_op_infer(g, relu, &b.diags), XPU_OK);
    CU_ASSERT_PTR_NULL(xpu_value_at(g, xpu_node_output(g, relu, 0))->constant);
    CU_ASSERT_EQUAL(xpu_verify(g, "folding", &b.diags), XPU_OK);
    bench_close(&b);
}

/* What is made from a value that could not be inferred adds no second error. */
static void errors_do_not_cascade(void) {
    BENCH_OPEN(b);
    xpu_value x = bench_input(&b, "x", XPU_F32, DIMS(2, 3));
    xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 7);
    xpu_value bad = xpu_node_output(b.graph, bench_node(&b, XPU_OP_SOFTMAX, &x, 1, &axis, 1), 0);
    xpu_value worse = xpu_node_output(b.graph, bench_node(&b, XPU_OP_RELU, &bad, 1, NULL, 0), 0);
    bench_node(&b, XPU_OP_ADD, (xpu_value[]){worse, x}, 2, NULL, 0);
    CU_ASSERT_EQUAL(b.diags.errors, 1);
    bench_close(&b);
}

/* ---- hostile operands and attributes: an error, or a graph that verifies and runs ---- */

static int64_t hostile_int(random_source *r) {
    static const int64_t extremes[] = {
        0, -1, INT64_MAX, INT64_MIN, (int64_t)1 << 30, (int64_t)1 << 31, (int64_t)1 << 40, -((int64_t)1 << 62), 65536};
    if (random_range(r, 0, 7) == 0) return extremes[random_range(r, 0, 8)];
    return random_range(r, 0, 3) ? random_range(r, 0, 3) : random_range(r, -3, 9);
}

static xpu_value hostile_operand(bench *b, random_source *r, int usual_rank) {
    xpu_dim dims[XPU_MAX_RANK];
    int rank = random_range(r, 0, 9) ? usual_rank : (int)random_range(r, 0, XPU_MAX_RANK);
    xpu_dtype dtype = random_range(r, 0, 15) ? XPU_F32 : (xpu_dtype)random_range(r, XPU_F32, XPU_DTYPE_COUNT - 1);
    for (int i = 0; i < rank; i++) {
        int64_t size = random_range(r, 0, 15) ? random_range(r, 1, 4) : hostile_int(r);
        if (size < 0) size = 5;
        dims[i] = random_range(r, 0, 19) ? xpu_dim_const(&b->graph->dims, size)
                                         : dim_named(&b->graph->dims, "NHWK"[random_range(r, 0, 3)]);
    }
    return xpu_graph_input(b->graph, NULL, dtype, rank, dims);
}

static uint32_t hostile_attrs(bench *b, random_source *r, xpu_op_id op, int usual_rank, xpu_attr *attrs) {
    static const char *const modes[] = {"constant", "reflect", "edge", "?"};
    uint32_t count = 0;
    for (int id = 0; id < XPU_ATTR_COUNT; id++) {
        if (!xpu_op_attr(xpu_op_of(op), (xpu_attr_id)id) || random_range(r, 0, 3) == 0) continue;
        xpu_attr attr = {
            .id = (xpu_attr_id)id, .i = hostile_int(r), .f = random_float(r), .s = modes[random_range(r, 0, 3)]};
        int64_t *ints = XPU_NEW_ARRAY(b->arena, int64_t, 20);
        xpu_dim *dims = XPU_NEW_ARRAY(b->arena, xpu_dim, 20);
        xpu_chain *chain = XPU_NEW(b->arena, xpu_chain);
        int spatial = usual_rank > 2 ? usual_rank - 2 : 1;
        attr.count = (uint32_t)(id == XPU_ATTR_PADS ? 2 * (op == XPU_OP_PAD ? usual_rank : spatial)
                                : id == XPU_ATTR_PERM || id == XPU_ATTR_SHAPE ? usual_rank
                                                                              : spatial);
        if (random_range(r, 0, 9) == 0) attr.count = (uint32_t)random_range(r, 0, 18);
        for (uint32_t i = 0; i < attr.count; i++) {
            ints[i] = hostile_int(r);
            dims[i] = xpu_dim_const(&b->graph->dims, ints[i]);
        }
        chain->input_count = (uint32_t)random_range(r, 0, 7);
        chain->step_count = (uint32_t)random_range(r, 0, 33);
        for (int i = 0; i < XPU_CHAIN_MAX_STEPS; i++) {
            chain->steps[i].op = (xpu_elementwise)random_range(r, 0, XPU_EW_COUNT);
            for (int k = 0; k < 3; k++) chain->steps[i].operands[k] = (uint8_t)random_range(r, 0, i + 2);
        }
        if (id == XPU_ATTR_STEPS) attr.count = sizeof *chain;
        attr.ints = ints;
        attr.dims = dims;
        attr.chain = chain;
        attrs[count++] = attr;
    }
    return count;
}

/* Runs the node when it is small; symbols at their least value. */
static int run_small(bench *b, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(b->graph, node);
    const int64_t symbols[] = {1, 1, 1, 1};
    xpu_tensor operands[8] = {{0}}, results[2];
    const xpu_tensor *inputs[8] = {NULL};
    int64_t work = 1;
    for (uint32_t i = 0; i < info->input_count + info->output_count; i++) {
        xpu_value value = i < info->input_count ? info->inputs[i] : info->outputs[i - info->input_count];
        xpu_tensor tensor = {.dtype = xpu_value_at(b->graph, value)->dtype,
                             .rank = xpu_value_at(b->graph, value)->rank};
        if (!value.id) continue;
        if (!xpu_value_dims(b->graph, value, b->graph->dims.symbols.count ? symbols : NULL, tensor.dims)) return 0;
        int64_t count = 1;
        for (int d = 0; d < tensor.rank; d++) {
            if (tensor.dims[d] > 5000 || (count *= tensor.dims[d]) > 5000) return 0;
        }
        work *= count ? count : 1;
        if (work > 10000000) return 0;
        if (i >= info->input_count) continue;
        tensor.data = xpu_alloc(b->arena, xpu_tensor_bytes(&tensor));
        operands[i] = tensor;
        inputs[i] = &operands[i];
    }
    xpu_status status = xpu_ref_node(b->graph, node, symbols, inputs, results, b->arena, &b->diags);
    CU_ASSERT(status == XPU_OK || b->diags.errors == 1);
    return status == XPU_OK;
}

static void hostile(void) {
    random_source r = random_open("hostile");
    int accepted = 0, refused = 0, ran = 0;
    for (int i = 0; i < 4000; i++) {
        BENCH_OPEN(b);
        xpu_op_id op = (xpu_op_id)random_range(&r, 0, XPU_OP_COUNT - 1);
        int usual_rank = (int)random_range(&r, 3, 4);
        xpu_value inputs[8];
        xpu_attr attrs[XPU_ATTR_COUNT];
        uint32_t count = (uint32_t)random_range(&r, xpu_op_of(op)->min_inputs, xpu_op_of(op)->min_inputs + 1);
        for (uint32_t k = 0; k < count; k++) {
            int is_vector = op == XPU_OP_BATCH_NORM ? k > 0 : op <= XPU_OP_MATMUL && k > 1;
            inputs[k] = hostile_operand(&b, &r, is_vector ? 1 : usual_rank);
        }
        uint32_t attr_count = hostile_attrs(&b, &r, op, usual_rank, attrs);
        xpu_node node = bench_node(&b, op, inputs, count, attrs, attr_count);
        if (b.diags.errors) {
            refused++;
        } else {
            accepted++;
            if (xpu_verify(b.graph, "hostile", &b.diags) != XPU_OK) {
                CU_FAIL("verify");
                bench_print(&b);
            }
            ran += run_small(&b, node);
        }
        bench_close(&b);
    }
    CU_ASSERT(accepted > 200 && refused > 200 && ran > 100);
}

/* One reader of windows: the height is that of one row where there is one spatial dim; the kernel of a convolution is
 * that of its weights. */
static void window_reader(void) {
    BENCH_OPEN(b);
    xpu_value image = bench_input(&b, "image", XPU_F32, DIMS(1, 4, 9, 12)),
              line = bench_input(&b, "line", XPU_F32, DIMS(1, 4, 9));
    xpu_value w = bench_input(&b, "w", XPU_F32, DIMS(6, 2, 3, 5)), v = bench_input(&b, "v", XPU_F32, DIMS(6, 4, 2));
    const int64_t strides[] = {2, 3}, pads[] = {1, 2, 3, 4}, kernel[] = {4};
    xpu_attr attrs[] = {XPU_ATTR_INTS_OF(STRIDES, strides, 2), XPU_ATTR_INTS_OF(PADS, pads, 4),
                        XPU_ATTR_INT_OF(GROUP, 2)};
    xpu_node conv = bench_node(&b, XPU_OP_CONV, (xpu_value[]){image, w}, 2, attrs, 3);
    xpu_node flat = bench_node(&b, XPU_OP_CONV, (xpu_value[]){line, v}, 2, &XPU_ATTR_INTS_OF(PADS, pads, 2), 1);
    xpu_node pool = bench_node(&b, XPU_OP_MAX_POOL, &line, 1, &XPU_ATTR_INTS_OF(KERNEL, kernel, 1), 1);
    CU_ASSERT_EQUAL_FATAL(b.diags.errors, 0);
    xpu_window a = xpu_window_of(b.graph, conv), c = xpu_window_of(b.graph, flat), d = xpu_window_of(b.graph, pool);
    CU_ASSERT(a.first == 0 && a.kernel[0] == 3 && a.kernel[1] == 5 && a.stride[0] == 2 && a.stride[1] == 3);
    CU_ASSERT(a.begin[0] == 1 && a.begin[1] == 2 && a.end[0] == 3 && a.end[1] == 4 && a.groups == 2 &&
              a.dilation[1] == 1);
    CU_ASSERT(c.first == 1 && c.kernel[0] == 1 && c.kernel[1] == 2 && c.begin[0] == 0 && c.begin[1] == 1 &&
              c.end[1] == 2);
    CU_ASSERT(c.stride[0] == 1 && c.dilation[0] == 1 && c.groups == 1 && xpu_window_extent(&c, 0) == 1);
    CU_ASSERT(d.first == 1 && d.kernel[0] == 1 && d.kernel[1] == 4 && d.groups == 1 && xpu_window_extent(&d, 1) == 4);
    c.begin[1] = 7;
    xpu_window_set_pads(b.graph, flat, &c);
    uint32_t count;
    const int64_t *set = xpu_node_ints(b.graph, flat, XPU_ATTR_PADS, &count);
    CU_ASSERT(count == 2 && set[0] == 7 && set[1] == 2);
    bench_close(&b);
}

XPU_TEST_MAIN("infer", {"window reader", window_reader}, {"windows", windows}, {"matrix products", matrices},
              {"moving elements", movers}, {"elementwise", elementwise}, {"composites", composites},
              {"folding", folding}, {"errors do not cascade", errors_do_not_cascade}, {"hostile attributes", hostile})
