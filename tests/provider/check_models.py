"""The networks of docs/models.md in a stock session: nodes on the chip by name as by xpuc, and the outputs.

    check_models.py SHARED      networks that are there

A node that xpuc puts on the chip has to run there. Where every node does, outputs are those of xpuc and xpu-run bit for bit; else
near those of onnxruntime alone.
"""
import os
import sys

import numpy as np
import onnxruntime as ort
from common import is_whole, open_session, open_with_report, same

import xpu


def rows(shared):
    """Name, model, inputs; a network stands there once for each of its inputs."""
    with open("scripts/models.rows", encoding="utf-8") as file:
        for line in file:
            words = [word.strip() for word in line.split("|")]
            if line.startswith("#") or len(words) < 4 or not words[1].endswith(".onnx"):
                continue
            yield (words[0], words[1].replace("shared/", shared + "/", 1), words[3].replace("shared/", shared + "/", 1),
                   {kind: [o[len(kind) + 3:] for o in words[2].split() if o.startswith("--%s=" % kind)]
                    for kind in ("shape", "value")})


def inputs_of(path, session):
    """By name; one array alone is the only input."""
    data = np.load(path)
    wanted = session.get_inputs()
    return {wanted[0].name: data} if isinstance(data, np.ndarray) else {i.name: data[i.name] for i in wanted}


def xpuc_takes(model, sizes):
    """Which nodes have work on the chip by xpuc, by name."""
    nodes = xpu.explain(model, shapes=sizes["shape"], values=sizes["value"])["nodes"]
    return {node["name"] for node in nodes if node["layer"] and node.get("unit") != "host" and "within" not in node}


def check(name, model, inputs, sizes):
    session, report = open_with_report(model, **{kind + "s": ";".join(given) for kind, given in sizes.items() if given})
    feeds = inputs_of(inputs, session)
    got = session.run(None, feeds)
    here = {node["name"] for node in report["nodes"] if node["region"]}
    by_xpuc = xpuc_takes(model, sizes)
    missing = sorted(by_xpuc - here) if all(node["name"] for node in report["nodes"]) else []
    plain = open_session(model, provider=False).run(None, feeds)
    furthest = max(np.abs(a.astype(np.float64) - b).max() / max(np.abs(b.astype(np.float64)).max(), 1e-9)
                   for a, b in zip(got, plain))
    bits = "-"
    if is_whole(report):
        program = xpu.compile(model, shapes=sizes["shape"], values=sizes["value"])
        outputs = program.run(feeds, device="func").outputs
        bits = "equal" if all(same(outputs[o.name], g) for o, g in zip(session.get_outputs(), got)) else "other"
    print("%-44s %4d of %4d nodes in %d regions; xpu-run's bits: %s; from onnxruntime %.1e%s" % (
        name, len([n for n in report["nodes"] if n["region"]]), len(report["nodes"]), report["regions"], bits, furthest,
        "; not on the chip, by xpuc they are: %s" % missing if missing else ""), flush=True)
    return not missing and bits != "other" and furthest < 0.05


def main():
    count, failed = 0, []
    for name, model, inputs, sizes in rows(sys.argv[1]):
        if not (os.path.exists(model) and os.path.exists(inputs)):
            print("skipped: %s, which is not there" % name)
            continue
        count += 1
        try:
            if not check(name, model, inputs, sizes):
                failed.append(name)
        except Exception as error:
            print("%s: %s" % (name, str(error)[:1500]))
            failed.append(name)
    print("onnxruntime %s: %d networks, %d failed%s" % (ort.__version__, count, len(failed), ": %s" % failed if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
