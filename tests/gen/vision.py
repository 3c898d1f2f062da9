#!/usr/bin/env python3
"""The networks of paddle.vision, with the standard library alone.
    vision.py unpack FOLDER small|full [NAME]...  of tests/paddle/vision.tar.xz: programs in FOLDER in both forms, with
                                                     seeded parameters, an image (NAME.npy), PaddlePaddle's answer (NAME.out)
    vision.py vgg16 FOLDER                           vgg16.json there: vgg11 with one more convolution before each pooling
    vision.py list small|full                        their names and their images' dims
    vision.py compare OUT.npz NAME.out [LIMIT]       max |difference| / max |PaddlePaddle's| of each output, the worst of
                                                     them; exit status 1 where it is above LIMIT
Every element of a parameter is one of 256 values, drawn by the parameter's name and as wide as its fan-in asks for. Means
and variances of batch norms are two bytes per channel, as record_vision.py measured them."""
import array
import json
import math
import os
import random
import struct
import sys
import tarfile
import zipfile

import paddle_files

ARCHIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "paddle", "vision.tar.xz")


def floats(draws, table):
    """A float32 of the table for each byte: its four bytes are translated plane by plane, which is fast."""
    planes = array.array("f", table).tobytes()
    raw = bytearray(4 * len(draws))
    for k in range(4):
        raw[k::4] = draws.translate(planes[k::4])
    return bytes(raw)


def spread(centre, deviation):
    return [centre + deviation * (k - 127.5) / 73.9 for k in range(256)]


def drawn(name, dims):
    """A parameter's bytes: w_0 and b_0 of convolutions, products, batch norms."""
    draws = random.Random(name).randbytes(math.prod(dims))
    if len(dims) == 4:
        return floats(draws, spread(0, math.sqrt(2 / math.prod(dims[1:]))))
    if len(dims) == 2:
        return floats(draws, spread(0, math.sqrt(2 / dims[0])))
    return floats(draws, spread(1, 0.2) if name.rsplit(".", 1)[-1] == "w_0" else spread(0, 0.2))


def image(seed, dims):
    return floats(random.Random(f"image {seed}").randbytes(math.prod(dims)), [(k - 128) / 64 for k in range(256)])


# ---- means and variances ----

def code(mean, variance):
    """A channel's deviation in steps of 2^(1/8), and its mean in sixteenths of that: two bytes."""
    step = min(255, max(0, round(8 * math.log2(max(variance, 1e-20)) / 2) + 128))
    return step, min(255, max(0, round(16 * mean / deviation(step)) + 128))


def deviation(step):
    return 2 ** ((step - 128) / 8)


DEVIATIONS = [deviation(step) for step in range(256)]


def means(steps, places):
    return array.array("f", [(p - 128) / 16 * DEVIATIONS[s] for s, p in zip(steps, places)]).tobytes()


def variances(steps):
    return array.array("f", [DEVIATIONS[s] ** 2 for s in steps]).tobytes()


def parameter(name, dims, codes):
    """codes: of the batch norms' channels by the norm's name, (steps, places)."""
    norm, _, kind = name.rpartition(".")
    if kind == "w_1":
        return means(*codes[norm])
    return variances(codes[norm][0]) if kind == "w_2" else drawn(name, dims)


def split(stats, dims):
    """The codes in NAME.stats: of every norm in the order of names its steps, then of every norm its places."""
    names = sorted(name[:-4] for name in dims if name.endswith(".w_1"))
    codes, half, at = {}, len(stats) // 2, 0
    for name in names:
        count = dims[name + ".w_1"][0]
        codes[name] = stats[at:at + count], stats[half + at:half + at + count]
        at += count
    assert at == half
    return codes


# ---- files ----

def parameters(program):
    """Dims by name, and the image's, of a PIR program."""
    ops = program["program"]["regions"][0]["blocks"][0]["ops"]
    dims = {op["A"][3]: op["O"]["TT"]["D"][1] for op in ops if op["#"] == "p"}
    return dims, next(op["O"][0]["TT"]["D"][1][1:] for op in ops if op["#"] == "1.data")


def write_parameters(path, dims, codes):
    with open(path, "wb") as file:
        for each in sorted(dims):
            file.write(paddle_files.record(paddle_files.FP32, dims[each], parameter(each, dims[each], codes)))


def write_image(path, dims):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % ", ".join(map(str, dims))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + image(0, dims))


def members(kind):
    with tarfile.open(ARCHIVE) as archive:
        return {m.name[len(kind) + 1:]: archive.extractfile(m).read() for m in archive if m.name.startswith(kind + "/")}


def names(files, chosen):
    return chosen or sorted(name[:-5] for name in files if name.endswith(".json"))


def unpack(folder, kind, chosen):
    files = members(kind)
    for name in names(files, chosen):
        dims, image_dims = parameters(json.loads(files[name + ".json"]))
        codes = split(files[name + ".stats"], dims)
        for ending in ("json", "pdmodel", "out"):
            with open(f"{folder}/{name}.{ending}", "wb") as file:
                file.write(files[f"{name}.{ending}"])
        write_parameters(f"{folder}/{name}.pdiparams", dims, codes)
        write_image(f"{folder}/{name}.npy", [1] + image_dims)


def another_convolution(ops, number, ids):
    """A convolution, its bias and relu like the five last of the ops, as many channels in as out, behind them; its parameters in front."""
    group = json.loads(json.dumps(ops[-5:]))
    assert [op["#"] for op in group] == ["1.conv2d", "1.full_int_array", "1.reshape", "1.add", "1.relu"]
    channels = group[0]["O"][0]["TT"]["D"][1][1]
    taken = group[4]["O"][0]["%"]
    for name, place, dims in (("b_0", group[2], [channels]), ("w_0", group[0], [channels, channels, 3, 3])):
        made = json.loads(json.dumps(ops[0]))
        made["A"][3], made["O"]["%"], made["O"]["TT"]["D"][1] = f"conv2d_{number}.{name}", next(ids), dims
        place["I"][0 if name == "b_0" else 1]["%"] = made["O"]["%"]
        ops.insert(0, made)
    for op in group:
        op["O"][0]["%"] = next(ids)
    conv, shape, reshape, add, relu = group
    conv["I"][0]["%"] = taken
    reshape["I"][1]["%"] = shape["O"][0]["%"]
    add["I"] = [{"%": conv["O"][0]["%"]}, {"%": reshape["O"][0]["%"]}]
    relu["I"][0]["%"] = add["O"][0]["%"]
    ops += group
    return relu["O"][0]["%"]


def vgg16(folder):
    program = json.loads(members("full")["vgg11.json"])
    block = program["program"]["regions"][0]["blocks"][0]
    ops, ids, number = [], iter(range(1000, 2000)), 8
    for op in block["ops"]:
        if op["#"] == "1.pool2d" and ops[-2]["#"] == "1.relu":
            window = ops.pop()
            op["I"][0]["%"] = another_convolution(ops, number, ids)
            ops.append(window)
            number += 1
        ops.append(op)
    block["ops"] = ops
    with open(f"{folder}/vgg16.json", "w") as file:
        json.dump(program, file)
    write_parameters(f"{folder}/vgg16.pdiparams", parameters(program)[0], {})


def compare(found, expected):
    """The outputs' elements, in the order of the outputs, against the file's."""
    with open(expected, "rb") as file:
        rest = array.array("f", file.read())
    worst = 0.0
    with zipfile.ZipFile(found) as archive:
        for entry in archive.namelist():
            raw = archive.read(entry)
            y = array.array("f", raw[10 + struct.unpack("<H", raw[8:10])[0]:])
            recorded, rest = rest[:len(y)], rest[len(y):]
            worst = max(worst, max(abs(a - b) if a == a else math.inf for a, b in zip(y, recorded, strict=True)) / max(map(abs, recorded)))
    assert not rest
    return worst


if __name__ == "__main__":
    if sys.argv[1] == "unpack":
        unpack(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif sys.argv[1] == "vgg16":
        vgg16(sys.argv[2])
    elif sys.argv[1] == "list":
        packed = members(sys.argv[2])
        for each in names(packed, []):
            print(each, ",".join(map(str, parameters(json.loads(packed[each + ".json"]))[1])))
    else:
        difference = compare(*sys.argv[2:4])
        print(f"{difference:.1e}")
        sys.exit(len(sys.argv) > 4 and not difference <= float(sys.argv[4]))
