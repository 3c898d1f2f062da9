"""A network of chains of operators: complex numbers are made, transformed and taken apart again."""
from paddle_cases import f, p

CHAINS = []  # operators behind each other, each on what the one before it gives: (op, operands, attributes)


def chain(*steps):
    CHAINS.append(steps)


for norm in ("backward", "ortho", "forward"):
    chain(("fft_r2c", {"X": f(3, 8)}, dict(axes=[1], normalization=norm, forward=True, onesided=True)), ("as_real", {}, {}))
chain(("fft_r2c", {"X": f(2, 4, 7)}, dict(axes=[1, 2], normalization="backward", forward=True, onesided=False)), ("as_real", {}, {}))
chain(("as_complex", {"X": f(2, 6, 2)}, {}), ("fft_c2c", {}, dict(axes=[1], normalization="backward", forward=True)), ("real", {}, {}))
chain(("as_complex", {"X": f(3, 5, 4, 2)}, {}), ("fft_c2c", {}, dict(axes=[0, 1], normalization="ortho", forward=False)), ("imag", {}, {}))
chain(("as_complex", {"X": f(2, 5, 2)}, {}), ("fft_c2r", {}, dict(axes=[1], normalization="backward", forward=False, last_dim_size=8)))
chain(("as_complex", {"X": f(4, 4, 2)}, {}), ("conj", {}, {}),
      ("fft_c2r", {}, dict(axes=[0, 1], normalization="forward", forward=False, last_dim_size=7)))
chain(("complex", {"X": f(3, 4), "Y": f(3, 4)}, {}), ("conj", {}, {}), ("as_real", {}, {}))
chain(("complex", {"X": f(2, 3), "Y": f(3)}, {}), ("abs", {}, {}))
for part in ("real", "imag"):
    chain(("complex", {"X": f(5), "Y": f(5)}, {}), ("conj", {}, {}), (part, {}, {}))
chain(("frame", {"X": f(2, 20)}, dict(frame_length=8, hop_length=4, axis=-1)), ("transpose2", {}, dict(axis=[0, 2, 1])),
      ("elementwise_mul", {"Y": p(8)}, dict(axis=-1)), ("fft_r2c", {}, dict(axes=[2], normalization="backward", forward=True, onesided=True)),
      ("transpose2", {}, dict(axis=[0, 2, 1])), ("as_real", {}, {}))
chain(("frame", {"X": f(15)}, dict(frame_length=6, hop_length=3, axis=0)), ("fft_r2c", {}, dict(axes=[1], normalization="ortho", forward=True,
                                                                                            onesided=False)), ("abs", {}, {}))
for normalized, size in ((False, 8), (True, 7)):  # onesided: the other form does not run
    chain(("stft", {"X": f(2, 20), "Window": p(size)}, dict(n_fft=size, hop_length=4, normalized=normalized, onesided=True)), ("as_real", {}, {}))


def network(net):
    """Element types of the results: complex64 but for what takes them apart."""
    for steps in CHAINS:
        x = None
        for op, operands, attrs in steps:
            taken = {slot: net.input(array) for slot, array in operands.items()}
            if x is not None:
                taken["X"] = x
            was_complex = x is not None and "complex" in str(x.dtype).lower()
            real = op in ("as_real", "real", "imag", "abs", "fft_c2r", "frame") or op in ("transpose2", "elementwise_mul") and not was_complex
            x = net.add(op, taken, "Out", ["XShape"] if op == "transpose2" else [], made="float32" if real else "complex64", **attrs)
        net.output(x)
