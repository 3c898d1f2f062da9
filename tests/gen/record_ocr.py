#!/usr/bin/env python3
"""Records what the networks of examples/ocr read in pictures with onnxruntime: tests/demos/ocr/NAME.txt, a line for each line of
text, its corners, the mean probability, the text. What stands before and behind the networks is written here once more, with
numpy: weights of a resampling are a matrix, the smallest rectangle is tried along each pair of neighbours on the hull.

record_ocr.py SHARED     the folder with models/onnx and models/data. Packages: onnxruntime, onnx, numpy. Needs build/bin.
"""
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.join(sys.argv[1], "models")
PICTURES = {"text": os.path.join(ROOT, "examples", "ocr", "text.png")}
PICTURES.update({n: os.path.join(SHARED, "data", n + ".jpg") for n in ("text_rec", "en_rec", "en", "text_cls", "text_det")})
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
HALF = np.full(3, 0.5)


def network(name):
    session = ort.InferenceSession(os.path.join(SHARED, "onnx", name + ".onnx"), providers=["CPUExecutionProvider"])
    return lambda x: session.run(None, {"x": x})[0][0]


def pixels(path):
    """[height, width, 3], by xpu-run on ref through a network that does nothing."""
    xpuc, xpu_run = (os.path.join(ROOT, "build", "bin", n) for n in ("xpuc", "xpu-run"))
    info = [helper.make_tensor_value_info(n, 1, [1, 3, "h", "w"]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", info[:1], info[1:])
    with tempfile.TemporaryDirectory() as folder:
        model, program, out = (os.path.join(folder, n) for n in ("m.onnx", "m.xpu", "m.npz"))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), model)
        subprocess.check_call([xpuc, "-q", model, "-o", program])
        subprocess.check_call([xpu_run, "-q", program, "-d", "ref", "--image=" + path, "--mean=0", "--std=1", "-o", out])
        with np.load(out) as file:
            return np.round(file["y"][0].transpose(1, 2, 0) * 255.0)


def weights(source, target):
    """[target, source]: a triangle around each target pixel, as wide as a pixel of the coarser side."""
    step = source / target
    distance = np.abs((np.arange(target)[:, None] + 0.5) * step - (np.arange(source)[None] + 0.5))
    w = np.maximum(1 - distance / max(step, 1), 0)
    return w / w.sum(1, keepdims=True)


def planes(picture, width, height, room, mean, deviation):
    scaled = np.einsum("yY,xX,YXc->yxc", weights(picture.shape[0], height), weights(picture.shape[1], width), picture, optimize=True)
    x = np.zeros((1, 3, height, room), np.float32)
    x[0, :, :, :width] = ((scaled[:, :, ::-1] / 255 - mean) / deviation).transpose(2, 0, 1)
    return x


def regions(mask):
    """Lists of (y, x) that hang together, also across corners."""
    left = {(int(y), int(x)) for y, x in zip(*np.nonzero(mask))}
    while left:
        region, waiting = [], [left.pop()]
        while waiting:
            y, x = waiting.pop()
            region.append((y, x))
            near = {(y + i, x + k) for i in (-1, 0, 1) for k in (-1, 0, 1)} & left
            left -= near
            waiting += near
        yield region


def hull(points):
    def half(points):
        chain = []
        for x, y in points:
            while len(chain) > 1 and (chain[-1][0] - chain[-2][0]) * (y - chain[-2][1]) <= (chain[-1][1] - chain[-2][1]) * (x - chain[-2][0]):
                chain.pop()
            chain.append((x, y))
        return chain[:-1]
    points = sorted(set(points))
    return np.array(half(points) + half(points[::-1]), float)


def rectangle(points):
    """(corner top left, direction, width, height) of the smallest rectangle, its first side nearest to x."""
    corners, best = hull(points), None
    for a, b in [(np.zeros(2), np.array([1.0, 0.0]))] + list(zip(corners, np.roll(corners, -1, 0))):
        angle = math.atan2(*(b - a)[::-1])
        angle -= math.pi / 2 * round(angle / (math.pi / 2))
        d = np.array([math.cos(angle), math.sin(angle)])
        u, v = corners @ d, corners @ np.array([-d[1], d[0]])
        width, height = np.ptp(u), np.ptp(v)
        if best is None or width * height < best[2] * best[3] - 1e-9:
            best = (u.min() * d + v.min() * np.array([-d[1], d[0]]), d, width, height)
    return best


def find_boxes(chart):
    ys, xs = np.mgrid[:chart.shape[0], :chart.shape[1]] + 0.5
    for region in regions(chart > 0.3):
        outline = [(x + i, y + k) for y, x in region for i in (0, 1) for k in (0, 1)]
        corner, d, width, height = rectangle(outline)
        if min(width, height) < 3:
            continue
        across, down = (xs - corner[0]) * d[0] + (ys - corner[1]) * d[1], (ys - corner[1]) * d[0] - (xs - corner[0]) * d[1]
        inside = (across >= 0) & (down >= 0) & (across <= width) & (down <= height)
        if chart[inside].mean() < 0.6:
            continue
        grow = 1.8 * width * height / (2 * (width + height))
        side = np.array([-d[1], d[0]])
        if min(width, height) + 2 * grow >= 5:
            start = corner - grow * d - grow * side
            yield np.array([start + i * (width + 2 * grow) * d + k * (height + 2 * grow) * side for i, k in ((0, 0), (1, 0), (1, 1), (0, 1))])


def sample(picture, at):
    """Between pixels; at: [..., (x, y)]."""
    at = at - 0.5
    low = np.floor(at).astype(int)
    part = at - low
    get = lambda i, k: picture[np.clip(low[..., 1] + k, 0, picture.shape[0] - 1), np.clip(low[..., 0] + i, 0, picture.shape[1] - 1)]
    x, y = part[..., :1], part[..., 1:]
    return np.floor((get(0, 0) * (1 - x) + get(1, 0) * x) * (1 - y) + (get(0, 1) * (1 - x) + get(1, 1) * x) * y + 0.5)


def sides(box):
    return np.linalg.norm(box[1] - box[0]), np.linalg.norm(box[2] - box[1])


def cut(picture, box):
    width, height = (max(1, math.floor(s + 0.5)) for s in sides(box))
    u, v = np.meshgrid((np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height)
    line = sample(picture, box[0] + u[..., None] * (box[1] - box[0]) + v[..., None] * (box[3] - box[0]))
    return np.rot90(line) if height >= 1.5 * width else line


def in_reading_order(boxes):
    boxes, ordered = sorted(boxes, key=lambda b: b.mean(0)[1]), []
    while boxes:
        top, reach = boxes[0].mean(0)[1], sides(boxes[0])[1] / 2
        row = [b for b in boxes if b.mean(0)[1] - top < reach]
        ordered += sorted(row, key=lambda b: b.mean(0)[0])
        boxes = boxes[len(row):]
    return ordered


def detect(detector, picture):
    height, width = picture.shape[:2]
    up = max(math.ceil((width / 8 - height) / 2), 0)
    roomy = np.pad(picture, ((up, up), (0, 0), (0, 0)), "edge")
    scale = min(960 / max(roomy.shape[:2]), 1)
    h, w = (max(round(side * scale / 32), 1) * 32 for side in roomy.shape[:2])
    chart = detector(planes(roomy, w, h, w, MEAN, DEVIATION))[0]
    return in_reading_order([b * [width / w, roomy.shape[0] / h] - [0, up] for b in find_boxes(chart)])


def read(classifier, recogniser, characters, line):
    fit = lambda most: min(math.ceil(48 * line.shape[1] / line.shape[0]), most)
    if classifier(planes(line, fit(192), 48, 192, HALF, HALF))[1] > 0.9:
        line = line[::-1, ::-1]
    width = fit(2048)
    rows = recogniser(planes(line, width, 48, max((width + 7) // 8 * 8, 32), HALF, HALF))
    best = rows.argmax(1)
    kept = [i for i, c in enumerate(best) if c and (i == 0 or best[i - 1] != c)]
    return "".join(characters[best[i]] for i in kept), np.mean([rows[i, best[i]] for i in kept] or [0])


def main():
    with open(os.path.join(SHARED, "data", "ppocr_keys_v1.txt"), encoding="utf-8") as file:
        characters = ["", *file.read().split("\n"), " "]
    detector, classifier, recogniser = (network(n) for n in ("ch_PP-OCRv4_det_infer", "ch_ppocr_mobile_v2.0_cls_infer", "ch_PP-OCRv4_rec_infer"))
    for name, path in PICTURES.items():
        picture = pixels(path)
        with open(os.path.join(ROOT, "tests", "demos", "ocr", name + ".txt"), "w", encoding="utf-8") as file:
            for box in detect(detector, picture):
                text, mean = read(classifier, recogniser, characters, cut(picture, box))
                if text:
                    print(*(f"{x:.1f},{y:.1f}" for x, y in box), f"{mean:.3f}  {text}", file=file)


if __name__ == "__main__":
    main()
