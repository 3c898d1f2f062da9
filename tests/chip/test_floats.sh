#!/usr/bin/env bash
# Float operations against the host's: all pairs of special values and some random operands on the functional chip, and
# some on the Verilated one where its library is there and DEVICES says so; long_floats.sh has 10^6.
cd "$(dirname "$0")/../.." || exit 1
status=0 library=$XPU_BIN/../lib/libxpurtl-${CHIP:-nano}.so
for device in ${DEVICES:-func$([ -e "$library" ] && echo ' rtl')}; do
    operands=${XPU_FLOAT_OPERANDS:-$([ "$device" = rtl ] && echo 3200 || echo 50000)}
    bash tests/chip/floats.sh "$device" "$operands" || status=1
done
exit $status
