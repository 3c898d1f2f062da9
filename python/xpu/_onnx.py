"""ONNX files, written without the package onnx: messages of protobuf as bytes."""

import struct
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

#: Numbers of ONNX's element types, by NumPy's names.
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
         "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16}

Dim = Union[int, str]
Attribute = Union[int, float, str, Sequence[int], Sequence[float]]


def _varint(number: int) -> bytes:
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _int(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, content: Union[bytes, str]) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _float(field: int, number: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", number)


def tensor(name: str, array: Any) -> bytes:
    """A constant of a NumPy array."""
    data = array.tobytes() if array.dtype.byteorder != ">" else array.byteswap().tobytes()
    return b"".join(_int(1, d) for d in array.shape) + _int(2, TYPES[array.dtype.name]) + _bytes(8, name) + _bytes(9, data)


def value(name: str, dtype: str, shape: Sequence[Dim]) -> bytes:
    """An input or output; a text stands for a dim that is open."""
    dims = b"".join(_bytes(1, _bytes(2, d) if isinstance(d, str) else _int(1, d)) for d in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _int(1, TYPES[dtype]) + _bytes(2, dims)))


def _attribute(name: str, given: Attribute) -> bytes:
    if isinstance(given, str):
        content = _bytes(4, given) + _int(20, 3)
    elif isinstance(given, float):
        content = _float(2, given) + _int(20, 1)
    elif isinstance(given, int):
        content = _int(3, given) + _int(20, 2)
    elif given and isinstance(given[0], float):
        content = b"".join(_float(7, v) for v in given) + _int(20, 6)
    else:
        content = b"".join(_int(8, int(v)) for v in given) + _int(20, 7)
    return _bytes(1, name) + content


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], name: str,
         attributes: Optional[Mapping[str, Attribute]] = None) -> bytes:
    """An operator of ONNX's own domain; "" is an operand that is absent."""
    return (b"".join(_bytes(1, i) for i in inputs) + b"".join(_bytes(2, o) for o in outputs) + _bytes(3, name) +
            _bytes(4, op) + b"".join(_bytes(5, _attribute(k, v)) for k, v in (attributes or {}).items()))


def model(nodes: List[bytes], inputs: List[bytes], outputs: List[bytes], constants: List[bytes],
          opset: int = 17) -> bytes:
    """A whole file."""
    parts: Tuple[Tuple[int, List[bytes]], ...] = ((1, nodes), (5, constants), (11, inputs), (12, outputs))
    graph = _bytes(2, "graph") + b"".join(_bytes(field, part) for field, items in parts for part in items)
    return _int(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _int(2, opset))
