"""Tensors in and out: NumPy where it is installed, the buffer protocol everywhere."""

import ast
import ctypes
import struct
import sys
from typing import Any, Iterator, List, Optional, Sequence, Tuple, Union

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

from ._native import MAX_RANK, RawTensor, encode

#: By element type: bytes, the letter of struct (bfloat16 has none), NumPy's name for the bytes
_TYPES = {"bool": (1, "?", "|b1"), "int8": (1, "b", "|i1"), "uint8": (1, "B", "|u1"), "int16": (2, "h", "<i2"),
          "uint16": (2, "H", "<u2"), "int32": (4, "i", "<i4"), "uint32": (4, "I", "<u4"), "int64": (8, "q", "<i8"),
          "uint64": (8, "Q", "<u8"), "float16": (2, "e", "<f2"), "bfloat16": (2, "", "<V2"), "float32": (4, "f", "<f4"),
          "float64": (8, "d", "<f8")}
_BY_LETTER = {letter: name for name, (_, letter, _) in _TYPES.items() if letter}
_BY_LETTER.update({"l": "int64", "L": "uint64", "c": "uint8"})


def _count(shape: Sequence[int]) -> int:
    count = 1
    for dim in shape:
        count *= dim
    return count


def _nested(items: List[Any], shape: Sequence[int]) -> Any:
    if len(shape) < 2:
        return items if shape else items[0]
    part = _count(shape[1:])
    return [_nested(items[i * part:(i + 1) * part], shape[1:]) for i in range(shape[0])]


class Tensor:
    """Elements of one type in row-major order: what results are where NumPy is not installed.

    It is a sequence along its first axis; `tolist()` gives nested lists, `data` the bytes, and `numpy.asarray` takes it
    without a copy. `Tensor(buffer, dtype, shape)` gives bytes of elsewhere a type and a shape.
    """

    __slots__ = ("dtype", "shape", "data")

    def __init__(self, data: Any, dtype: str, shape: Sequence[int]) -> None:
        if dtype not in _TYPES:
            raise ValueError("%r is no element type: %s" % (dtype, ", ".join(_TYPES)))
        self.dtype = dtype  #: "float32"
        self.shape: Tuple[int, ...] = tuple(int(d) for d in shape)
        view = memoryview(data)
        is_plain = view.c_contiguous and view.nbytes > 0
        self.data = view.cast("B") if is_plain else memoryview(view.tobytes())
        if self.data.nbytes != _count(self.shape) * _TYPES[dtype][0]:
            raise ValueError("%d bytes are no %s%s" % (self.data.nbytes, dtype, list(self.shape)))

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return _count(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes they take."""
        return self.data.nbytes

    @property
    def __array_interface__(self) -> Any:
        return {"shape": self.shape, "typestr": _TYPES[self.dtype][2], "version": 3, "data": self.data}

    def elements(self) -> List[Any]:
        """All elements, in order."""
        letter = _TYPES[self.dtype][1]
        if letter:
            return list(struct.unpack("<%d%s" % (self.size, letter), self.data))
        halves = struct.unpack("<%dH" % self.size, self.data)
        return list(struct.unpack("<%df" % self.size, struct.pack("<%dI" % self.size, *[h << 16 for h in halves])))

    def tolist(self) -> Any:
        """Nested lists of Python's numbers; of a scalar the number."""
        return _nested(self.elements(), self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __getitem__(self, index: int) -> Any:
        length = len(self)
        if not -length <= index < length:
            raise IndexError("index %d of %d" % (index, length))
        size = self.nbytes // length
        part = self.data[index % length * size:(index % length + 1) * size]
        inner = Tensor(part, self.dtype, self.shape[1:])
        return inner if inner.shape else inner.tolist()

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tensor) and (self.dtype, self.shape, self.data) == (other.dtype, other.shape,
                                                                                    other.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        few = self.elements() if self.size <= 8 else Tensor(self.data[:8 * _TYPES[self.dtype][0]], self.dtype,
                                                            [8]).elements()
        return "<xpu.Tensor %s%s: %s%s>" % (self.dtype, list(self.shape), ", ".join("%.6g" % x for x in few),
                                           ", ..." if self.size > 8 else "")


Array = Union["numpy.ndarray", Tensor]  # what results are


def _address(view: memoryview) -> Tuple[int, Any]:
    """Where the bytes of a contiguous view lie, and what has to be kept meanwhile: a copy of what is read-only."""
    if not view.nbytes:
        return 0, view
    if view.readonly:
        copy = ctypes.create_string_buffer(view.tobytes(), view.nbytes)
        return ctypes.addressof(copy), copy
    return ctypes.addressof(ctypes.c_char.from_buffer(view)), view


def _of_buffer(value: Any) -> Tensor:
    view = memoryview(value)
    letter = view.format.lstrip("@=<") or "B"
    if letter not in _BY_LETTER:
        raise TypeError("elements of format %r are no tensor's" % view.format)
    return Tensor(view, _BY_LETTER[letter], view.shape or ())


def _shape_of(value: Any) -> List[int]:
    shape: List[int] = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return shape


def _flatten(value: Any, shape: Sequence[int], into: List[Any]) -> None:
    if not shape:
        into.append(value)
        return
    if not isinstance(value, (list, tuple)) or len(value) != shape[0]:
        raise ValueError("the lists are not of equal length")
    for item in value:
        _flatten(item, shape[1:], into)


def _of_lists(value: Any, dtype: str) -> Tensor:
    """Numbers have no type of their own: they get the one that is wanted."""
    shape, items = _shape_of(value), []  # type: ignore[var-annotated]
    _flatten(value, shape, items)
    size, letter, _ = _TYPES[dtype]
    if not letter:
        words = struct.unpack("<%dI" % len(items), struct.pack("<%df" % len(items), *items))
        items, letter = [(w + 0x7fff + (w >> 16 & 1)) >> 16 for w in words], "H"
    try:
        return Tensor(struct.pack("<%d%s" % (len(items), letter), *items), dtype, shape)
    except (struct.error, OverflowError) as error:
        raise ValueError("these are no elements of %s: %s" % (dtype, error)) from None


def is_array(value: Any) -> bool:
    """Whether it is a tensor as it is, neither a number nor a list of numbers."""
    if isinstance(value, (list, tuple, int, float)):
        return False
    if isinstance(value, Tensor):
        return True
    if hasattr(value, "shape"):
        return len(value.shape) > 0
    try:
        return memoryview(value).ndim > 0
    except TypeError:
        return False


def to_raw(name: str, value: Any, wanted: Optional[str]) -> Tuple[RawTensor, Any]:
    """An input for the libraries, and what has to be kept until the call is over. wanted: the type of plain numbers."""
    raw = RawTensor(name=encode(name))
    shape: Sequence[int]
    if isinstance(value, (list, tuple, int, float)):
        value = _of_lists(value, wanted or "float32")
    elif numpy is not None and not isinstance(value, Tensor):
        value = numpy.asarray(value, order="C")
        if value.dtype.byteorder == ">":
            value = value.astype(value.dtype.newbyteorder("<"))
        dtype, shape, address, keep = value.dtype.name, value.shape, value.ctypes.data, value
        if value.dtype.kind == "V" and value.dtype.itemsize == 2 and wanted == "bfloat16":
            dtype = "bfloat16"
    elif not isinstance(value, Tensor):
        try:
            value = _of_buffer(value)
        except TypeError as error:
            raise TypeError("input '%s': %s is no tensor: give lists, a NumPy array, an xpu.Tensor or an object with "
                            "the buffer protocol (%s)" % (name, type(value).__name__, error)) from None
    if isinstance(value, Tensor):
        address, keep = _address(value.data)
        dtype, shape = value.dtype, value.shape
    if len(shape) > MAX_RANK:
        raise ValueError("input '%s' has %d axes, at most %d are possible" % (name, len(shape), MAX_RANK))
    raw.dtype = encode(dtype)
    raw.rank = len(shape)
    raw.dims = (ctypes.c_int64 * MAX_RANK)(*shape)
    raw.data = address or ctypes.addressof(raw)  # nothing is read of a tensor without elements
    return raw, (keep, value)


def _numpy_type(dtype: str) -> Any:
    if dtype != "bfloat16":
        return numpy.dtype(dtype)
    ml_dtypes = sys.modules.get("ml_dtypes")
    return numpy.dtype(ml_dtypes.bfloat16 if ml_dtypes else "<V2")


def of_bytes(data: Any, dtype: str, shape: Sequence[int]) -> Array:
    """A result from bytes that are nobody else's."""
    if numpy is None:
        return Tensor(data, dtype, shape)
    if not len(data):
        return numpy.empty(shape, _numpy_type(dtype))
    return numpy.frombuffer(data, _numpy_type(dtype)).reshape(shape)


def of_raw(raw: RawTensor) -> Array:
    """A result of the libraries, copied."""
    shape, dtype = raw.dims[:raw.rank], raw.dtype.decode()
    data = bytearray(_count(shape) * _TYPES[dtype][0])
    if data:
        ctypes.memmove((ctypes.c_char * len(data)).from_buffer(data), raw.data, len(data))
    return of_bytes(data, dtype, shape)


# ---- .npy files ----

_BY_DESCR = {descr: name for name, (_, _, descr) in _TYPES.items()}
_BY_DESCR.update({"|V2": "bfloat16"})


def npy_of(content: bytes) -> Array:
    """The tensor of a .npy file's content."""
    wide = content[6] > 1
    begin = 12 if wide else 10
    length = struct.unpack_from("<I" if wide else "<H", content, 8)[0]
    header = ast.literal_eval(content[begin:begin + length].decode("latin-1"))
    return of_bytes(bytearray(content[begin + length:]), _BY_DESCR[header["descr"]], header["shape"])


def read_npy(path: str) -> Array:
    """A file that a dump has."""
    with open(path, "rb") as file:
        return npy_of(file.read())


def npy_bytes(value: Any, name: str = "") -> bytes:
    """The content of a .npy file with this tensor."""
    raw, keep = to_raw(name, value, None)
    shape, dtype = raw.dims[:raw.rank], raw.dtype.decode()
    if dtype not in _TYPES:
        raise TypeError("tensor '%s': elements of %s are no tensor's: %s" % (name, dtype, ", ".join(_TYPES)))
    size = _count(shape) * _TYPES[dtype][0]
    header = "{'descr': %r, 'fortran_order': False, 'shape': (%s), }" % (_TYPES[dtype][2],
                                                                        "".join("%d, " % d for d in shape))
    header = header.ljust((10 + len(header) + 64) // 64 * 64 - 11) + "\n"
    data = ctypes.string_at(raw.data, size) if size else b""
    del keep
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode("latin-1") + data
