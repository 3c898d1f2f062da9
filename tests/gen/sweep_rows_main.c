/* Prints the importer's table as JSON: [{"name": .., "versions": [..]}], for tests/gen/record_sweep.py. */
#include <stdio.h>

#include "frontend/onnx/onnx.h"

int main(void) {
    uint32_t rows = 0;
    printf("[");
    for (uint32_t i = 0; i < xpu_onnx_operator_count(); i++) {
        xpu_onnx_operator row = xpu_onnx_operator_at(i);
        if (row.domain[0]) continue;
        printf("%s{\"name\": \"%s\", \"versions\": [", rows++ ? ",\n" : "", row.name);
        for (int v = 0; row.versions[v]; v++) printf("%s%d", v ? ", " : "", row.versions[v]);
        printf("]}");
    }
    printf("]\n");
    return 0;
}
