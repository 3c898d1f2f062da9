#!/usr/bin/env bash
# scripts/get-models without a network: packages come from a folder (pip) and from an npm that stands here. What is fetched
# is compared, kept and found again; each thing that goes wrong is one message, and leaves nothing behind.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
export XPU_MODELS=$folder/cache XPU_MODELS_TABLE=$folder/table PIP_NO_INDEX=1 PIP_FIND_LINKS=$folder/wheels PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir -p "$folder/bin" "$folder/wheels" "$folder/package/assets"
echo weights >"$folder/package/assets/net.onnx"
sum=$(sha256sum <"$folder/package/assets/net.onnx"); sum=${sum%% *}
other=$(sha256sum </dev/null); other=${other%% *}
tar -czf "$folder/nets-1.2.tgz" -C "$folder" package
cat >"$folder/bin/npm" <<'END'
#!/bin/sh
echo "npm $*" >>"$HERE/calls"
[ "$1" = --version ] && exit
for a; do case $a in nets@1.2) found=1 ;; esac; last2=$last1; last1=$a; done
[ "$found" ] || { printf 'npm error code ENOTFOUND\nnpm error no network\nnpm error A complete log of this run is elsewhere\n' >&2; exit 1; }
cp "$HERE/nets-1.2.tgz" "$last2"
END
chmod +x "$folder/bin/npm"
export HERE=$folder PATH=$folder/bin:$PATH
cat >"$XPU_MODELS_TABLE" <<END
# a table
net.onnx npm nets 1.2 package/assets/net.onnx $sum
again/net.onnx npm nets 1.2 package/assets/net.onnx $sum
far.onnx npm far 1.0 package/assets/net.onnx $sum
other.onnx npm nets 1.2 package/assets/net.onnx $other
none.onnx npm nets 1.2 package/none.onnx $sum
odd.onnx disc nets 1.2 package/none.onnx $sum
wheel.onnx pypi xpu-test-net 1.0 xpu_test_net/net.onnx $sum
far_wheel.onnx pypi xpu-test-far 1.0 xpu_test_far/net.onnx $sum
END
holds() { # holds WHAT COMMAND...
    if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1"; fi
}
get=scripts/get-models
check 0 'net.onnx                           npm nets 1.2' $get
check 0 "$XPU_MODELS/net.onnx
$XPU_MODELS/again/net.onnx" $get net.onnx again/net.onnx
holds 'nothing but paths in a pipe' [ "$output" = "$XPU_MODELS/net.onnx
$XPU_MODELS/again/net.onnx" ]
holds 'the file' cmp -s "$folder/package/assets/net.onnx" "$XPU_MODELS/net.onnx"
holds 'a package is fetched once' [ "$(grep -c 'npm pack' "$folder/calls")" = 1 ]
check 0 "$XPU_MODELS/net.onnx" $get net.onnx
holds 'what is there is not fetched again' [ "$(grep -c 'npm pack' "$folder/calls")" = 1 ]
echo damaged >"$XPU_MODELS/net.onnx"
check 0 "$XPU_MODELS/net.onnx" $get net.onnx
holds 'what is damaged is fetched again' cmp -s "$folder/package/assets/net.onnx" "$XPU_MODELS/net.onnx"
check 2 'nix.onnx: error [model-unknown] there is no such model' $get nix.onnx
check 3 'far.onnx: error [model-fetch] package far 1.0 does not come from npm
  why: no network' $get far.onnx
check 3 'other.onnx: error [model-checksum] this is not the file that is known' $get other.onnx
check 3 'none.onnx: error [model-fetch] the package does not have it' $get none.onnx
check 2 'odd.onnx: error [model-table] its row names no registry' $get odd.onnx
: >"$folder/file"
check 3 'error [io-write] the model cannot be written' env XPU_MODELS="$folder/file/cache" $get net.onnx
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/npm"
rm "$XPU_MODELS/net.onnx"
check 3 'net.onnx: error [model-client] npm is missing, which fetches packages of npm' $get net.onnx
if python3 -m pip --version >/dev/null 2>&1; then
    mkdir -p "$folder/wheel/xpu_test_net" "$folder/wheel/xpu_test_net-1.0.dist-info"
    cp "$folder/package/assets/net.onnx" "$folder/wheel/xpu_test_net"
    printf 'Metadata-Version: 2.1\nName: xpu-test-net\nVersion: 1.0\n' >"$folder/wheel/xpu_test_net-1.0.dist-info/METADATA"
    printf 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >"$folder/wheel/xpu_test_net-1.0.dist-info/WHEEL"
    : >"$folder/wheel/xpu_test_net-1.0.dist-info/RECORD"
    (cd "$folder/wheel" && python3 -m zipfile -c "$folder/wheels/xpu_test_net-1.0-py3-none-any.whl" *)
    check 0 "$XPU_MODELS/wheel.onnx" $get wheel.onnx
    holds 'the file of a wheel' cmp -s "$folder/package/assets/net.onnx" "$XPU_MODELS/wheel.onnx"
    check 3 'far_wheel.onnx: error [model-fetch] package xpu-test-far 1.0 does not come from pypi' $get far_wheel.onnx
else
    echo 'skipped: packages of PyPI, as python3 has no pip'
fi
holds 'nothing else is left' [ "$(cd "$XPU_MODELS" && find . -type f | sort | tr '\n' ' ')" = "./again/net.onnx $([ -e "$XPU_MODELS/wheel.onnx" ] && echo './wheel.onnx ')" ]
echo "$passed passed, $failed failed"
[ $failed = 0 ]
