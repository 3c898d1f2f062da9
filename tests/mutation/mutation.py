#!/usr/bin/env python3
"""Single mutations of rows, rules and passes, each of which some quick test must notice.

mutation.py --build=FOLDER [--list] [--quick] [--only=TEXT] [--again=FILE] [--tests=NAME,...] [--jobs=N]

Works in a copy of the tree and of what was built, one for each job, in memory where /dev/shm has room. Only the mutated
file is compiled again; a test runs when it is linked with that object. First come the test of the mutated file's or row's
name and those that are about its folder, then the sweep, of which only networks run whose program is another one, then the
rest, the quickest first. The tests are those that were built and the scripts of FOLDERS. How long each takes is measured
once, in a first run, and kept in BUILD/mutation-cache/times.

A mutation is noticed when a test fails or crashes twice, takes more processor time than is allowed, or stands still; one
that does not compile is left out. All limits are processor time of the test and its children, so that a busy machine
changes nothing. A test that cannot be linked, or fails without a mutation, is named and left out. Survivors that change
neither a result nor where it is computed stand in tests/mutation/exceptions.txt: FILE | OLD | NEW | reason; they are tried
with --only alone. --quick leaves out tests that take longer than QUICK seconds; --tests=unit/test_passes,sweep takes these
alone; --only=TEXT tries mutations with that text, --again=FILE those that an earlier output calls survivors. Ends with
'N passed, N failed'.
"""
import argparse
import atexit
import collections
import concurrent.futures
import glob
import hashlib
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 60  # of processor time for one mutation
COMPARED = 60  # networks of the sweep that run, of those whose programs are others; and that are compared byte by byte
STILL = 120   # seconds without any processor time, all processes asleep: it hangs

# Tables, the objects in which their rows are expanded (what else includes them needs the names only), and how many are drawn.
TABLES = {
    "core/ops/ops.def": (["core/ops/rows", "core/ops/op"], 44),
    "xpu_codegen/ops.def": (["xpu_codegen/choose/rules", "xpu_codegen/choose/layout", "xpu_codegen/lower/program",
                             "xpu_codegen/document"], 44),
}
RULES = "xpu_codegen/choose/rules.c"
# Sources by folder or file, how many mutations are drawn from each, and the tests that are about them.
GENERATES = "test_codegen test_codegen_tiles test_keep test_codegen_memory test_row_scale test_codegen_operators"
SOURCES = [
    ("core/passes", 45, "test_passes test_passes_factors test_passes_norms test_control test_verify test_graph test_partition test_checker"),
    ("core/ops", 22, "test_infer test_control test_graph test_verify test_passes test_ref test_build"),
    ("frontend/build", 25, "test_builders test_build test_onnx test_infer test_onnx_models"),
    ("frontend/onnx/ops_", 10, "test_onnx test_onnx_models test_onnx_reader"),
    ("frontend/onnx/convert.c", 6, "test_onnx test_onnx_models test_onnx_reader"),
    ("xpu_codegen/choose", 32, GENERATES),
    ("xpu_codegen/lower", 28, GENERATES),
    ("partition", 12, "test_partition test_passes test_codegen"),
]
ONLY = {"core/ops": r"core/ops/(infer|op\.c|expand)"}  # reference kernels are compared by every test anyway

# Tests of folders that are about the compiler; the sweep has its own way to run.
FOLDERS = "unit golden precision loops control errors targets".split()
# Parts of long tests.
PARTS = {"XPU_DEVICES": "ref func", "XPU_ONLY": "^(if_sizes|loop_host|loop_swap|grow_)"}
QUICK = 2    # seconds a test may take in a run with --quick
LIMITS = collections.defaultdict(lambda: 20, {"sweep": 30, "errors/test_errors.sh": 30, "targets/test_targets.sh": 40})
NAMED = {"region": "test_targets"}  # tests of rows that have another name
TOOLS = {"xpuc": "xpuc/main", "xpu-run": "tools/xpu-run", "xpu-dump": "tools/xpu-dump", "xpu-regress": "tools/xpu-regress",
         "xpu-memplan": "tools/xpu-memplan"}

LIBRARIES = re.search(r"^LDLIBS *:= (.*)$", open(os.path.join(ROOT, "Makefile")).read(), re.MULTILINE).group(1).split()

# clang and lld give for the same files what they gave before.
CACHE = """#!/bin/bash
previous= out=
read=()
for a; do
    case $previous in -c) read+=("$a") ;; -o) out=$a ;; esac
    case $a in *.o) [ "$previous" = -o ] || read+=("$a") ;; esac
    previous=$a
done
[ ${#read[@]} -gt 0 ] && [ -n "$out" ] || exec PROGRAM "$@"
key=$(cat "${read[@]}" | sha256sum); key=CACHE/NAME-${key%% *}
if [ -e "$key" ]; then cat "$key.said" >&2; exec cp "$key" "$out"; fi
said=$(mktemp CACHE/XXXXXX); PROGRAM "$@" 2>"$said"; status=$?
cat "$said" >&2
if [ $status = 0 ]; then mv "$said" "$key.said"; cp "$out" "$key.$$" && mv "$key.$$" "$key"; else rm "$said"; fi
exit $status
"""


class Mutation:
    def __init__(self, path, line, old, new):
        self.path, self.line, self.old, self.new = path, line, old.strip(), new.strip()
        self.rank = ""

    def __str__(self):
        return f"{self.path}:{self.line}: {self.old}  ->  {self.new}"


# ---- making mutations ----

def table_mutations(path):
    """Each trait and each rule of a row left out, each default and layout another one."""
    lines = open(os.path.join(ROOT, path)).read().split("\n")
    inside = False
    for number, line in enumerate(lines, 1):
        if line.startswith("/*"):
            inside = True
        if inside or line.startswith("#"):
            inside = inside and "*/" not in line
            continue
        changes = []
        for found in re.finditer(r"TRAITS\(([A-Z_, ]+)\)", line):
            names = found.group(1).split(", ")
            changes += [f"TRAITS({', '.join(n for n in names if n != name)})" for name in names]
            changes = [(found.span(), change) for change in changes]
        changes += [(found.span(), "") for found in re.finditer(r"RULE\(\w+\) ?", line)]
        for name, other in (("IMAGE", "LINEAR"), ("LINEAR", "FOLLOW"), ("FOLLOW", "LINEAR"), ("JOIN", "LINEAR"), ("PERMUTE", "FOLLOW"),
                            ("PAIR", "FOLLOW"), ("KEEP", "LINEAR")):
            if path.startswith("xpu_codegen"):
                changes += [(found.span(), f", {other},") for found in re.finditer(f", {name},", line)]
        for found in re.finditer(r"(INT|FLOAT)\((\w+), ([^()]+)\)", line):
            changes.append((found.span(), f"{found.group(1)}({found.group(2)})"))
        for found in re.finditer(r"(TAKES|GIVES)\(([^()]*) \| (\w+)", line):
            changes.append((found.span(), f"{found.group(1)}({found.group(2)}"))
        for (begin, end), new in changes:
            yield number, line, line[:begin] + new + line[end:]


def balanced(text):
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return depth == 0


def code_mutations(path):
    """Conditions that hold always or never, other comparisons, other bounds, a statement left out."""
    comment = False
    for number, line in enumerate(open(os.path.join(ROOT, path)).read().split("\n"), 1):
        bare = line.strip()
        if bare.startswith("/*"):
            comment = True
        if comment or not bare or bare.startswith(("#", "//", "static const", "_Static_assert")):
            comment = comment and "*/" not in line
            continue
        found = re.match(r"(\s*(?:\} else )?if )\((.*)\)( (?:return|continue|break)\b.*;| \{)$", line)
        if found and balanced(found.group(2)):
            yield number, line, f"{found.group(1)}((0) && ({found.group(2)})){found.group(3)}"
            yield number, line, f"{found.group(1)}((1) || ({found.group(2)})){found.group(3)}"
        elif re.match(r"\s+\w+\(.*\);$", line) and balanced(bare[:-1]) and not bare.startswith(("return", "va_", "free")):
            yield number, line, ""
        for old, new in ((" < ", " <= "), (" == ", " != "), (" && ", " || "), (" >= ", " > "), (" + 1", ""), (" - 1", ""), (" * ", " + ")):
            at = line.find(old)
            if at > 0 and '"' not in line[:at]:
                yield number, line, line[:at] + new + line[at + len(old):]


def draw(mutations, count):
    """`count` of them by a hash of what they change, so that lines that move and lines that come change few of them."""
    seen = collections.Counter()
    for m in mutations:
        what = f"{m.path} | {m.old} | {m.new}"
        m.rank = hashlib.sha256(f"{what} | {seen[what]}".encode()).hexdigest()
        seen[what] += 1
    return sorted(sorted(mutations, key=lambda m: m.rank)[:count], key=lambda m: (m.path, m.line))


def all_mutations():
    files = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
    result = []
    for path, (_, count) in TABLES.items():
        result += draw([Mutation(path, *change) for change in table_mutations(path)], count)
    for number, line in enumerate(open(os.path.join(ROOT, RULES)).read().split("\n"), 1):
        if re.match(r"static int \w+_holds\(xpu_rule_query \*query\) \{$", line):
            result += draw([Mutation(RULES, number, line, line + " if (query) return 1;")], 1)
    for prefix, count, _ in SOURCES:
        pattern = re.compile(ONLY.get(prefix, re.escape(prefix)))
        sources = [path for path in files if pattern.match(path) and path.endswith(".c")]
        result += draw([Mutation(path, *change) for path in sources for change in code_mutations(path)], count)
    return result


# ---- trying them ----

def read_exceptions():
    """Lines FILE | OLD | NEW | reason; any of these may hold a |."""
    path = os.path.join(ROOT, "tests", "mutation", "exceptions.txt")
    return [line.strip() for line in open(path) if line.strip() and line[0] != "#"]


def reason_of(exceptions, m):
    """Why a mutation is no matter, or None."""
    start = f"{m.path} | {m.old} | {m.new} | "
    return next((line[len(start):] for line in exceptions if line.startswith(start)), None)


def session_state(session):
    """Processor seconds of all processes of a session with the children they waited for, and whether any of them runs."""
    ticks, runs = 0, False
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:15]))
            runs = runs or fields[0] in "RD"
    return ticks / os.sysconf("SC_CLK_TCK"), runs


class Meter:
    """Runs commands and adds up their processor time."""

    def __init__(self):
        self.seconds = 0.0
        self.said = tempfile.TemporaryFile()  # by the last command

    def run(self, command, limit, **how):
        """Whether the command succeeds within `limit` seconds of processor time."""
        how = dict(dict(stdin=subprocess.DEVNULL, stdout=self.said, stderr=subprocess.STDOUT), **how)
        self.said.seek(0)
        self.said.truncate()
        process = subprocess.Popen(command, start_new_session=True, **how)
        used, moved, pause = 0.0, time.monotonic(), 0.001
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(pause)
            pause = min(pause * 1.5, 0.5)
            if pause < 0.5:
                continue
            now, runs = session_state(process.pid)
            if now != used or runs:
                used, moved = now, time.monotonic()
            if used > limit or time.monotonic() - moved > STILL:
                os.killpg(process.pid, 9)
                pid, status, usage = os.wait4(process.pid, 0)
                break
        process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds += usage.ru_utime + usage.ru_stime
        return process.returncode == 0

    def text(self):
        """What the last command wrote."""
        self.said.seek(0)
        return self.said.read().decode(errors="replace")


def tree_hash(folder):
    """Of all files under a folder."""
    total = hashlib.sha256()
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            total.update(name.encode() + open(os.path.join(place, name), "rb").read())
    return total.hexdigest()[:16]


class Copy:
    """A tree and what was built of it, to spoil."""

    def __init__(self, build):
        memory = "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 4 << 30 else None
        self.folder = tempfile.mkdtemp(prefix="xpu-mutation-", dir=memory)
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.meter = Meter()
        for path in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split("\n")[:-1]:
            os.makedirs(os.path.join(self.folder, os.path.dirname(path)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, path), os.path.join(self.folder, path))
        for part in ("bin", "lib", "gen", "share", "examples", "obj/tests", "obj/tools", "obj/xpuc", "tests"):
            shutil.copytree(os.path.join(build, part), os.path.join(self.folder, "build", part), symlinks=True)
        self.programs = os.path.join(self.folder, "build", "mutation")
        self.cache = os.path.join(build, "mutation-cache", tree_hash(os.path.join(build, "share/xpu/device")))
        os.makedirs(self.programs)
        os.makedirs(self.cache, exist_ok=True)
        self.cached("clang-19")
        self.cached("ld.lld-19")
        os.symlink(shutil.which("ld.lld-19"), os.path.join(self.programs, "ld.lld"))
        self.environment = dict(os.environ, XPU_BUILD="build", XPU_BIN="build/bin", LC_ALL="C.UTF-8", **PARTS,
                                XPU_SHARED=os.path.abspath(os.path.join(ROOT, "..", "shared")),
                                PATH=self.programs + ":" + os.environ["PATH"])
        self.commands = {}
        self.linked = {}   # program: whether it holds the mutated objects
        self.trusted = {}  # test: whether it passes without a mutation
        self.objects = []
        self.networks = sorted(f[:-5] for f in os.listdir(os.path.join(self.folder, "tests/sweep")) if f.endswith(".onnx"))
        self.networks.sort(key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        self.units = set(open(os.path.join(self.folder, "tests/sweep/units.txt")).read().split("\n"))
        if not all(self.link(program) for program in sorted(TOOLS)):
            sys.exit("the tools cannot be linked")
        self.sweep_out = os.path.join(self.folder, "build", "sweep")
        os.makedirs(self.sweep_out)
        self.forms = self.fingerprints()
        self.programs_of = {name: self.compile(name) for name in self.networks[:COMPARED]}

    def cached(self, name):
        """A program of this name that looks into the cache first. The one behind it is no cache that would find this one."""
        places = [os.path.join(p, name) for p in os.environ["PATH"].split(":") if os.path.exists(os.path.join(p, name))]
        text = CACHE.replace("PROGRAM", next(p for p in places if os.path.basename(os.path.realpath(p)) != "ccache")).replace("NAME", name).replace("CACHE", self.cache)
        path = os.path.join(self.programs, name)
        open(path, "w").write(text)
        os.chmod(path, 0o755)

    def run(self, command, limit=LIMITS[""], **how):
        return self.meter.run(command, limit, cwd=self.folder, **dict(dict(env=self.environment), **how))

    # -- building --

    def command_of(self, target):
        """What make does for an object."""
        if target not in self.commands:
            text = subprocess.check_output(["make", "-Bn", "V=1", "DEPS=no", "PARALLEL=", target], cwd=self.folder, text=True,
                                           stderr=subprocess.DEVNULL, env=dict(self.environment, MAKEFLAGS=""))
            line = [line for line in text.split("\n") if line.endswith("-o " + target)][-1]
            self.commands[target] = [word for word in shlex.split(line) if not word.startswith(("-M", "$(BUILD)"))]
        return list(self.commands[target])

    def compile_object(self, source):
        target = f"build/obj/{source}.o"
        out = os.path.join(self.programs, source.replace("/", "-") + ".o")
        command = self.command_of(target)
        command[command.index("-o") + 1] = out
        if not self.run(command + ["-w", "-O1", "-g0"], 60):
            return False
        self.objects.append(out)
        return True

    def link(self, name):
        """A tool or a test (tests/FOLDER/NAME) with those of the mutated objects that it needs. False: that fails."""
        if name in self.linked:
            return True
        test = name.startswith("tests/")
        object_file = f"build/obj/{name if test else TOOLS[name]}.o"
        out = f"build/{name}" if test else f"build/bin/{name}"
        command = ["gcc", "-B" + self.programs, "-fuse-ld=lld", "-Wl,--strip-debug,--trace", "-o", out, object_file]
        command += ["-Wl,--start-lib", *self.objects, "-Wl,--end-lib"]
        command += ["build/lib/libxpu-tests.a"] * test + ["build/lib/libxpu-internal.a"] + LIBRARIES
        command += ["-lcunit"] * test
        if not self.run(command + ["-Wl,-rpath,$ORIGIN/../lib"], 60):
            return False
        used = self.meter.text().split("\n")
        self.linked[name] = any(o in used for o in self.objects)
        return True

    # -- the sweep --

    def compile(self, name):
        """Hashes of the program and of where its nodes run; None: it is not compiled."""
        with open(os.path.join(self.sweep_out, name + ".explained"), "wb") as explained:
            if not self.run(["build/bin/xpuc", "-q", f"tests/sweep/{name}.onnx", "--chip=nano", "--explain", "-o",
                             f"build/sweep/{name}.xpu"], stdout=explained):
                return None
        return [hashlib.sha256(open(os.path.join(self.sweep_out, name + end), "rb").read()).digest() for end in (".xpu", ".explained")]

    def runs(self, name):
        script = ('XPU_BIN=build/bin; sweep=tests/sweep; eval "$(sed -n "/^tolerance()/,/^}/p; /^run()/,/^}/p" tests/sweep/test_sweep.sh '
                  '| sed "s/for device in ref func rtl/for device in ref func/")"; first=1; run "$1" build/sweep')
        return self.run(["bash", "-c", script, "bash", name])

    def fingerprints(self):
        """Of each network a line that says what is made of it; those behind one that crashes are missing."""
        name = "tests/gen/sweep_programs_main"
        if not self.link(name):
            sys.exit(name + " cannot be linked")
        with tempfile.TemporaryFile("w+") as out:
            self.run(["build/" + name] + [f"tests/sweep/{n}.onnx" for n in self.networks], stdout=out)
            out.seek(0)
            return dict(line.split(" ", 1) for line in out.read().split("\n") if " " in line)

    def sweep(self, deadline):
        """The networks whose lowered graph, C, units, and (of some) programs are others than before run on ref and func."""
        forms = self.fingerprints()
        files = {n: f"tests/sweep/{n}.onnx" for n in self.networks}
        others = [n for n in self.networks if forms.get(files[n]) != self.forms[files[n]]]
        others = others or [n for n in self.networks[:COMPARED] if self.compile(n) != self.programs_of[n]]
        for name in others[:COMPARED]:
            if self.meter.seconds > deadline:
                break
            if not self.runs(name):
                return False
        return True

    # -- a mutation --

    def stage(self, test, limit):
        """Whether a test passes; None: it cannot be linked."""
        if test == "sweep" or test.endswith(".sh"):
            for name in TOOLS:
                if not self.link(name):
                    return None
        if test == "sweep":
            return self.sweep(self.meter.seconds + limit)
        if test.endswith(".sh"):
            path = os.environ["PATH"] if test.startswith("errors") else self.environment["PATH"]  # clang under limits
            return self.run(["bash", "tests/" + test], limit, env=dict(self.environment, PATH=path))
        if not self.link("tests/" + test):
            return None
        if self.objects and not self.linked["tests/" + test]:
            return True
        return self.run(["build/tests/" + test], limit)

    def notice(self, mutation, deadline):
        """The first test that fails; None: all pass, or the time is over. A test of the file's or row's name comes first."""
        path = mutation.path
        row = re.match(r"(?:XPU_SIM_)?OP\((\w+)", mutation.old)
        name = row.group(1).lower() if row else os.path.splitext(os.path.basename(path))[0]
        near = next(tests for prefix, _, tests in SOURCES if path.startswith(prefix) or prefix.split("/")[0] == path.split("/")[0])
        named = NAMED.get(name, f"test_{name}")
        tests = [test for test in self.tests if re.sub(r"^.*/|\.sh$", "", test) == named]
        tests += [test for name in near.split() for test in self.tests if test == "unit/" + name]
        tests += [test for test in self.tests if test not in tests]
        for test in tests:
            if self.meter.seconds > deadline:
                return "TIME", test
            if self.trusted.get(test) is False:
                continue
            passes = self.stage(test, min(LIMITS[test], deadline - self.meter.seconds))
            if passes or not self.passes_without(test):
                continue
            if passes is None:
                return "compiler", test
            if not self.stage(test, LIMITS[test]):
                return "test", test
        return None, None

    def passes_without(self, test):
        """Whether the test passes when nothing is mutated; asked once for each."""
        if test not in self.trusted:
            kept, seconds = (self.objects, self.linked), self.meter.seconds
            self.objects, self.linked = [], {}
            passes = self.stage(test, LIMITS[test])
            self.trusted[test] = bool(passes)
            if not passes:
                why = "cannot be linked" if passes is None else "fails without a mutation"
                print(f"{self.meter.text()[-2000:]}\n{test} {why}, and is left out", flush=True)
            (self.objects, self.linked), self.meter.seconds = kept, seconds
            self.linked.clear()
        return self.trusted[test]

    def measure(self, test):
        """Processor seconds of a test, as text; "-": it does not pass."""
        began = self.meter.seconds
        self.objects, self.linked = [], {}
        return f"{self.meter.seconds - began:.2f}" if self.stage(test, LIMITS[test]) else "-"

    def attempt(self, mutation):
        path = os.path.join(self.folder, mutation.path)
        text = open(path).read()
        lines = text.split("\n")
        indent = lines[mutation.line - 1][:len(lines[mutation.line - 1]) - len(lines[mutation.line - 1].lstrip())]
        lines[mutation.line - 1] = indent + mutation.new
        with open(path, "w") as file:
            file.write("\n".join(lines))
        began, clock = self.meter.seconds, time.monotonic()
        self.linked, self.objects = {}, []
        objects = TABLES[mutation.path][0] if mutation.path in TABLES else [mutation.path[:-2]]
        objects = [o for o in objects if os.path.exists(os.path.join(ROOT, o + ".c"))]
        compiled = all(self.compile_object(o) for o in objects)
        result, test = self.notice(mutation, began + SECONDS) if compiled else ("compiler", None)
        with open(path, "w") as file:
            file.write(text)
        return result, test, self.meter.seconds - began, time.monotonic() - clock


def measured_tests(build, pool, use_copy):
    """The tests, the quickest first, with the processor seconds that each takes; those without a time run once."""
    path = os.path.join(build, "mutation-cache", "times")
    lines = open(path).read().split("\n") if os.path.exists(path) else []
    times = dict(line.split(" ") for line in lines if line)
    names = [name for folder in FOLDERS for name in sorted(glob.glob(os.path.join(ROOT, "tests", folder, "test_*")))]
    names = [os.path.relpath(os.path.splitext(name)[0] if name.endswith(".c") else name, os.path.join(ROOT, "tests")) for name in names]
    unknown = [name for name in names if name not in times]
    times.update(zip(unknown, pool.map(lambda name: use_copy(lambda copy: copy.measure(name)), unknown)))
    if unknown:
        with open(path, "w") as file:
            file.writelines(f"{name} {times[name]}\n" for name in names)
    for name in names:
        if times[name] == "-":
            print(f"{name} is left out: it cannot be linked, fails, or takes more than {LIMITS[name]} s", flush=True)
    return {name: float(times[name]) for name in sorted((n for n in names if times[n] != "-"), key=lambda n: float(times[n]))}


def survivors(path):
    lines = open(path).read().split("\n")
    return {re.sub(r":\d+: ", ": ", one, count=1) for one, two in zip(lines, lines[1:]) if "SURVIVED" in two}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again", default="")
    parser.add_argument("--tests", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    mutations = [m for m in all_mutations() if options.only in str(m)]
    if options.again:
        again = survivors(options.again)
        mutations = [m for m in mutations if re.sub(r":\d+: ", ": ", str(m), count=1) in again]
    if options.list:
        print("\n".join(map(str, mutations)))
        return 0
    mutations.sort(key=lambda m: m.rank)  # a run that is ended has tried some of everything
    exceptions = read_exceptions()
    excused = [] if options.only else [m for m in mutations if reason_of(exceptions, m)]
    mutations = [m for m in mutations if m not in excused]
    wanted = lambda test: not options.tests or test in options.tests.split(",")
    build = os.path.abspath(options.build)
    made = [Copy(build) for _ in range(max(1, min(options.jobs, len(mutations))))]
    copies = queue.Queue()
    for copy in made:
        copies.put(copy)

    def use_copy(what):
        copy = copies.get()
        try:
            return what(copy)
        finally:
            copies.put(copy)

    passed = failed = skipped = 0
    spent = 0.0
    with concurrent.futures.ThreadPoolExecutor(len(made)) as pool:
        times = measured_tests(build, pool, use_copy)
        for copy in made:
            copy.tests = [test for test, seconds in times.items() if wanted(test) and (seconds < QUICK or not options.quick)]
            copy.tests.insert(0, "sweep") if wanted("sweep") else None
        results = pool.map(lambda mutation: use_copy(lambda copy: copy.attempt(mutation)), mutations)
        for mutation, (result, test, seconds, wall) in zip(mutations, results):
            known = reason_of(exceptions, mutation)
            skipped += result == "compiler"
            passed += result == "test" or (result in (None, "TIME") and known is not None)
            failed += result in (None, "TIME") and known is None
            spent += seconds
            verdict = (f"noticed by {test}" if result == "test" else "left out: it does not compile" if result == "compiler"
                       else f"equal: {known}" if known else "SURVIVED" if not result else f"SURVIVED, out of time before {test}")
            print(f"{mutation}\n    {verdict}, {seconds:.1f} s of processor time, {wall:.0f} s", flush=True)
    print(f"{len(excused)} have a reason; {skipped} do not compile; {spent:.0f} s of processor time")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
