#!/usr/bin/env bash
# xpu-regress as a tool: what runs nothing is an error, one bad case stops no other, any folder, names, several processes,
# JUnit XML, new cases, chips that are missing.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
bin=$(cd "${XPU_BIN:?}" && pwd) repo=$PWD
[ "$bin" ] || exit 1
regress=$bin/xpu-regress
export TMPDIR=$folder # what a killed process leaves
is() { # is NAME GOT WANTED
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1)); diff -u <(echo "$3") <(echo "$2") | sed "s/^/FAILED: $1: /"
}
mnist() { # mnist DEVICES CHIPS [MORE]: the text of a case
    echo "{\"model\": \"$repo/tests/models/mnist-8.onnx\", \"precision\": \"fp32\", \"devices\": $1, \"chips\": $2,
 \"inputs\": {\"Input3\": {\"file\": \"$repo/tests/models/9.npy\"}}${3:-}}"
}
good() { mnist '["ref"]' '{"nano": {}}'; }
wrong() { mnist '["ref"]' '{"nano": {"checksum": "00000000"}}'; }
suite() { rm -rf "$folder/$1"; mkdir -p "$folder/$1"; cd "$folder/$1" || exit 1; }

# Nothing to run
suite good; good >one.json
check 0 '1 passed, 0 failed' "$regress" --suite=.
check 2 "option '--chip': no case runs on a chip 'foo'" "$regress" --suite=. --chip=foo
check 2 'the chips of the cases are nano' "$regress" --suite=. --chip=nano --chip=foo
check 2 'did you mean nano?' "$regress" --suite=. --chip=nanu
check 2 '[regress-nothing]' "$regress" --suite=. --device=rtl
suite empty
check 2 '[regress-nothing]' "$regress" --suite=.
check 2 '[regress-nothing]' "$regress" --suite=. --list
check 2 '[regress-nothing]' "$regress" --suite=. --update
suite chips; mnist '["ref"]' '{}' >none.json
check 2 "key 'chips': there is no chip" "$regress" --suite=.
suite samples
{ printf '\x93NUMPY\x01\x00v\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1, 28, 28), }"; } >none.npy
good | sed "s|\"[^\"]*9.npy|\"none.npy|" >none.json
check 4 'an input has no samples' "$regress" --suite=.
for options in '--list --update' '--list --chip=nano' '--input=x.npy' '--shape=x=1' '--precision=fp32'; do
    check 2 'the option would be without effect' "$regress" --suite=. $options
done
for jobs in 0 -1 257 two ''; do check 2 "option '--jobs'" "$regress" --suite=. --jobs=$jobs; done

# Bad and failing cases among good ones: all others run; of several exit codes the least
suite mixed; good >a.json; echo '{' >b.json; wrong >c.json; good >d.json
check 2 '2 passed, 1 failed, 1 not run' "$regress" --suite=.
check 2 'b.json: error [json-syntax]' "$regress" --suite=.
check 4 'the outputs have changed' "$regress" --suite=. c d
mnist '["ref"]' '{"pro": {"rtl": {}}}' >e.json
check 3 'build it with make chip CHIP=pro' "$regress" --suite=. c e --device=rtl --device=ref
check 3 'not run e                    pro ' "$regress" --suite=. a e
check 3 '1 passed, 0 failed, 1 not run' "$regress" --suite=. a e
check 2 '2 passed, 1 failed, 2 not run' "$regress" --suite=.
# A process that is ended from outside takes no other with it
suite killed; good >a.json; good >b.json; mkdir path
printf '#!/bin/sh\nif mkdir %s/once 2>/dev/null; then kill -KILL $PPID; fi\nPATH=%s exec clang-19 "$@"\n' "$folder" "$PATH" >path/clang-19
chmod +x path/clang-19
check 70 'its process was ended by signal 9' env PATH="$PWD/path:$PATH" "$regress" --suite=.
rmdir "$folder/once"
check 70 '1 passed, 1 failed' env PATH="$PWD/path:$PATH" "$regress" --suite=. --junit=out.xml
is 'an error of JUnit' "$(grep -o '<testsuite .* errors="[0-9]*"' out.xml) $(grep -c '<error' out.xml)" \
   '<testsuite name="." tests="2" failures="0" errors="1" 1'
rmdir "$folder/once"; sed -i 's/KILL/TERM/' path/clang-19
check 70 'its process was ended by signal 15' env PATH="$PWD/path:$PATH" "$regress" --suite=.

# From any folder, names
cd /
check 0 '1 passed, 0 failed' "$regress" mnist8-fp32 --chip=nano --device=ref
check 0 '2 passed, 0 failed' "$regress" 'mnist8-*' --chip=nano --device=ref
check 0 'mnist8-int16' "$regress" --list 'm*-int[0-9]*'
is 'globs' "$("$regress" --list 'digits-int?*' mnist8-fp32 mnist8-fp32.json)" 'digits-int16
digits-int8
mnist8-fp32'
check 2 "'digitz-int8': there is no such case" "$regress" digitz-int8
check 2 'did you mean digits-int8?' "$regress" digitz-int8
check 2 "'x*': there is no such case" "$regress" digits-int8 'x*'
check 0 '1 passed, 0 failed' "$regress" "$folder/mixed/a.json"
suite chip; mkdir below; sed 's/"name": "nano"/"name": "small"/' "$repo/configs/chip/nano.json" >below/small.json
mnist '["ref", "func"]' '{"below/small.json": {}}' >a.json
cd /
check 0 'below/small.json' "$regress" --suite="$folder/chip"

# Several at a time: the same text in the same order; a compiler that waits for another one shows that they overlap
suite many; for i in 1 2 3 4; do good >$i.json; done; wrong >3.json
masked() { "$regress" --suite=. "$@" 2>&1 | sed 's/[0-9.]* s /S /'; }
is 'jobs: text' "$(masked -j 3)" "$(masked)"
check 0 '2 passed' "$regress" --suite=. -j2 1 2
rm -rf 3.json 4.json; mkdir path
cat >path/clang-19 <<END
#!/bin/sh
touch $folder/many/path/\$PPID.runs
for i in \$(seq 300); do [ \$(ls $folder/many/path/*.runs | wc -l) -ge 2 ] && PATH=$PATH exec clang-19 "\$@"; sleep 0.1; done
exit 4
END
chmod +x path/clang-19
check 0 '2 passed' env PATH="$PWD/path:$PATH" "$regress" --suite=. -j2
# Quiet in a pipe, progress on a terminal
is 'a pipe' "$("$regress" --suite=. 2>&1 >/dev/null)" ''
check 0 '1 of 1: 1 on nano ...' script -qec "$regress --suite=. 1" /dev/null

# JUnit XML
suite junit; good >'a&b.json'; echo '{"<"}' >'<c>.json'; wrong >"d'.json"
check 2 '1 passed, 1 failed, 1 not run' "$regress" --suite=. --junit=out.xml
is 'junit' "$(sed -e 's/time="[0-9]*\.[0-9]\{3\}"/time="T"/' -e 's/checksum [0-9a-f]*/checksum C/g' out.xml)" \
'<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="xpu-regress" tests="3" failures="1" errors="1" time="T">
  <testsuite name="." tests="3" failures="1" errors="1" time="T">
    <testcase classname="&lt;c&gt;" name="file" time="T">
      <error message="the file is no case that can be read">the file is no case that can be read
./&lt;c&gt;.json: error [json-syntax] line 1, column 5: the file is no valid JSON
  why: &apos;:&apos; expected near &apos;}&apos;
  hint: correct the file at this place; comments and trailing commas are not allowed
</error>
    </testcase>
    <testcase classname="a&amp;b" name="nano" time="T">
      <system-out>1 sample</system-out>
    </testcase>
    <testcase classname="d&apos;" name="nano" time="T">
      <failure message="the outputs have changed: checksum C, recorded 00000000 (--update records it)">the outputs have changed: checksum C, recorded 00000000 (--update records it)
</failure>
    </testcase>
  </testsuite>
</testsuites>'
check 3 '[io-write]' "$regress" --suite=. --junit=nowhere/out.xml
check 2 'a file that is read would be overwritten' "$regress" --suite=. --junit='a&b.json'
cp "$repo/tests/models/mnist-8.onnx" .
good | sed 's|"[^"]*mnist-8.onnx|"mnist-8.onnx|' >e.json
check 2 'a file that is read would be overwritten' "$regress" --suite=. e --junit=mnist-8.onnx

# A picture as input: as xpu-run takes it
suite picture
picture=$repo/tests/models/pictures/gradient.png
"$bin/xpuc" -q "$repo/tests/models/mnist-8.onnx" --precision=fp32 -o mnist.xpu
check 0 '' "$bin/xpu-run" mnist.xpu --device=ref --image="$picture" --mean=0.5 --std=0.25 --output=out.npz
mnist '["ref"]' '{"nano": {}}' ', "expected": {"Plus214_Output_0": {"file": "out.npz", "entry": "Plus214_Output_0"}}' |
    sed "s|{\"file\": \"[^\"]*9.npy\"}|{\"file\": \"$picture\", \"mean\": \"0.5\", \"std\": \"0.25\"}|" >a.json
check 0 '1 sample, outputs as expected' "$regress" --suite=.
sed -i 's/"0.25"/"0.5"/' a.json
check 4 'is not as expected: ' "$regress" --suite=.
sed -i 's/gradient.png/none.png/' a.json
check 4 'a picture cannot be an input' "$regress" --suite=.
sed -i 's/"Input3"/"Input4"/' a.json
check 4 "the model has no input 'Input4'" "$regress" --suite=.

# A case from a run
suite made
make=("$regress" --suite=cases "$repo/tests/models/mnist-8.onnx" --chip=nano)
check 0 'layers equal on ref and rtl' "${make[@]}" --make=nine --input="$repo/tests/models/9.npy"
check 0 '1 passed, 0 failed' "$regress" --suite=cases
check 0 '"cycles": ' cat cases/nine.json
check 2 'there is a file of this name' "${make[@]}" --make=nine --input="$repo/tests/models/9.npy"
check 2 'this is no name of a case' "${make[@]}" --make=../nine --input="$repo/tests/models/9.npy"
check 2 '[input-missing]' "${make[@]}" --make=two
check 2 'no folder is named' "$regress" "$repo/tests/models/mnist-8.onnx" --make=two --input="$repo/tests/models/9.npy"
check 2 'no model is given' "$regress" --suite=cases --make=two
check 3 'no case was made' "$regress" --suite=cases "$repo/tests/models/mnist-8.onnx" --chip=pro --make=two --input="$repo/tests/models/9.npy"
is 'what was not made' "$(ls cases)" 'nine.json
nine.npz'
{ printf '\x93NUMPY\x01\x00v\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 16, 16), }"
  head -c 2048 "$repo/examples/digits/digits_qdq.onnx" | tr '\200-\377' '\000-\077'; } >two.npy
check 0 'made cases/two.json' "$regress" --suite=cases --make=two "$repo/examples/digits/digits.onnx" --input=x=two.npy \
    --precision=int16x8 --shape=x=N=1..4,1,16,16 --device=ref --device=func
check 0 '"x": "N=1..4,1,16,16"' cat cases/two.json
check 0 '2 passed, 0 failed' "$regress" --suite=cases
sed -i 's/N=1..4/N=3..4/' cases/two.json
check 4 'on ref: ' "$regress" --suite=cases two

# A chip that is missing is built
suite build; mkdir bin lib path; ln -s "$bin/../share" share; cp "$bin/xpu-regress" bin; cp -P "$bin"/../lib/libxpu*.so lib
rm lib/libxpurtl-nano.so
mnist '["ref"]' '{"nano": {"rtl": {}}}' >a.json
printf '#!/bin/sh\necho "$@" >>%s/log\ncp --remove-destination %s/../lib/libxpurtl-nano.so %s/lib\n' "$PWD" "$bin" "$PWD" >path/make
chmod +x path/make
check 3 'build it with make chip CHIP=nano' bin/xpu-regress --suite=.
check 0 'layers equal on ref and rtl' env PATH="$PWD/path:$PATH" bin/xpu-regress --suite=. --build-chips
is 'make' "$(cat log)" "-C $repo --no-print-directory chip CHIP=nano BUILD=$PWD"
check 0 '1 passed' env PATH="$PWD/path:$PATH" bin/xpu-regress --suite=. --build-chips
is 'make, once' "$(wc -l <log)" 1
echo nothing >lib/libxpurtl-nano.so
check 0 '1 passed' env PATH="$PWD/path:$PATH" bin/xpu-regress --suite=. --build-chips
rm lib/libxpurtl-nano.so; printf '#!/bin/sh\necho nothing there >&2; exit 2\n' >path/make
check 3 '[build-chips]' env PATH="$PWD/path:$PATH" bin/xpu-regress --suite=. --build-chips
check 3 'nothing there' env PATH="$PWD/path:$PATH" bin/xpu-regress --suite=. --build-chips

# Installed, without the source tree's build folder
make -C "$repo" -s install BUILD="$bin/.." PREFIX="$folder/usr" >/dev/null 2>&1
cd /
check 0 '1 passed, 0 failed' "$folder/usr/bin/xpu-regress" digits-int8 --chip=nano --device=ref
check 0 "$(ls "$repo"/tests/regress/*.json | wc -l)" bash -c '"$0" --list | wc -l' "$folder/usr/bin/xpu-regress"
check 3 'these tools are installed' "$folder/usr/bin/xpu-regress" "$folder/mixed/e.json" --build-chips
echo "$passed passed, $failed failed"
[ $failed = 0 ]
