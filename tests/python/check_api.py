"""The package xpu: what docs/python.md promises. Runs with and without NumPy (XPU_NO_NUMPY=1)."""
import array
import ctypes
import glob
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import xml.etree.ElementTree

if os.environ.get("XPU_NO_NUMPY"):
    sys.modules["numpy"] = None
import xpu
from xpu import _native as native
from xpu._errors import own_words
from xpu._tensor import npy_bytes, npy_of, numpy, read_npy

LEAK = 1 << 18  # bytes; what 10,000 runs really grow by is about a twentieth of it
MNIST, DIGITS = "tests/models/mnist-8.onnx", "examples/digits/digits.onnx"
RNN, RNN_STATES = "tests/golden/frames/rnn.onnx", {"hN": "h"}
PIXELS = 256


def images(count, first=0):
    return xpu.Tensor(array.array("f", [(first + i) * 37 % 101 / 101 for i in range(count * PIXELS)]), "float32",
                      (count, 1, 16, 16))


def sizes_of(info):
    return [1 if dim is None else dim for dim in info.shape]


def count_of(info):
    count = 1
    for dim in sizes_of(info):
        count *= dim
    return count


def texts_of_sources():
    """The C strings of the libraries, those side by side as one, with a 7 where something is written into them."""
    for folder in "base core frontend partition memplan convert xpu_codegen xpu_runtime/host xpu_runtime/program xpuc provider".split():
        for path in set(glob.glob(folder + "/**/*.c", recursive=True)) - {"base/option.c", "base/manual.c"}:  # --help
            with open(path, encoding="utf-8") as file:
                source = re.sub(r"/\*.*?\*/", "", re.sub(r'"\s*(PRI\w+\s*)?"', "", file.read()), flags=re.S)
            for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source):
                yield re.sub(r"%[-.*\d]*(?:ll|z)?[a-z]", "7", text)


class Shared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.nine = read_npy("tests/models/9.npy")
        cls.mnist = xpu.compile(MNIST)
        cls.digits = xpu.compile(DIGITS, shapes={"x": ("N=1..16", 1, 16, 16)})


class Compiling(Shared):
    def test_program(self):
        p = self.mnist
        self.assertEqual(p.inputs, [xpu.TensorInfo("Input3", "float32", (1, 1, 28, 28))])
        self.assertEqual([o.name for o in p.outputs], ["Plus214_Output_0"])
        self.assertIn("7 layers", p.summary)
        self.assertIn("fold", p.log)
        self.assertEqual(len(p.layers), 7)
        self.assertEqual((p.chip["name"], p.states), ("standard", {}))
        self.assertEqual(self.digits.inputs[0].shape, (None, 1, 16, 16))
        self.assertIn("layers", p.describe())
        self.assertIn("Input3", repr(p))

    def test_memory(self):
        class Proto:  # as onnx.ModelProto has it
            def SerializeToString(self):
                with open(MNIST, "rb") as file:
                    return file.read()

        model = Proto().SerializeToString()
        for given in (model, bytearray(model), memoryview(model), Proto()):
            self.assertEqual(xpu.compile(given, name="mnist-8.onnx").content, self.mnist.content)

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.xpu")
            self.mnist.save(path)
            for p in (xpu.load(path), xpu.load(self.mnist.content)):
                self.assertEqual(p.layers, self.mnist.layers)
                self.assertEqual(p.content, self.mnist.content)
            self.assertEqual(xpu.describe(path), self.mnist.describe())

    def test_options(self):
        p = xpu.compile(DIGITS, chip="nano", precision="int16", shapes=["x=2,1,16,16"], explain=True,
                        precision_rules=[{"match": "conv1", "precision": "fp32"}])
        self.assertEqual((p.chip["name"], p.inputs[0].shape), ("nano", (2, 1, 16, 16)))
        rows = {row["name"]: row for row in p.explanation["nodes"]}
        self.assertEqual((rows["conv1"]["precision"], rows["conv2"]["precision"]), ("fp32", "int16"))
        self.assertEqual(xpu.explain(DIGITS)["target"], "xpu-sim")
        self.assertEqual(xpu.describe(DIGITS)["operators"][0]["op"], "Conv")

    def test_wrong_rules(self):
        for argument, wrong in (("memory_rules", [{"match": "conv1", "lvel": "GM"}]), ("precision_rules", {"rule": []})):
            with self.assertRaises(xpu.UsageError) as caught:
                xpu.compile(DIGITS, **{argument: wrong})
            self.assertEqual({p.file for p in caught.exception.problems}, {argument})
            self.assertIn(argument + ": error [json-", str(caught.exception))
            self.assertNotIn(tempfile.gettempdir(), str(caught.exception))
        with self.assertRaises(xpu.UsageError) as caught:
            xpu.compile(DIGITS, memory_rules=[{"match": "conv1", "level": "GM", "strength": "must", "must": True}])
        self.assertEqual(caught.exception.hint, "known keys: match, level, kind, strength, offset, bank")
        notes = xpu.compile(DIGITS, precision_rules=[{"match": "zz*", "precision": "fp32"}]).notes
        self.assertEqual([n.file for n in notes if n.rule != "shape-open"][:1], ["precision_rules"])

    def test_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            net = os.path.join(folder, "net", "")
            os.mkdir(net)
            shutil.copy("tests/paddle/linear.pdmodel", net + "inference.pdmodel")
            shutil.copy("tests/paddle/linear.pdiparams", net + "inference.pdiparams")
            self.assertEqual(xpu.compile(net).name, "net.xpu")

    def test_notes(self):
        rules = [note.rule for note in xpu.compile(DIGITS).notes]
        self.assertIn("shape-open", rules)

    def test_threads(self):
        programs = [None] * 4

        def work(i):
            programs[i] = xpu.compile(MNIST).content

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(programs, [self.mnist.content] * 4)


class Running(Shared):
    def test_devices(self):
        results = {device: self.mnist.run(self.nine, device=device) for device in ("rtl", "func", "ref")}
        rows = {device: r.output.tolist() for device, r in results.items()}
        self.assertEqual(rows["rtl"], rows["func"])
        self.assertEqual(rows["rtl"], rows["ref"])
        self.assertEqual(max(range(10), key=rows["rtl"][0].__getitem__), 9)
        self.assertEqual((results["func"].cycles, results["ref"].instructions), (None, None))
        self.assertGreater(results["rtl"].cycles, 10000)
        self.assertEqual([i.name for i in results["rtl"].layers], self.mnist.layers)
        self.assertEqual(sum(i.cycles for i in results["rtl"].layers[:-1]) < results["rtl"].cycles, True)
        self.assertEqual(results["rtl"].stats["chip"], "standard")
        self.assertLess(len(repr(results["rtl"].layers[1])), 250)  # one line, without all that is counted
        self.assertEqual(isinstance(results["rtl"].output, xpu.Tensor), numpy is None)

    def test_profile(self):
        result = self.mnist.run(self.nine)
        profile = result.profile
        self.assertIsInstance(profile, dict)
        self.assertAlmostEqual(sum(i["share"] for i in profile["layers"]), 1, delta=0.02)
        self.assertEqual(json.loads(json.dumps(profile))["cycles"], result.cycles)
        self.assertEqual(len(str(profile).splitlines()), 9)
        self.check_picture(profile)
        self.assertIn("stats=False", str(self.mnist.run(self.nine, device="func", stats=False).profile))
        self.assertIn("on rtl", str(self.mnist.run(self.nine, device="func").profile))

    def check_picture(self, profile):
        """What a notebook shows: a bar for each layer with its name and cycles, as long as it takes, nothing outside."""
        root = xml.etree.ElementTree.fromstring(profile._repr_svg_())
        self.assertTrue(root.tag.endswith("svg"))
        width, height = (float(root.get(side)) for side in ("width", "height"))
        bars = [e for e in root if e.tag.endswith("rect") and len(e)]
        texts = [e.text for e in root if e.tag.endswith("text")]
        self.assertEqual(len(bars), len(profile["layers"]))
        longest = max(i["cycles"] for i in profile["layers"])
        widest = max(float(bar.get("width")) for bar in bars)
        for bar, layer in zip(bars, profile["layers"]):
            self.assertIn("%d cycles" % layer["cycles"], bar[0].text)
            self.assertIn(layer["name"], bar[0].text)
            self.assertTrue(any(text.startswith(format(layer["cycles"], ",")) for text in texts), layer)
            self.assertAlmostEqual(float(bar.get("width")) / widest, layer["cycles"] / longest, delta=0.01)
        for e in root:
            right, low = float(e.get("x")) + float(e.get("width", 0)), float(e.get("y")) + float(e.get("height", 0))
            self.assertTrue(0 <= right <= width and 0 <= low <= height, e.attrib)

    def test_docstrings(self):
        """Everything public is documented where help() looks."""
        for name in xpu.__all__:
            thing = getattr(xpu, name)
            self.assertTrue(isinstance(thing, str) or thing.__doc__, name)
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if not member.startswith("_") and (callable(value) or isinstance(value, (property, classmethod, staticmethod))):
                    self.assertTrue(getattr(thing, member).__doc__, "%s.%s" % (name, member))

    def test_inputs(self):
        wanted = self.digits.run({"x": images(1)}, device="func").output.tolist()
        flat = images(1).elements()
        view = memoryview(array.array("f", flat)).cast("B").cast("f", (1, 1, 16, 16))
        read_only = memoryview(bytes(view)).cast("f", (1, 1, 16, 16))
        values = [images(1).tolist(), view, read_only, xpu.Tensor(bytes(view), "float32", (1, 1, 16, 16))]
        if numpy is not None:
            a = numpy.array(flat, "f").reshape(1, 1, 16, 16)
            values += [a, a.astype(">f4"), numpy.asfortranarray(a), numpy.stack([a, a], -1)[..., 0]]
        for value in values:
            for inputs in ({"x": value}, value):
                self.assertEqual(self.digits.run(inputs, device="func").output.tolist(), wanted)

    def test_tuple(self):
        program = xpu.compile(RNN, precision="fp32", states=RNN_STATES)

        def zeros(info):
            return xpu.Tensor(bytes(4 * count_of(info)), info.dtype, sizes_of(info))

        result = program.run(tuple(map(zeros, program.inputs)), device="ref")
        self.assertEqual(list(result.outputs), [o.name for o in program.outputs])
        again = program.run(list(map(zeros, program.inputs)), device="ref")
        self.assertEqual(again.output.tolist(), result.output.tolist())
        self.assertRaises(ValueError, lambda: program.run(tuple(map(zeros, program.inputs * 2)), device="ref"))

    def test_tuple_of_one(self):
        wanted = self.digits.run(images(1), device="func").output.tolist()
        flat = memoryview(images(1).data)
        for inputs in ((images(1),), [images(1)], (images(1).tolist(),), [flat.cast("f", (1, 1, 16, 16))]):
            self.assertEqual(self.digits.run(inputs, device="func").output.tolist(), wanted)
        for inputs in ((images(1), images(1)), [images(1), images(1)]):
            with self.assertRaisesRegex(ValueError, "2 inputs are given, the program has 1"):
                self.digits.run(inputs, device="func")

    def test_dump(self):
        with tempfile.TemporaryDirectory() as folder:
            result = self.mnist.run(self.nine, device="func", dump=folder)
            self.assertEqual(len(result.dump), 11)
            self.assertTrue(os.path.exists(os.path.join(folder, "index.json")))
            other = self.mnist.run(self.nine, device="rtl", dump=True, dump_filter="ReLU*")
            names = [f"{layer}_Output_0{of}" for layer in ("ReLU32", "ReLU114") for of in ("", "/absmax")]
            self.assertEqual(list(other.dump), names)
            for name, value in other.dump.items():
                self.assertEqual(value.tolist(), result.dump[name].tolist())
        place = other.dump.folder
        del other, value
        self.assertFalse(os.path.exists(place))

    def test_diff(self):
        a = self.mnist.run(self.nine, device="func", dump=True)
        b = self.mnist.run(self.nine, device="ref", dump=True)
        self.assertFalse(xpu.diff(a, b))
        self.assertEqual(xpu.diff(a, b)["compared"], 11)
        changed = {"Plus214_Output_0": [[x + (i == 3) for i, x in enumerate(a.output.tolist()[0])]]}
        difference = xpu.diff(a.outputs, changed)
        self.assertTrue(difference)
        self.assertEqual(difference.tensors[0]["differing"], 1)
        self.assertIn("1 of 10 elements", str(difference))
        self.assertFalse(xpu.diff(a.outputs, changed, tolerance=(1, 1)))
        with self.assertRaises(xpu.MachineError) as caught:
            xpu.diff(a, "nowhere")
        self.assertEqual((caught.exception.rule, caught.exception.file), ("io-open", "nowhere"))
        self.assertEqual(caught.exception.hint, "check the spelling of the path")

    def test_limits(self):
        with self.assertRaises(xpu.DeviceTimeout) as caught:
            self.mnist.run(self.nine, max_cycles=1000)
        self.assertIn("1000 cycles", str(caught.exception))
        self.assertIsNone(self.mnist.run(self.nine, device="func", stats=False).cycles)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            result = self.mnist.run(self.nine, trace=path, lockstep=True, no_skip=True)
            self.assertEqual(result.cycles, self.mnist.run(self.nine).cycles)
            with open(path) as file:
                self.assertIn("traceEvents", json.load(file))


class Sessions(Shared):
    def test_states(self):
        program = xpu.compile(RNN, precision="fp32", states=RNN_STATES)
        self.assertEqual(program.states, RNN_STATES)
        x, h = program.inputs[0], program.inputs[1]
        value = xpu.Tensor(array.array("f", [i / count_of(x) for i in range(count_of(x))]), x.dtype, sizes_of(x))
        zeros = xpu.Tensor(bytes(4 * count_of(h)), h.dtype, sizes_of(h))
        with program.session("func") as session:
            first = session.run({x.name: value})
            second = session.run({x.name: value})
            alone = program.run({x.name: value, h.name: first["hN"]}, device="ref")
            self.assertNotEqual(first["hN"].tolist(), second["hN"].tolist())
            self.assertEqual(second["hN"].tolist(), alone["hN"].tolist())
            session.reset()
            self.assertEqual(session.run({x.name: value})["hN"].tolist(), first["hN"].tolist())
            self.assertEqual(session.run({x.name: value, h.name: zeros})["hN"].tolist(), first["hN"].tolist())
        for call in (session.run, session.reset):
            with self.assertRaises(ValueError):
                call()

    def test_rtl(self):
        with self.digits.session("rtl", lockstep=True) as session:
            runs = [session.run(images(1)) for _ in range(3)]
        once = self.digits.run(images(1))
        for run in runs:
            self.assertEqual(run.output.tolist(), once.output.tolist())

    def test_limit(self):
        with self.digits.session("rtl") as session:
            with self.assertRaisesRegex(ValueError, "max_cycles"):
                session.run(images(1), max_cycles=10)
            self.assertGreater(session.run(images(1)).cycles, 10)
        with self.digits.session("func") as session:
            self.assertRaises(xpu.DeviceTimeout, lambda: session.run(images(1), max_cycles=10))
            self.assertGreater(session.run(images(1)).instructions, 10)

    def test_two_models(self):
        """Two chips of one thread are given back in any order and by any thread. A process of its own: it may hang."""
        work = """if True:
            import sys, threading, xpu
            program = xpu.load(sys.argv[1])
            value = xpu.Tensor(bytes(1024), "float32", (1, 1, 16, 16))
            for order in ((0, 1), (1, 0)):
                for in_thread in (False, True):
                    sessions = [program.session("rtl") for _ in range(2)]
                    wanted = [s.run(value).output.tolist() for s in sessions]
                    for i in order:
                        if in_thread:
                            thread = threading.Thread(target=sessions[i].close)
                            thread.start()
                            thread.join()
                        else:
                            sessions[i].close()
                    print(wanted[0] == wanted[1] == program.run(value).output.tolist())
            """
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits.xpu")
            xpu.compile(DIGITS, chip="nano", shapes={"x": (1, 1, 16, 16)}).save(path)
            done = subprocess.run([sys.executable, "-c", work, path], stdout=subprocess.PIPE, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, b"True\n" * 4))

    def test_threads(self):
        wanted = [self.digits.run(images(1, i), device="func").output.tolist() for i in range(8)]
        bad = []
        with self.digits.session("func") as session:

            def work(i):
                for _ in range(40):
                    if session.run(images(1, i)).output.tolist() != wanted[i]:
                        bad.append(i)

            threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        self.assertEqual(bad, [])

    def test_overlap(self):
        """While one thread is in a long run, another one makes many: nobody holds Python's lock."""
        value, done = images(16), []
        with self.digits.session("func") as session:
            session.run(images(1))
            thread = threading.Thread(target=lambda: done.append(self.digits.run(value, device="rtl", no_skip=True)))
            thread.start()
            runs = 0
            while not done:
                session.run(images(1))
                runs += 1
            thread.join()
        self.assertGreaterEqual(runs, 5)

    def test_close_while_running(self):
        for _ in range(5):
            session = self.digits.session("func")
            threads = [threading.Thread(target=session.run, args=(images(16),)) for _ in range(2)]
            for t in threads:
                t.start()
            time.sleep(0.005)
            session.close()
            for t in threads:
                t.join()


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Growth(Shared):
    """Memory of a run is given back: 10,000 runs in one session, 100 sessions."""

    def grows(self, work, warm, count):
        for _ in range(warm):
            work()
        before, files = memory(), len(os.listdir("/proc/self/fd"))
        for _ in range(count):
            work()
        self.assertEqual(len(os.listdir("/proc/self/fd")), files)
        return memory() - before

    def test_runs(self):
        value = images(1)
        with self.digits.session("func") as session:
            self.assertLess(self.grows(lambda: session.run({"x": value}).cycles, 500, 10000), LEAK)

    def test_sessions(self):
        def work():
            with self.digits.session("func") as session:
                session.run(images(1))

        self.assertLess(self.grows(work, 20, 100), LEAK)

    def test_errors(self):
        def work():
            with self.assertRaises(xpu.UsageError):
                self.digits.run({"y": images(1)}, device="func")
            with self.assertRaises(xpu.ModelError):
                xpu.compile(b"no model")

        self.assertLess(self.grows(work, 50, 300), LEAK)


class Errors(Shared):
    def test_texts(self):
        """Bad models end in exceptions with the text that xpuc prints, from the file and from memory."""
        tool = os.path.join(native.PREFIX, "bin", "xpuc")
        models = sorted(glob.glob("tests/*/*/*.onnx")) + ["docs/unsupported.onnx"]
        seen = 0
        for model in models[-60:]:
            done = subprocess.run([tool, "-v", "--emit=ir", "-o", "/dev/null", model], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            if not done.returncode:
                continue
            seen += 1
            with self.assertRaises(xpu.Error) as caught:
                xpu.compile(model)
            self.assertIn(str(caught.exception), own_words(done.stderr.decode()))
            self.assertEqual(caught.exception.status, done.returncode)
            with open(model, "rb") as file, self.assertRaises(xpu.Error) as again:
                xpu.compile(file.read(), name=model)
            self.assertEqual(str(again.exception), str(caught.exception))
        self.assertGreater(seen, 0)

    def test_words(self):
        """Messages name arguments where those of the tools name options."""
        self.assertEqual(own_words("--shape x=1..16,1, --params=FILE; \udc80"),
                         'shapes={"x": "1..16,1"}, params="FILE"; \udc80')  # tests/unit/test_words.c has the others
        program = xpu.compile("examples/digits/digits.onnx", shapes={"x": "N=1..4,1,16,16"})
        with self.assertRaises(xpu.UsageError) as caught:
            program.run({"x": images(5)}, device="ref")
        self.assertEqual(caught.exception.hint, "compile with a larger range: the argument shapes")
        self.assertIn("larger range: the argument shapes", str(caught.exception))

    def test_all_words(self):
        """Each text of the libraries' sources that names an option of the tools, in Python's words and in the provider's."""
        seen = 0
        for text in texts_of_sources():
            options = re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)
            seen += bool(options)
            for interface in ("python", "onnxruntime") if options and " " in text else ():
                own = native.own_words(text, interface)
                self.assertEqual(re.findall(r"(?<!xpuc )(?<!xpu-run )(?<!-convert )(?<!-validate )(?<![\w'-])--[a-z][a-z-]*", own), [], own)
        self.assertGreater(seen, 100)
        printed = subprocess.run([os.path.join(native.PREFIX, "bin", "xpuc"), "--help"], stdout=subprocess.PIPE).stdout
        names = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", printed.decode(), re.M)) - {"help", "quiet", "verbose", "version"}
        self.assertGreater(len(names), 20)
        for name in names:
            self.assertNotEqual(own_words("(--%s)" % name), "(--%s)" % name)

    def test_members(self):
        with self.assertRaises(xpu.ModelError) as caught:
            xpu.compile("docs/unsupported.onnx")
        e = caught.exception
        self.assertEqual((e.rule, e.node, e.status), ("onnx-unsupported-op", "crop", 1))
        self.assertEqual(e.reason, "the importer has no row for RoiAlign-16")
        self.assertTrue(e.hint.startswith("replace it by supported operators"))
        self.assertEqual([p.node for p in e.problems], ["crop", "det"])
        self.assertEqual("\n".join(map(str, e.problems)), str(e))
        same = pickle.loads(pickle.dumps(e))
        self.assertEqual((type(same), str(same), same.problems), (type(e), str(e), e.problems))

    def test_damaged(self):
        with open(MNIST, "rb") as file:
            model = file.read()
        for cut in range(0, len(model), 997):
            with self.assertRaises(xpu.ModelError) as caught:
                xpu.compile(model[:cut])
            self.assertTrue(caught.exception.rule.startswith("onnx-"))
        for cut in range(0, len(self.mnist.content), 1999):
            with self.assertRaises(xpu.Error):
                xpu.load(self.mnist.content[:cut])

    def test_calls(self):
        cases = [(xpu.MachineError, "io-open", lambda: xpu.compile("nothing.onnx")),
                 (xpu.MachineError, "io-open", lambda: xpu.load("nothing.xpu")),
                 (xpu.UsageError, "input-unknown", lambda: self.mnist.run({"a": self.nine})),
                 (xpu.UsageError, "input-missing", lambda: self.mnist.run()),
                 (xpu.UsageError, "input-shape", lambda: self.mnist.run([1, 2], device="func")),
                 (xpu.UsageError, "input-dtype", lambda: self.mnist.run(array.array("d", [0]), device="func")),
                 (xpu.UsageError, None, lambda: xpu.compile(MNIST, precision="int3"))]
        for kind, rule, call in cases:
            with self.assertRaises(kind) as caught:
                call()
            if rule:
                self.assertEqual(caught.exception.rule, rule)
        for call in (lambda: self.mnist.run(self.nine, device="gpu"), lambda: self.mnist.run([[1], [1, 2]]),
                     lambda: self.mnist.run(self.nine, dump_filter="*"), lambda: xpu.Tensor(b"123", "float32", [1]),
                     lambda: self.mnist.run(self.nine, device="func", lockstep=True)):
            self.assertRaises(ValueError, call)
        self.assertRaises(TypeError, lambda: self.mnist.run(object()) if numpy is None else xpu.compile(object()))

    def test_refused(self):
        for call in (xpu.explain, xpu.describe):
            with self.assertRaisesRegex(TypeError, "'precison'"):
                call(DIGITS, precison="int16")
        for call in (lambda: xpu.load(MNIST + "\0x"), lambda: xpu.compile(MNIST + "\0x"),
                     lambda: xpu.describe(MNIST + "\0x"), lambda: self.mnist.run({"Input3\0x": self.nine})):
            self.assertRaisesRegex(ValueError, "null character", call)
        for call in (lambda: self.mnist.run(self.nine, max_cycles=-1), lambda: self.mnist.run(self.nine, seed=1 << 32),
                     lambda: xpu.compile(MNIST, clang_seconds=-1)):
            self.assertRaisesRegex(ValueError, "has to be from 0", call)
        if numpy is not None:
            for value in (numpy.zeros(2, complex), numpy.array(["a"])):
                with self.assertRaisesRegex(TypeError, "tensor 'a'"):
                    xpu.diff({"a": value}, {"a": value})

    def test_fault(self):
        with open(MNIST, "rb") as file:
            xpu.compile(file.read())
        with self.assertRaises(xpu.MachineError) as caught, tempfile.TemporaryDirectory() as folder:
            path = os.environ["PATH"]
            os.environ["PATH"] = folder
            from xpu import _compile
            zig, _compile.zig = _compile.zig, lambda: None
            try:
                xpu.compile(MNIST)
            finally:
                os.environ["PATH"], _compile.zig = path, zig
        self.assertEqual(caught.exception.rule, "no-clang")
        self.assertIn("xpu-stack[compiler]", caught.exception.hint)


class Interrupts(Shared):
    def setUp(self):
        """Ctrl-C as in a terminal: what a shell starts in the background ignores it."""
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

    def interrupted(self, call):
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            while True:
                call()
        timer.join()
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_ctrl_c(self):
        for device in ("rtl", "func", "ref"):
            self.interrupted(lambda: self.digits.run(images(16), device=device))
        self.interrupted(lambda: xpu.compile(DIGITS))
        self.assertEqual(self.digits.run(images(1), device="func").device, "func")

    def test_progress(self):
        seen = []
        self.mnist.run(self.nine, device="func", progress=lambda *a: seen.append(a))
        self.assertEqual(seen[-1][:2], (7, 7))

        def refuse(done, layers, name):
            raise LookupError(name)

        for device in ("rtl", "func", "ref"):
            with self.assertRaises(LookupError):
                self.mnist.run(self.nine, device=device, progress=refuse)


class Tensors(unittest.TestCase):
    def test_tensor(self):
        t = xpu.Tensor(array.array("h", range(6)), "int16", (2, 3))
        self.assertEqual((t.tolist(), t[1].tolist(), t[-1][2], len(t)), ([[0, 1, 2], [3, 4, 5]], [3, 4, 5], 5, 2))
        self.assertEqual((t.ndim, t.size, t.nbytes), (2, 6, 12))
        self.assertEqual([list(row) for row in t], t.tolist())
        self.assertEqual(xpu.Tensor(b"\0\x3c", "float16", []).tolist(), 1.0)
        self.assertEqual(xpu.Tensor(b"\x80\x3f", "bfloat16", [1]).tolist(), [1.0])
        self.assertEqual(xpu.Tensor(b"", "float32", (2, 0, 3)).tolist(), [[], []])
        self.assertRaises(IndexError, lambda: t[2])
        if numpy is not None:
            self.assertEqual(numpy.asarray(t).tolist(), t.tolist())

    def test_npy(self):
        for value in (xpu.Tensor(bytes(range(24)), t, s) for t, s in (
                ("bool", (24,)), ("float32", (2, 3)), ("bfloat16", (3, 4)), ("uint64", (3,)), ("float16", (12, 1)))):
            again = npy_of(npy_bytes(value))
            self.assertEqual(list(again.shape), list(value.shape))
            if value.dtype != "bfloat16":
                self.assertEqual(repr(again.tolist()), repr(value.tolist()))


class Layout(unittest.TestCase):
    """The structures of _native.py are those of the headers."""

    def test_members(self):
        headers = ("xpuc/include/xpuc.h", "xpu_runtime/include/xpurt.h", "xpu_runtime/include/xpurt_rtl.h")
        lines = ["#include <stdio.h>\n"] + ['#include "%s"\n' % h for h in headers] + ["int main(void) {\n"]
        wanted = []
        for name, kind in native.STRUCTURES.items():
            members = [(f[0], getattr(kind, f[0]).offset) for f in kind._fields_]
            for member, offset in members:
                lines.append('printf("%%zu ", __builtin_offsetof(%s, %s));\n' % (name, member))
                wanted.append(offset)
            lines.append('printf("%%zu ", sizeof(%s));\n' % name)
            wanted.append(ctypes.sizeof(kind))
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
            with open(source, "w") as file:
                file.write("".join(lines + ["}\n"]))
            subprocess.run([os.environ.get("CC", "cc"), "-I.", source, "-o", program], check=True)
            self.assertEqual([int(n) for n in subprocess.check_output([program]).split()], wanted)

    def test_all_members(self):
        """Every member of the headers' structures has one here, in order."""
        for path in ("xpuc/include/xpuc.h", "xpu_runtime/include/xpurt.h", "xpu_runtime/include/xpurt_rtl.h"):
            with open(path) as file:
                text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            for body, name in re.findall(r"typedef struct \{(.*?)\} (\w+);", text, re.S):
                if name not in native.STRUCTURES:
                    continue
                members = [re.search(r"\(\*(\w+)\)|(\w+)(?:\[\d+\])?$", m.strip()) for m in body.split(";") if m.strip()]
                names = [m.group(1) or m.group(2) for m in members]
                self.assertEqual(names, [f[0] for f in native.STRUCTURES[name]._fields_])


if __name__ == "__main__":
    unittest.main(verbosity=0)
