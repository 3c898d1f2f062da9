#!/usr/bin/env python3
"""Records what PaddlePaddle 2.6.2 answers: record_paddle.py ocr MODELS DATA, in tests/paddle.

It takes PaddlePaddle (2.6.2, CPU), numpy and Pillow, and the models' folder; the tests take none of them. The pictures
are scaled to what is small enough to be kept; values are those of unoptimised programs on one thread."""
import os
import sys

os.environ["GLOG_minloglevel"] = "3"
import numpy as np
from paddle import inference
from PIL import Image

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "paddle")


def run(folder, x):
    config = inference.Config(folder + "/inference.pdmodel", folder + "/inference.pdiparams")
    config.disable_gpu()
    config.switch_ir_optim(False)
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(1)
    predictor = inference.create_predictor(config)
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    handle.reshape(x.shape)
    handle.copy_from_cpu(x)
    predictor.run()
    name = predictor.get_output_names()[0]
    return {name: predictor.get_output_handle(name).copy_to_cpu()}


def picture(path, width, height, mean, std):
    pixels = np.asarray(Image.open(path).convert("RGB").resize((width, height)), np.float32)[:, :, ::-1] / 255
    pixels = (pixels - np.float32(mean)) / np.float32(std)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None].astype(np.float32))


def ocr(models, data):
    cases = {"det": ("ch_PP-OCRv4_det", picture(data + "/ch_en_num.jpg", 160, 96, [.485, .456, .406], [.229, .224, .225])),
             "rec": ("ch_PP-OCRv4_rec", picture(data + "/text_rec.jpg", 96, 48, [.5] * 3, [.5] * 3))}
    for name, (model, x) in cases.items():
        x = np.round(x * 64) / 64  # short in the archive, and as good a picture
        np.savez_compressed(f"{HERE}/ocr_{name}_in.npz", x=x.astype(np.float32))
        np.savez_compressed(f"{HERE}/ocr_{name}_out.npz", **run(f"{models}/{model}", x.astype(np.float32)))


if sys.argv[1] == "ocr":
    ocr(*sys.argv[2:4])
