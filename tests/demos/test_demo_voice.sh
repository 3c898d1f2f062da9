#!/usr/bin/env bash
# make demo-voice: speech is found in a sound that has it and in none that has not, in every form of WAV file that is read;
# the picture is one; files that are none end with one message.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
voice=$XPU_BUILD/examples/voice yes=examples/voice/yes_1000ms.wav silence=examples/voice/silence_1000ms.wav
check 0 "1 stretch of speech, 0.42 of 1.00 seconds; 32 frames on func
make demo-voice: the picture is $folder/demo-voice/speech.svg" env -i PATH="$PATH" bash -c '
    mkdir "$1/examples" && ln -s "$(realpath "$2/bin")" "$1/bin" && ln -s "$(realpath "$2/examples/voice")" "$1/examples/voice"
    scripts/demo_voice "$1" func "$3"' - "$folder" "$XPU_BUILD" "$yes"
program=$folder/demo-voice/silero.xpu
check 0 '<rect class="speech"' cat "$folder/demo-voice/speech.svg"
check 0 '</svg>' tail -n 1 "$folder/demo-voice/speech.svg"
check 0 '0.48 - 0.90  speech (1.000)' "$voice" "$program" "$yes"
check 0 'no speech (0.012 at most)
silence_1000ms.wav: 0 stretches' "$voice" "$program" "$silence" --svg="$folder/silence.svg"
check 1 '' grep 'class="speech"' "$folder/silence.svg"
# Every frame as onnxruntime's (recorded: tests/golden/voice.npz, through test_voice.c); here the program's own frames
check 0 '0.576  0.9995' "$voice" "$program" "$yes" --frames
frames=$output
check 0 "$(head -n 32 <<<"$frames")" "$voice" "$program" "$yes" --frames --device=ref
[ -e "$XPU_BUILD/lib/libxpurtl-standard.so" ] && check 0 "$(head -n 32 <<<"$frames")" "$voice" "$program" "$yes" --frames --device=rtl

# wav FILE KIND CHANNELS RATE BITS SAMPLES: the first of the sound's samples in another form
wav() {
    perl -e 'my ($from, $to, $kind, $channels, $rate, $bits, $count) = @ARGV;
        open my $in, "<:raw", $from or die; read $in, my $head, 44; read $in, my $data, 2 * $count; my $all = "";
        for my $v (unpack "s<*", $data) {
            $all .= $bits == 8 ? pack("C", 128 + int($v / 256)) : pack($bits == 16 ? "s<" : "l<", $v) for 1 .. $channels;
        }
        my $frame = $channels * $bits / 8;
        my $format = pack "vvVVvv", $kind, $channels, $rate, $rate * $frame, $frame, $bits;
        $format .= pack "vvVv", 22, $bits, 0, 1 if $kind == 0xfffe;
        $format .= "\0" x (40 - length $format) if $kind == 0xfffe;
        open my $out, ">:raw", $to or die;
        my $note = "LIST" . pack("V", 3) . "abc\0";
        my $body = "WAVEfmt " . pack("V", length $format) . $format . $note . "data" . pack("V", length $all) . $all;
        print $out "RIFF" . pack("V", length $body) . $body;' "$yes" "$folder/$1" "${@:2}"
}
for form in '1 2 16000 16' '1 1 16000 8' '1 2 16000 8' '65534 1 16000 16'; do
    wav form.wav $form 16000
    check 0 '0.48 - 0.90  speech (' "$voice" "$program" "$folder/form.wav"
done
refused() { # refused RULE WHY: the file form.wav
    check 2 "$folder/form.wav: error [$1] " "$voice" "$program" "$folder/form.wav" --svg="$folder/refused.svg"
    check 0 "  why: $2" printf '%s' "$output"
}
wav form.wav 1 1 8000 16 100; refused wav-rate 'it has 8000 samples a second, not 16000'
wav form.wav 3 1 16000 32 100; refused wav-format 'its format is number 3, PCM is 1'
wav form.wav 1 1 16000 32 100; refused wav-format 'a sample has 32 bits, not 8 or 16'
wav form.wav 1 3 16000 16 100; refused wav-format 'it has 3 channels, not 1 or 2'
wav form.wav 1 1 16000 16 0; refused wav-empty "its part 'data' has no bytes"
head -c 20000 "$yes" >"$folder/form.wav"; refused wav-truncated "its part 'data' has 32000 bytes, 19956 are there"
head -c 30 "$yes" >"$folder/form.wav"; refused wav-truncated "its part 'fmt ' has 16 bytes, 10 are there"
head -c 36 "$yes" >"$folder/form.wav"; refused wav-truncated "its part 'data' is not there"
: >"$folder/form.wav"; refused wav-format 'it does not begin with RIFF and WAVE'
check 3 'error [io-read] the sound cannot be read' "$voice" "$program" "$folder/none.wav"
check 3 'error [io-write] the picture cannot be written' "$voice" "$program" "$yes" --svg="$folder/none/x.svg"
check 2 'error [voice-program] the program is no voice detector' bash -c '
    "$1/xpuc" -q tests/models/mnist-8.onnx -o "$2/mnist.xpu" && "$3" "$2/mnist.xpu" "$4"' - "$XPU_BIN" "$folder" "$voice" "$yes"
check 2 'error [usage] --threshold is no probability' "$voice" "$program" "$yes" --threshold=2
check 1 "" grep -q new <<<"$(ls "$folder")"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
