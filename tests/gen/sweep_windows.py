"""Cases of record_sweep.py: transposed convolutions, and resampling."""
import numpy as np

from sweep_cases import F32, FLOATS, Case, label, name_of, values


def transposed_convolutions():
    """(x, w, attributes). Kernels that the stride divides, longer and shorter ones; phases that no tap reaches."""
    forms = [((1, 2, 7), (2, 3, 3), {}), ((2, 3, 5, 6), (3, 4, 2, 2), dict(strides=[2, 2])),
             ((1, 4, 5, 6), (4, 6, 4, 4), dict(strides=[2, 2], pads=[1, 1, 1, 1])), ((1, 4, 6, 5), (4, 2, 3, 3), dict(strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])),
             ((1, 3, 4, 4), (3, 2, 1, 1), dict(strides=[2, 3], output_padding=[1, 2])), ((1, 4, 5, 5), (4, 1, 4, 4), dict(strides=[2, 2], pads=[1, 1, 1, 1], group=4)),
             ((1, 6, 4, 5), (6, 2, 3, 2), dict(strides=[2, 1], group=3, pads=[0, 1, 2, 0])), ((2, 2, 5, 4), (2, 3, 3, 3), dict(dilations=[2, 2])),
             ((1, 2, 5, 4), (2, 3, 3, 4), dict(strides=[2, 3], dilations=[2, 2], pads=[1, 2, 0, 1])), ((1, 2, 4, 5), (2, 2, 3, 2), dict(strides=[3, 2], dilations=[2, 3])),
             ((1, 3, 5, 4), (3, 2, 3, 3), dict(strides=[2, 2], auto_pad="SAME_UPPER")), ((1, 3, 5, 4), (3, 2, 4, 3), dict(strides=[2, 2], auto_pad="SAME_LOWER")),
             ((1, 3, 4, 4), (3, 2, 1, 1), dict(strides=[2, 2], auto_pad="SAME_UPPER")), ((1, 2, 3, 3), (2, 2, 3, 3), dict(strides=[3, 2], output_shape=[10, 8])),
             ((1, 2, 3, 3), (2, 2, 3, 3), dict(strides=[3, 2], output_shape=[8, 6], auto_pad="SAME_UPPER")), ((1, 2, 3, 3), (2, 2, 3, 3), dict(strides=[2, 2], output_shape=[5, 6], kernel_shape=[3, 3])),
             ((1, 2, 5), (2, 3, 16), dict(strides=[8], pads=[4, 4])), ((2, 2, 4), (2, 2, 5), dict(strides=[2], pads=[4, 3])),
             ((1, 2, 3, 4), (2, 3, 3, 3), dict(pads=[1, 1, 1, 1], auto_pad="NOTSET")), ((1, 2, 3, 4), (2, 3, 3, 2), dict(auto_pad="VALID", strides=[2, 2])),
             ((1, 2, 6, 6), (2, 1, 2, 2), dict(pads=[3, 2, 2, 3])), ((1, 20, 3, 3), (20, 24, 4, 4), dict(strides=[4, 4])), ((1, 1, 1, 1), (1, 1, 1, 1), {}),
             ((1, 3, 2, 2), (3, 1, 8, 8), dict(strides=[5, 5], pads=[2, 1, 0, 3], group=3)), ((1, 2, 2, 1), (2, 1, 18, 16), dict(strides=[9, 8], pads=[0, 3, 1, 0]))]
    for i, (x, w, attributes) in enumerate(forms):
        group = attributes.get("group", 1)
        inputs = [values(F32, x, i, "small"), values(F32, w, i + 9, "small"), values(F32, (w[1] * group,), i + 20, "small")]
        yield Case(label(F32, x, w) + f"_{i}", inputs[:2], attributes, constants=[1])
        yield Case(label(F32, x, w) + f"_{i}_bias", inputs, attributes, constants=[1, 2])
    yield Case("image", [values(F32, (2, 3, 8, 6), 9, "small"), values(F32, (3, 5, 4, 4), 8, "small")], dict(strides=[2, 2], pads=[1, 1, 1, 1]), constants=[1], image=True)
    yield Case("three_dims", [values(F32, (1, 2, 3, 3, 3), 1, "small"), values(F32, (2, 2, 2, 2, 2), 2, "small")], {}, constants=[1])
    yield Case("computed_weights", [values(F32, (1, 2, 5, 5), 1, "small"), values(F32, (2, 3, 3, 3), 2, "small")], dict(strides=[2, 2]))


COORDINATES = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "tf_half_pixel_for_nn", "half_pixel_symmetric"]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
# Opset 11 on: shape, sizes or scales.
SIZES = [((1, 2, 5, 4), (1, 2, 10, 12)), ((1, 3, 6, 7), (1, 3, 9, 4)), ((2, 1, 4, 6), (2, 1, 4, 3)), ((1, 2, 3, 1), (1, 2, 1, 5))]
SCALES = [((1, 2, 5, 4), (1, 1, 2, 3)), ((1, 2, 5, 7), (1, 1, 0.6, 1.7)), ((2, 3, 4, 4), (1, 1, 0.5, 0.25))]


def resize_inputs(version, data, scales=None, sizes=None, roi=None):
    """The inputs of one form, and which of them are constants."""
    scales = None if scales is None else np.array(scales, np.float32)
    if version < 11:
        return [data, scales], [1]
    if version < 13 and scales is None:
        scales = np.array([], np.float32)
    if version < 13 and roi is None:
        roi = np.array([], np.float32)
    return [data, None if roi is None else np.array(roi, np.float32), scales, None if sizes is None else np.array(sizes, np.int64)], [1, 2, 3]


def scales_of(shape, form):
    """An axis that stays as it is is not computed: 0 times an infinity is not seen there."""
    return form["scales"] if "scales" in form else [s / n for s, n in zip(form["sizes"], shape)]


def resized(version, name, data, attributes, more=(), **form):
    inputs, constants = resize_inputs(version, data, **form)
    return Case(name, inputs, dict(attributes, **dict(more)), constants=constants)


def resizes(version, types):
    for dtype in types:
        data = values(dtype, (1, 2, 5, 4), 3)
        yield resized(version, f"{name_of(dtype)}_twice", data, {"mode": "nearest", **({} if version < 11 else {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"})}, scales=[1, 1, 2, 2])
        yield resized(version, f"{name_of(dtype)}_nearest", data, {"mode": "nearest"}, scales=[1, 1, 1.4, 0.75])
        if dtype in FLOATS[:1] or dtype in (np.dtype("float16"), np.dtype("int8"), np.dtype("uint8"), np.dtype("int32")):
            small = values(dtype, (1, 2, 5, 4), 3, "small")
            yield resized(version, f"{name_of(dtype)}_linear", small, {"mode": "linear"}, scales=[1, 1, 2, 4])
    if version < 11:
        for i, (shape, scales) in enumerate(SCALES):
            for mode in ("nearest", "linear"):
                yield resized(version, f"{mode}_{i}", values(F32, shape, i), {"mode": mode}, scales=scales)
        yield resized(version, "flat", values(F32, (3, 7), 5), {"mode": "nearest"}, scales=[2, 1.5])
        return
    for k, coordinates in enumerate(COORDINATES[:6 if version >= 19 else 5]):
        more = {"coordinate_transformation_mode": coordinates}
        exact = coordinates == "half_pixel_symmetric"  # onnxruntime's coordinates of other scales are not those of its formula
        for i in (0, 2, 4, 6) if exact else range(len(SIZES) + len(SCALES)) if version in (11, 19) else (1, 5):
            form = dict(sizes=SIZES[i][1]) if i < len(SIZES) else dict(scales=SCALES[i - len(SIZES)][1])
            shape = (SIZES + SCALES)[i][0]
            for rounding in ROUNDINGS:
                yield resized(version, f"nearest_{coordinates}_{rounding}_{i}", values(F32, shape, i), {"mode": "nearest", "nearest_mode": rounding}, more, **form)
            if coordinates == "tf_half_pixel_for_nn":
                continue
            yield resized(version, f"linear_{coordinates}_{i}", values(F32, shape, i, "small" if 1 in scales_of(shape, form)[2:] else "any"), {"mode": "linear"}, more, **form)
            yield resized(version, f"cubic_{coordinates}_{i}", values(F32, shape, i, "small"), {"mode": "cubic"}, more, **form)
            yield resized(version, f"cubic_{coordinates}_inside_{i}", values(F32, shape, i, "small"), {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5}, more, **form)
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.5}
    for mode in ("nearest", "linear", "cubic"):
        yield resized(version, f"crop_{mode}", values(F32, (1, 2, 6, 5), 4, "small"), {"mode": mode}, crop, sizes=(1, 2, 4, 7), roi=(0, 0, 0.2, -0.3, 1, 1, 0.8, 1.2))
    for mode in ("nearest", "linear"):
        yield resized(version, f"flat_{mode}", values(F32, (4, 6), 5), {"mode": mode}, sizes=(7, 4))
    yield resized(version, "deep", values(F32, (1, 2, 3, 4, 3), 5), {"mode": "nearest"}, sizes=(1, 2, 6, 8, 6))
    yield resized(version, "same", values(F32, (1, 2, 3, 4), 5), {"mode": "linear"}, sizes=(1, 2, 3, 4))
    inputs, constants = resize_inputs(version, values(F32, (2, 5, 8, 6), 9, "small"), sizes=(2, 5, 7, 9))
    yield Case("image", inputs, {"mode": "linear"}, constants=constants, image=True)
    if version >= 18:
        yield from later_resizes(version)


def later_resizes(version):
    x = values(F32, (1, 2, 9, 8), 6, "small")
    for i, scales in enumerate([(1, 1, 0.4, 0.5), (1, 1, 1.5, 0.3)]):
        for mode in ("linear", "cubic"):
            for inside in (0, 1) if mode == "cubic" else (0,):
                yield resized(version, f"antialias_{mode}_{inside}_{i}", x, {"mode": mode, "antialias": 1, "exclude_outside": inside}, scales=scales)
    yield resized(version, "axes", x, {"mode": "linear", "axes": [3, 2]}, sizes=(5, 12))
    yield resized(version, "axes_nearest", x, {"mode": "nearest", "axes": [-2]}, scales=[1.5])
    for policy in ("not_larger", "not_smaller", "stretch"):
        yield resized(version, policy, x, {"mode": "nearest", "keep_aspect_ratio_policy": policy, "axes": [2, 3]}, sizes=(5, 6))
        yield resized(version, policy + "_linear", x, {"mode": "linear", "keep_aspect_ratio_policy": policy, "axes": [2, 3]}, sizes=(20, 11))


def upsamples(version, types):
    for dtype in types:
        for mode in ("nearest", "linear"):
            if mode == "linear" and dtype not in (F32, np.dtype("int8"), np.dtype("uint8"), np.dtype("int32")):
                continue
            for i, (shape, scales) in enumerate([((1, 2, 5, 4), (1, 1, 2, 2)), ((1, 3, 4, 5), (1, 1, 1.5, 3)), ((2, 2, 3, 3), (1, 1, 4, 2.5))][:3 if mode == "nearest" or dtype == F32 else 1]):
                data, name = values(dtype, shape, i, "any" if mode == "nearest" else "small"), f"{name_of(dtype)}_{mode}_{i}"
                scales = [float(s) for s in scales]
                if version < 9:
                    yield Case(name, [data], {"mode": mode, "scales": scales})
                else:
                    yield Case(name, [data, np.array(scales, np.float32)], {"mode": mode}, constants=[1])
