/* Resize and Upsample. */
#include <string.h>

#include "base/compare.h"
#include "frontend/onnx/importer.h"

/* A list of constant numbers; empty ones and those that are absent are not given. 0 after reporting. */
static int read_numbers(const xpu_onnx_node *node, uint32_t input, const float **list, size_t *count) {
    *count = 0;
    *list = NULL;
    xpu_tensor tensor;
    if (!xpu_onnx_has_input(node, input)) return 1;
    if (!xpu_onnx_const_operand(node, input, &tensor)) return 0;
    if (tensor.dtype != XPU_F32 && tensor.dtype != XPU_F16 && tensor.dtype != XPU_F64) {
        xpu_onnx_refuse(node, "onnx-dtype",
                        xpu_onnx_format(node, "input %u is %s", input, xpu_dtype_name(tensor.dtype)),
                        "it is a list of floats", NULL);
        return 0;
    }
    *count = (size_t)xpu_tensor_count(&tensor);
    float *numbers = XPU_NEW_ARRAY(node->importer->scratch, float, *count + 1);
    for (size_t i = 0; i < *count; i++) numbers[i] = (float)xpu_element(&tensor, (int64_t)i);
    if (*count) *list = numbers;
    return 1;
}

static int read_upsample(const xpu_onnx_node *node, fe_resizing *form) {
    form->coordinates = "asymmetric";
    form->nearest_mode = "simple";
    if (node->version >= 9) {
        if (!xpu_onnx_has_input(node, 1)) {
            xpu_onnx_refuse(node, "onnx-operand", "input 1 is missing", "from opset 9, the scales are an input", NULL);
            return 0;
        }
        return read_numbers(node, 1, &form->scales, &form->scale_count);
    }
    form->scales = xpu_onnx_attr_floats(node, "scales", &form->scale_count);
    return form->scales || fe_bad_attr(&node->build, "scales", "it is missing");
}

/* Inputs from opset 11 on: x, roi, scales, sizes; before: x, scales. */
static int read_resize(const xpu_onnx_node *node, fe_resizing *form) {
    int later = node->version >= 11, ok = 1;
    size_t roi_count = 0;
    form->coordinates =
        xpu_onnx_attr_string(node, "coordinate_transformation_mode", later ? "half_pixel" : "asymmetric");
    form->nearest_mode = xpu_onnx_attr_string(node, "nearest_mode", later ? "round_prefer_floor" : "simple");
    form->policy = xpu_onnx_attr_string(node, "keep_aspect_ratio_policy", "stretch");
    form->cubic_coefficient = xpu_onnx_attr_float(node, "cubic_coeff_a", -0.75f);
    form->extrapolation_value = xpu_onnx_attr_float(node, "extrapolation_value", 0);
    form->exclude_outside = xpu_onnx_attr_flag(node, "exclude_outside", 0, &ok);
    form->antialias = xpu_onnx_attr_flag(node, "antialias", 0, &ok);
    form->axes = xpu_onnx_attr_ints(node, "axes");
    if (!ok || !read_numbers(node, later ? 2 : 1, &form->scales, &form->scale_count)) return 0;
    if (later && xpu_onnx_has_input(node, 3) && !xpu_onnx_dim_list(node, 3, &form->sizes)) return 0;
    if (!form->sizes.count) form->sizes.items = NULL;
    if (!form->sizes.items == !form->scales || (!later && node->input_count > 2)) {
        xpu_onnx_refuse(node, "onnx-operand", "scales and sizes do not fit together", "one of them is given, not both",
                        NULL);
        return 0;
    }
    if (strcmp(form->coordinates, "tf_crop_and_resize") != 0) return 1;
    if (!read_numbers(node, 1, &form->roi, &roi_count)) return 0;
    size_t count = form->scales ? form->scale_count : form->sizes.count;
    if (roi_count == 2 * count) return 1;
    xpu_onnx_refuse(node, "onnx-operand", "the region of interest does not fit",
                    xpu_onnx_format(node, "it has %zu numbers for %zu axes", roi_count, count), NULL);
    return 0;
}

xpu_value xpu_onnx_convert_resize(xpu_onnx_node *node) {
    fe_resizing form = {.mode = xpu_onnx_attr_string(node, "mode", "nearest")};
    int is_resize = strcmp(node->row->name, "Resize") == 0;
    if (!xpu_onnx_has_input(node, 0)) {
        return xpu_onnx_refuse(node, "onnx-operand", "input 0 is missing", "it is what is resized", NULL);
    }
    if (!(is_resize ? read_resize : read_upsample)(node, &form)) return (xpu_value){0};
    return fe_resize(&node->build, node->inputs[0], &form);
}
