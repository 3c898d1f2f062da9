#!/usr/bin/env python3
"""Single mutations of rows, rules and passes, each of which some quick test must notice.

mutation.py --build=FOLDER [--list] [--only=TEXT] [--first=N] [--count=N] [--jobs=N]

Works in copies of the tree and of a built folder, one for each job. A mutation is noticed when a test fails, crashes or
hangs; one that does not compile is left out. Survivors that change neither a result nor where it is computed stand in
tests/mutation/exceptions.txt: FILE | OLD | NEW | reason. Ends with 'N passed, N failed'.
"""
import argparse
import concurrent.futures
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 60  # of one mutation

# Tables, and the objects in which their rows are expanded: what else includes them needs the names only.
TABLES = {
    "core/ops/ops.def": ["core/ops/rows", "core/ops/op"],
    "xpu_codegen/ops.def": ["xpu_codegen/choose/rules", "xpu_codegen/choose/layout", "xpu_codegen/lower/program",
                            "xpu_codegen/document"],
}
# Sources by folder or file, and how many mutations are drawn from each.
SOURCES = [("core/passes", 70), ("core/ops/infer", 40), ("core/ops/op.c", 4), ("frontend/build", 50), ("frontend/onnx/ops_", 16),
           ("frontend/onnx/convert.c", 8), ("xpu_codegen/choose", 70), ("xpu_codegen/lower", 50), ("partition", 20)]

UNIT = ("test_infer test_graph test_passes test_partition test_onnx test_onnx_models test_ref test_codegen test_codegen_tiles "
        "test_codegen_operators test_bind_plans test_xpuc").split()
SCRIPTS = ["tests/sweep/test_sweep.sh", "tests/golden/test_levels.sh", "tests/golden/test_nan.sh", "tests/errors/test_errors.sh",
           "tests/golden/test_names.sh"]
GOLDEN = "test_networks test_odd_networks test_quantised_scales test_free_shapes test_guards test_open_dims test_utilisation".split()
TOOLS = ["bin/xpuc", "bin/xpu-run", "bin/xpu-dump", "bin/xpu-regress", "lib/libxpuc.so", "lib/libxpurt.so", "tests/gen/sweep_rows_main"]


class Mutation:
    def __init__(self, path, line, old, new):
        self.path, self.line, self.old, self.new = path, line, old.strip(), new.strip()

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


def all_mutations():
    files = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
    result = []
    for path in TABLES:
        result += [Mutation(path, *change) for change in table_mutations(path)]
    rules = "xpu_codegen/choose/rules.c"
    for number, line in enumerate(open(os.path.join(ROOT, rules)).read().split("\n"), 1):
        if re.match(r"static int \w+_holds\(xpu_rule_query \*query\) \{$", line):
            result.append(Mutation(rules, number, line, line + " if (query) return 1;"))
    for prefix, count in SOURCES:
        drawn = [Mutation(path, *change) for path in files if path.startswith(prefix) and path.endswith(".c") for change in code_mutations(path)]
        random.Random(prefix).shuffle(drawn)
        result += sorted(drawn[:count], key=lambda m: (m.path, m.line))
    return result


# ---- trying them ----

def read_exceptions():
    path = os.path.join(ROOT, "tests", "mutation", "exceptions.txt")
    rows = [[cell.strip() for cell in line.split(" | ")] for line in open(path) if line.strip() and line[0] != "#"]
    return {tuple(row[:3]): row[3] for row in rows}


class Copy:
    """A tree and a build folder to spoil."""

    def __init__(self, build):
        self.folder = tempfile.mkdtemp(prefix="xpu-mutation-")
        for path in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split("\n")[:-1]:
            os.makedirs(os.path.join(self.folder, os.path.dirname(path)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, path), os.path.join(self.folder, path))
        shutil.copytree(build, os.path.join(self.folder, "build"), symlinks=True, ignore=shutil.ignore_patterns("san"))
        shared = os.path.join(ROOT, "..", "shared")
        self.environment = dict(os.environ, XPU_BUILD="build", XPU_BIN="build/bin", XPU_SHARED=os.path.abspath(shared))

    def run(self, command, deadline, limit=SECONDS):
        """Whether the command succeeds within `limit` seconds; None: the mutation's time is over before."""
        now = time.monotonic()
        if now >= deadline:
            return None
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            return process.wait(min(limit, deadline - now)) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return False if limit < deadline - now else None

    def make(self, targets, deadline):
        return self.run(["make", "-s", "DEPS=no", "PARALLEL="] + ["build/" + t for t in targets], deadline)

    def stages(self):
        """What is made and run, the quickest first: (targets, command, seconds)."""
        for name in UNIT:
            yield ["tests/unit/" + name], ["build/tests/unit/" + name], 15
        yield TOOLS, ["bash", SCRIPTS[0], "--first"], 40
        for script in SCRIPTS[1:]:
            yield [], ["bash", script], 40
        for name in GOLDEN:
            yield ["tests/golden/" + name], ["build/tests/golden/" + name], 15

    def notice(self, deadline):
        """The first test that fails; None: all pass, or the time is over."""
        for targets, command, limit in self.stages():
            if targets and self.make(targets, deadline) is False:
                return "build"
            if self.run(command, deadline, limit) is False:
                return command[-1] if command[0] != "bash" else command[1]
        return None

    def attempt(self, mutation):
        path = os.path.join(self.folder, mutation.path)
        text, times = open(path).read(), os.stat(path)
        lines = text.split("\n")
        if lines[mutation.line - 1].strip() != mutation.old:
            return "lost", 0
        indent = lines[mutation.line - 1][:len(lines[mutation.line - 1]) - len(lines[mutation.line - 1].lstrip())]
        lines[mutation.line - 1] = indent + mutation.new
        with open(path, "w") as file:
            file.write("\n".join(lines))
        objects = [os.path.join(self.folder, "build", "obj", o + ".o") for o in TABLES.get(mutation.path, [])]
        if objects:
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            for o in objects:
                if os.path.exists(o):
                    os.remove(o)
        began = time.monotonic()
        compiled = self.make(["lib/libxpu-internal.a"], began + SECONDS)
        result = self.notice(began + SECONDS) if compiled else "compiler"
        seconds = time.monotonic() - began
        with open(path, "w") as file:
            file.write(text)
        if objects:
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            for o in objects:
                if os.path.exists(o):
                    os.remove(o)
        return result, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1 << 30)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    mutations = [m for m in all_mutations() if options.only in str(m)][options.first:][:options.count]
    if options.list:
        print("\n".join(map(str, mutations)))
        return 0
    exceptions = read_exceptions()
    copies = queue.Queue()
    made = [Copy(os.path.abspath(options.build)) for _ in range(max(1, min(options.jobs, len(mutations))))]
    for copy in made:
        copies.put(copy)

    def work(mutation):
        copy = copies.get()
        try:
            return copy.attempt(mutation)
        finally:
            copies.put(copy)

    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(len(made)) as pool:
        for mutation, (result, seconds) in zip(mutations, pool.map(work, mutations)):
            known = exceptions.get((mutation.path, mutation.old, mutation.new))
            skipped += result in ("compiler", "build", "lost")
            passed += result not in ("compiler", "build", "lost", None) or (result is None and known is not None)
            failed += result is None and known is None
            verdict = f"noticed by {result}" if result else f"equal: {known}" if known else "SURVIVED"
            print(f"{mutation}\n    {verdict}, {seconds:.0f} s", flush=True)
    for copy in made:
        shutil.rmtree(copy.folder)
    print(f"{skipped} left out: they do not compile")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
