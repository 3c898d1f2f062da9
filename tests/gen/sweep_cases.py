"""What the cases of record_sweep.py are made of: element types, data, one node."""
import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(t) for t in ("float32", "float16")] + [BF16]
SIGNED = [np.dtype(t) for t in ("int8", "int16", "int32", "int64")]
UNSIGNED = [np.dtype(t) for t in ("uint8", "uint16", "uint32", "uint64")]
BOOL, F32 = np.dtype(bool), np.dtype("float32")
ALL = FLOATS + SIGNED + UNSIGNED + [BOOL]


def code_of(dtype):
    return TensorProto.BFLOAT16 if dtype == BF16 else helper.np_dtype_to_tensor_dtype(dtype)


def name_of(dtype):
    return "bfloat16" if dtype == BF16 else dtype.name


# ---- data ----

def special(dtype):
    """Values at which operators go wrong."""
    if dtype == BOOL:
        return [True, False]
    if dtype in FLOATS:
        info = ml_dtypes.finfo(dtype)
        return [np.nan, np.inf, -np.inf, 0.0, -0.0, float(info.smallest_subnormal), -float(info.tiny),
                float(info.max), float(info.min), 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, -0.5, 3.0, -7.0, 88.0, -104.0]
    info = np.iinfo(dtype)
    return [info.min, info.max, 0, 1, 2, 7, info.max // 2, info.max - 1, info.min + 1, info.max // 3]


def values(dtype, shape, seed, draw="any"):
    """Data of a shape: special values where `draw` is "any", then random ones. "small": -8 .. 8; "divisor": no zero."""
    random = np.random.default_rng(seed)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == BOOL:
        return random.integers(0, 2, shape).astype(bool)
    if dtype in FLOATS:
        data = random.normal(0, 3, count)
        if draw == "small":
            data = np.round(data * 2) / 2
        data = data.astype(dtype)
    elif draw == "any":
        info = np.iinfo(dtype)
        data = random.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    else:
        low = 0 if dtype in UNSIGNED else -8
        data = random.integers(low, 8, count, endpoint=True).astype(dtype)
    if draw == "any":
        where = random.permutation(count)
        for place, value in zip(where, random.permutation(np.array(special(dtype), dtype=object))):
            data[place] = np.array(value).astype(dtype) if dtype in FLOATS else value
    if draw == "divisor":
        data[data == 0] = 3
    return data.reshape(shape)


class Case:
    """One node: its inputs by position (None: absent), which of them are constants of the model, and attributes."""

    def __init__(self, name, inputs, attributes=None, constants=(), image=False, outputs=1):
        self.name, self.inputs, self.attributes = name, inputs, attributes or {}
        self.constants, self.image, self.outputs = set(constants), image, outputs


def label(dtype, *shapes):
    return "_".join([name_of(dtype)] + ["x".join(map(str, s)) or "scalar" for s in shapes])
