/* Voice detectors whose branches are decided while importing: all frames of both sounds on func and rtl, alone; in
 * batches all on func, some on rtl (all of them: long_voice.c). */
#include "tests/golden/voice.h"

enum { SOME = 3 };

static void one_rate(void) {
    voice_test("silero_vad_16k_op15", &voice_kinds[0], VOICE_FRAMES);
}

static void two_rates(void) {
    voice_test("silero_vad", &voice_kinds[0], VOICE_FRAMES);
}

static void batches(void) {
    for (int i = 1; i < 3; i++) {
        voice_test("silero_vad_16k_op15", &voice_kinds[i], SOME);
        voice_test("silero_vad", &voice_kinds[i], SOME);
    }
}

XPU_TEST_MAIN("voice", {"silero_vad_16k_op15", one_rate}, {"silero_vad", two_rates}, {"batches", batches})
