/* What an ONNX model says of its inputs. */
#include <string.h>

#include "base/name_table.h"
#include "frontend/onnx/importer.h"

enum { MAX_INPUTS = 1024 };

#define TEXT(importer, ...) xpu_printf((importer)->scratch, __VA_ARGS__)

static int fail(const xpu_onnx_importer *importer, const char *name, const char *what, const char *why,
                const char *hint) {
    xpu_error(importer->diags, XPU_EMODEL, importer->source->name, "onnx-input",
              TEXT(importer, "input '%s'", xpu_escape(importer->scratch, name, 100)), what, why, hint);
    return 0;
}

xpu_input_reader xpu_onnx_input_reader(const xpu_onnx_importer *importer) {
    return (xpu_input_reader){.scratch = importer->scratch,
                              .options = importer->options,
                              .graph = importer->graph,
                              .diags = importer->diags,
                              .file = importer->source->name,
                              .rule = "onnx-input",
                              .hint = XPU_ONNX_CHECK_MODEL};
}

/* Type and dims as the model has them; 0 after reporting. */
static int read_type(const xpu_onnx_importer *importer, const XpuOnnx__ValueInfoProto *proto, xpu_input *in) {
    const XpuOnnx__TypeProto *type = proto->type;
    if (!type || !type->tensor_type) {
        return fail(importer, in->name, "the input is no tensor",
                    type ? "sequences, maps and optional values are not supported" : "it has no type",
                    "export the model with tensors as inputs");
    }
    in->dtype = xpu_onnx_dtype(type->tensor_type->elem_type);
    if (in->dtype == XPU_DTYPE_NONE) {
        return fail(importer, in->name, "the input's element type is not supported",
                    TEXT(importer, "it is %s (%d)", xpu_onnx_dtype_name(type->tensor_type->elem_type),
                         type->tensor_type->elem_type),
                    "export the model in float32");
    }
    const XpuOnnx__TensorShapeProto *shape = type->tensor_type->shape;
    in->rank = shape ? (int)shape->n_dim : -1;
    if (!shape) return 1;
    int64_t *dims = XPU_NEW_ARRAY(importer->scratch, int64_t, shape->n_dim + 1);
    const char **params = XPU_NEW_ARRAY(importer->scratch, const char *, shape->n_dim + 1);
    for (size_t i = 0; i < shape->n_dim; i++) {
        dims[i] = shape->dim[i]->has_dim_value ? shape->dim[i]->dim_value : -1;
        params[i] = shape->dim[i]->dim_param;
    }
    in->dims = dims;
    in->params = params;
    return 1;
}

void xpu_onnx_add_inputs(xpu_onnx_importer *importer) {
    const XpuOnnx__GraphProto *graph = importer->scope->graph;
    xpu_input *inputs = XPU_NEW_ARRAY(importer->scratch, xpu_input, graph->n_input + 1);
    xpu_name_table seen = {.arena = importer->scratch};
    uint32_t count = 0;
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = graph->input[i]->name;
        if (!name || !name[0] || xpu_onnx_name_of(importer, name)->state != XPU_ONNX_NAME_UNKNOWN) continue;
        if (xpu_name_find(&seen, name)) {
            fail(importer, name, "the input is defined twice", "names of tensors are unique in ONNX",
                 XPU_ONNX_CHECK_MODEL);
            continue;
        }
        if (count == MAX_INPUTS) {
            xpu_error(importer->diags, XPU_EMODEL, importer->source->name, "onnx-limit", NULL,
                      "the model has too many inputs", TEXT(importer, "more than %d", MAX_INPUTS),
                      XPU_ONNX_CHECK_MODEL);
            return;
        }
        xpu_name_add(&seen, name, count);
        xpu_input *in = &inputs[count++];
        *in = (xpu_input){.name = name, .constant_name = xpu_onnx_constant_name(importer, name)};
        in->is_faulty = !read_type(importer, graph->input[i], in);
    }
    xpu_input_reader reader = xpu_onnx_input_reader(importer);
    xpu_add_inputs(&reader, inputs, count);
    for (uint32_t i = 0; i < count; i++) {
        xpu_onnx_name *entry = xpu_onnx_name_of(importer, inputs[i].name);
        entry->value = inputs[i].value;
        entry->state = entry->value.id ? XPU_ONNX_NAME_READY : XPU_ONNX_NAME_FAILED;
    }
}
