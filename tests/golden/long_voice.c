/* Voice detectors in batches of 2 and 3: all frames on func and rtl. */
#include "tests/golden/voice.h"

static void batches(void) {
    for (int i = 1; i < 3; i++) {
        voice_test("silero_vad_16k_op15", &voice_kinds[i], VOICE_FRAMES);
        voice_test("silero_vad", &voice_kinds[i], VOICE_FRAMES);
    }
}

XPU_TEST_MAIN("voice in batches", {"all frames", batches})
