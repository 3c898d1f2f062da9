/* Each operator of the core has a function that writes it as ONNX, or refuses it; or passes alone make it. */
#include "convert/onnx_writer.h"
#include "tests/unit/unit.h"

static void one_of_two(void) {
    for (int id = 0; id < XPU_OP_COUNT; id++) {
        const ow_row *row = ow_row_of((xpu_op_id)id);
        const int by_passes = xpu_op_has(xpu_op_of((xpu_op_id)id), XPU_TRAIT_PASSES);
        CU_ASSERT_EQUAL((row->write != NULL) + by_passes, 1);
    }
}

XPU_TEST_MAIN("rows of the converter", {"one of two", one_of_two})
