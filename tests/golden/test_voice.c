/* Voice detectors whose branches are decided while importing: all frames of both sounds on func and rtl. */
#include "tests/golden/voice.h"

static void one_rate(void) {
    voice_test("silero_vad_16k_op15", VOICE_FRAMES);
}

static void two_rates(void) {
    voice_test("silero_vad", VOICE_FRAMES);
}

XPU_TEST_MAIN("voice", {"silero_vad_16k_op15", one_rate}, {"silero_vad", two_rates})
