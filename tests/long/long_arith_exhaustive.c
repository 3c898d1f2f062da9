/*
 * All 2^32 floats through an elementary function of core/arith.h: prints the largest error against double precision
 * and where it is. Usage: long_arith_exhaustive FUNCTION... (without any: all). Exit status 1 when a bound is exceeded.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/arith_oracle.h"

static int check(const arith_oracle *oracle) {
    static float x[ORACLE_BLOCK], y[ORACLE_BLOCK];
    double worst = 0;
    uint32_t worst_bits = 0;
    for (uint64_t start = 0; start < UINT64_C(1) << 32; start += ORACLE_BLOCK) {
        for (uint32_t i = 0; i < ORACLE_BLOCK; i++) x[i] = xa_float((uint32_t)start + i);
        oracle->block(y, x);
        for (uint32_t i = 0; i < ORACLE_BLOCK; i++) {
            double error = ulp_error(y[i], oracle->truth((double)x[i]));
            if (error > worst) {
                worst = error;
                worst_bits = (uint32_t)start + i;
            }
        }
    }
    int bad = !(worst <= oracle->bound);
    printf("%s %s: %.4f ulp at %08x (%a), bound %g\n", bad ? "FAIL" : "ok  ", oracle->name, worst, worst_bits,
           (double)xa_float(worst_bits), oracle->bound);
    fflush(stdout);
    return bad;
}

int main(int argc, char **argv) {
    int bad = 0;
    for (int k = 1; k < argc; k++) {
        int found = 0;
        for (int i = 0; i < ARITH_ORACLE_COUNT; i++) {
            if (strcmp(argv[k], arith_oracles[i].name)) continue;
            found = 1;
            bad |= check(&arith_oracles[i]);
        }
        if (!found) {
            fprintf(stderr, "%s: no such function\n", argv[k]);
            return 2;
        }
    }
    for (int i = 0; argc == 1 && i < ARITH_ORACLE_COUNT; i++) bad |= check(&arith_oracles[i]);
    return bad;
}
