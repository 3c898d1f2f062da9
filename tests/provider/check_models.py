"""The networks of docs/models.md in a stock session: nodes on the chip by name as by xpuc, and the outputs.

    check_models.py SHARED [NAME]...    networks that are there (whose name has one of NAME)

Every node that xpuc puts on the chip has to run there. With graph optimisation off outputs are those of the commands xpuc
and xpu-run bit for bit where all nodes are on the chip; with it, and where they are not, near those of onnxruntime alone. Programs
of PaddlePaddle come by xpu-convert. Small networks run on the chip in SystemVerilog, too, for as many cycles as by xpu-run.
"""
import glob
import json
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime as ort
from common import BUILD, FOLDER, is_whole, open_session, open_with_report, same

import xpu

ROWS = ("scripts/models.rows", "scripts/bench-func.rows", "scripts/vision.rows")
ON_RTL = ("mnist-8", "silero", "stories260K_step", "stories260K_logits, 12", "ch_ppocr_mobile_v2.0_cls")
LIMIT = {"auto": 1e-2, "int16x8": 1e-1}  # by precision, of the largest element of an output
# Depthwise layers are integers with one scale for all channels (docs/decisions/0059-depthwise-in-int16.md)
LIMIT.update({"ch_PP-OCRv4_det, 640 x 640": 4e-2, "ch_PP-OCRv4_det as a program of PaddlePaddle, 96 x 160": 2e-2,
              "mobilenet_v2_fp32 in int16x8": 2.5e-1})
# onnxruntime 1.23 computes these otherwise than 1.27 and 1.31, whose bits are the chip's: the first in float32 for all its
# optimiser, the second (seen on a processor with AMX) with other sums of bytes
if ort.__version__.startswith("1.23."):
    LIMIT.update(mobilenet_v2_qdq=2e-1, mobilenet_v2_quant=1.0)


def command(*words):
    """A command of the build; what it prints where it fails is the error."""
    done = subprocess.run((os.path.join(BUILD, "bin", words[0]),) + words[1:], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("%s: %s" % (" ".join(words), done.stderr))


def rows(shared, wanted):
    """Name, model, options of xpuc, inputs; a network stands there once for each of its inputs."""
    lines = []
    for rows_file in ROWS:
        with open(rows_file, encoding="utf-8") as file:
            lines += [line for line in file if not line.startswith("#")]
    for line in lines:
        words = [word.strip() for word in line.split("|")]
        if any(w in words[0] for w in wanted or [""]):
            yield words[0], *(words[i].replace("shared/", shared + "/", 1) for i in (1, 2, 3))


def unpacked(path):
    """A file of paddle.vision, whose weights stand in the folder for as long as no other network's do."""
    if not path.startswith("vision/"):
        return path
    made = os.path.join(FOLDER, path)
    if not os.path.exists(made):
        for old in glob.glob(os.path.join(FOLDER, "vision", "*")):
            os.remove(old)
        os.makedirs(os.path.dirname(made), exist_ok=True)
        subprocess.run([sys.executable, "tests/gen/vision.py", "unpack", os.path.dirname(made), "full",
                        os.path.splitext(os.path.basename(path))[0]], check=True)
    return made


def named(path, options):
    """The model as ONNX, with a name for each node."""
    if path.endswith(".pdmodel"):
        made = os.path.join(FOLDER, "converted.onnx")
        command("xpu-convert", "-q", path, "-o", made, *(o for o in options if o.startswith("--shape=")))
        path = made
    model = onnx.load(path, load_external_data=False)
    nameless = [node for node in model.graph.node if not node.name]
    if not nameless:
        return path
    for number, node in enumerate(nameless):
        node.name = "nameless_%d" % number
    made = os.path.join(FOLDER, "named.onnx")
    assert not any(t.data_location for t in model.graph.initializer), "%s: weights in another file" % path
    onnx.save(model, made)
    return made


def feeds_of(given, session):
    """By name; one array alone is the only input. What is not in the file xpuc has as a value. Noise for a picture."""
    wanted = session.get_inputs()
    if given.startswith(("random", "--image")):
        dims = given.split()[1].split(",") if given.startswith("random") else wanted[0].shape
        data = np.random.default_rng(18).random([int(d) for d in dims], dtype=np.float32)
    else:
        data = np.load(given)
    return {wanted[0].name: data} if isinstance(data, np.ndarray) else {i.name: data[i.name] for i in wanted}


def furthest(got, wanted):
    """The largest difference of an element, over the output's largest element."""
    worst = 0.0
    for a, b in zip(got, wanted):
        a, b = a.astype(np.float64), b.astype(np.float64)
        assert a.shape == b.shape and np.isfinite(a).all(), (a.shape, b.shape)
        worst = max(worst, np.abs(a - b).max() / max(np.abs(b).max(), 1e-9))
    return worst


def given_options(options):
    """xpuc's options as the provider's; states are none of its own: they are inputs and outputs."""
    sizes = {kind: [o[len(kind) + 3:] for o in options if o.startswith("--%s=" % kind)] for kind in ("shape", "value")}
    given = {kind + "s": ";".join(values) for kind, values in sizes.items() if values}
    given.update(o[2:].split("=", 1) for o in options if o.startswith("--precision="))
    return given


def by_commands(model, options, feeds, device):
    """Outputs by name, and cycles, of xpuc and xpu-run."""
    program, inputs, outputs, stats = (os.path.join(FOLDER, name) for name in ("a.xpu", "in.npz", "out.npz", "stats.json"))
    if device == "func":
        command("xpuc", "-q", model, "-o", program, *(o for o in options if not o.startswith("--state=")))
        np.savez(inputs, **feeds)
    command("xpu-run", "-q", program, "-d", device, "-i", inputs, "-o", outputs, "--stats=" + stats)
    with open(stats, encoding="utf-8") as file:
        return np.load(outputs), json.load(file).get("cycles")


def check_rtl(model, given, options, feeds):
    """The same bits and cycles as by xpu-run."""
    profile = os.path.join(FOLDER, "profile.jsonl")
    if os.path.exists(profile):
        os.remove(profile)
    session = open_session(model, device="rtl", profile=profile, **given)
    got = session.run(None, feeds)
    with open(profile, encoding="utf-8") as file:
        cycles = [json.loads(line)["stats"]["cycles"] for line in file]
    outputs, wanted = by_commands(model, options, feeds, "rtl")
    assert cycles == [wanted], "on rtl %s cycles, by xpu-run %s" % (cycles, wanted)
    assert all(same(outputs[o.name], g) for o, g in zip(session.get_outputs(), got)), "on rtl other bits than by xpu-run"
    return "; on rtl, too: %d cycles" % wanted


def check(name, model, options, inputs):
    options = options.split()
    model, given = named(unpacked(model), options), given_options(options)
    session, report = open_with_report(model, **given)
    feeds = feeds_of(unpacked(inputs), session)
    got = session.run(None, feeds)
    here = {node["name"] for node in report["nodes"] if node["region"]}
    nodes = xpu.explain(model, **{key: given[key].split(";") for key in ("shapes", "values") if key in given},
                        precision=given.get("precision", "auto"))["nodes"]
    by_xpuc = {node["name"] for node in nodes if node["layer"] and node.get("unit") != "host" and "within" not in node}
    missing = sorted(by_xpuc - here)
    # Optimised, onnxruntime computes quantised networks in integers, as the chip always does
    alone = [open_session(model, provider=False, optimise=o).run(None, feeds) for o in (False, True)]
    optimised = open_session(model, optimise=True, **given).run(None, feeds)
    far = [min(furthest(mine, wanted) for wanted in alone) for mine in (got, optimised)]
    bits = rtl = ""
    if is_whole(report):
        outputs, _ = by_commands(model, options, feeds, "func")
        bits = "equal" if all(same(outputs[o.name], g) for o, g in zip(session.get_outputs(), got)) else "other"
        if any(w in name for w in ON_RTL):
            rtl = check_rtl(model, given, options, feeds)
    print("%-44s %4d of %4d nodes in %d regions, by xpuc %d; xpu-run's bits: %s%s; from onnxruntime %.1e, optimised %.1e%s" % (
        name, len(here), len(report["nodes"]), report["regions"], len(by_xpuc), bits or "-", rtl, *far,
        "; not on the chip, by xpuc they are: %s" % missing if missing else ""), flush=True)
    return by_xpuc and not missing and bits != "other" and max(far) < LIMIT.get(name, LIMIT[given.get("precision", "auto")])


def main():
    count, failed = 0, []
    for name, model, options, inputs in rows(sys.argv[1], sys.argv[2:]):
        if not model.startswith("vision/") and not os.path.exists(model):
            print("skipped: %s, which is not there" % name)
            continue
        count += 1
        try:
            if not check(name, model, options, inputs):
                failed.append(name)
        except Exception as error:
            print("%s: %s: %s" % (name, type(error).__name__, str(error)[:1500]), flush=True)
            failed.append(name)
    print("onnxruntime %s: %d networks, %d failed%s" % (ort.__version__, count, len(failed), ": %s" % failed if failed else ""))
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
