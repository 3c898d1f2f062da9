#include "tests/chip/rig/rig.h"
static random_source source;
static void smoke(void) {
    rig r;
    CU_ASSERT_FATAL(rig_open(&r, "standard", &source));
    rig_begin(&r, "fill");
    float v[100];
    for (int i = 0; i < 100; i++) v[i] = 3.5f;
    struct xpu_fill_args f = {.count = 100, .value = 3.5f};
    f.y = rig_place(&r, NULL, 400, 4);
    rig_expect(&r, f.y, v, 400);
    rig_call(&r, XPU_CALL_fill, 0, &f, sizeof f);
    rig_run(&r);
    printf("%llu instructions\n", (unsigned long long)r.instructions);
    rig_begin(&r, "chain");
    struct xpu_chain_args c = {.inputs = 1, .d0 = 1, .d1 = 1, .d2 = 1, .d3 = 100, .x0_s3 = 1};
    for (int i = 0; i < 100; i++) v[i] = random_float(&source);
    c.x0 = rig_place(&r, v, 400, 4);
    c.y = rig_place(&r, NULL, 400, 4);
    rig_expect(&r, c.y, v, 400);
    rig_call(&r, XPU_CALL_chain, 0, &c, sizeof c);
    rig_run(&r);
    printf("%llu instructions\n", (unsigned long long)r.instructions);
    rig_close(&r);
}
XPU_TEST_MAIN("kernels", {"smoke", smoke})
