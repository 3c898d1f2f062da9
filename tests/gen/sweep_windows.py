"""Cases of record_sweep.py: transposed convolutions, and resampling."""
from sweep_cases import F32, Case, label, values


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
             ((1, 3, 2, 2), (3, 1, 8, 8), dict(strides=[5, 5], pads=[2, 1, 0, 3], group=3))]
    for i, (x, w, attributes) in enumerate(forms):
        group = attributes.get("group", 1)
        inputs = [values(F32, x, i, "small"), values(F32, w, i + 9, "small"), values(F32, (w[1] * group,), i + 20, "small")]
        yield Case(label(F32, x, w) + f"_{i}", inputs[:2], attributes, constants=[1])
        yield Case(label(F32, x, w) + f"_{i}_bias", inputs, attributes, constants=[1, 2])
    yield Case("image", [values(F32, (2, 3, 8, 6), 9, "small"), values(F32, (3, 5, 4, 4), 8, "small")], dict(strides=[2, 2], pads=[1, 1, 1, 1]), constants=[1], image=True)
    yield Case("three_dims", [values(F32, (1, 2, 3, 3, 3), 1, "small"), values(F32, (2, 2, 2, 2, 2), 2, "small")], {}, constants=[1])
    yield Case("computed_weights", [values(F32, (1, 2, 5, 5), 1, "small"), values(F32, (2, 3, 3, 3), 2, "small")], dict(strides=[2, 2]))
