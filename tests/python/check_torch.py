"""xpu.torch: results as PyTorch's, convolutions on the chip, what falls back and how it says so."""
import logging
import os
import sys
import threading
import time
import warnings

sys.path.insert(0, os.path.join("examples", "stock"))

import torch  # noqa: E402
import torch_compile  # noqa: E402
import xpu  # noqa: E402
import xpu.torch  # noqa: E402
from leaks import leaves_nothing  # noqa: E402
from quiet import quiet  # noqa: E402

SHAPE = (1, 3, 32, 32)


def fresh(model, **options):
    torch._dynamo.reset()
    return torch.compile(model, backend="xpu", options=options)


def warned(model, *inputs, **options):
    """The warnings of two runs, whose results are PyTorch's."""
    compiled = fresh(model, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            torch.testing.assert_close(compiled(*inputs), model(*inputs))
    return [str(w.message) for w in caught if "left to PyTorch" in str(w.message)]


def check_network(device, chip, precision, unit, tolerance):
    before = len(xpu.torch.programs())
    model, image = torch_compile.network(), torch.rand(SHAPE)
    compiled = fresh(model, device=device, precision=precision, chip=chip, fallback=False)
    torch.testing.assert_close(compiled(image), model(image), rtol=tolerance, atol=1e-5)
    programs = xpu.torch.programs()[before:]
    assert len(programs) == 1, programs
    layers = programs[0].run((image.numpy(),)).layers
    products = [layer.unit for layer in layers if layer.macs]
    assert len(products) >= 8 and "host" not in [layer.unit for layer in layers], [(x.op, x.unit) for x in layers]
    assert products.count(unit) >= 7, products


def check_weights():
    model, image = torch.nn.Linear(8, 4), torch.rand(2, 8)
    compiled = fresh(model, precision="fp32", fallback=False)
    for _ in range(2):
        torch.testing.assert_close(compiled(image), model(image), rtol=1e-3, atol=1e-5)
        model.weight.mul_(2)


def check_sizes():
    """The first size, and one program for those after it."""
    before = len(xpu.torch.programs())
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten())
    compiled = fresh(model, precision="fp32", fallback=False)
    for size in (8, 12, 17, 21):
        image = torch.rand(1, 3, size, size)
        torch.testing.assert_close(compiled(image), model(image), rtol=1e-3, atol=1e-5)
    assert len(xpu.torch.programs()) - before == 2, xpu.torch.programs()


def check_left():
    image = torch.rand(2, 8)
    found = warned(lambda x: torch.linalg.inv(x @ x.T + torch.eye(2)) + 1, image)
    assert len(found) == 1 and "node" in found[0] and "hint" in found[0], found
    compiled = fresh(lambda x: torch.linalg.inv(x @ x.T + torch.eye(2)) + 1, fallback=False)
    for _ in range(2):  # also where it is known that it cannot be compiled
        try:
            compiled(image)
        except xpu.ModelError as error:
            assert error.rule == "torch-export" and error.node == "linalg_inv_ex" and "inv" in error.reason and error.hint, error
        else:
            raise AssertionError("fallback=False")
    norm = torch.nn.BatchNorm1d(8).train()
    found = warned(norm, image)
    assert len(found) == 1 and "torch-mutation" in found[0] and "hint" in found[0], found
    with torch.enable_grad():
        found = warned(torch.nn.Linear(8, 4), image)
        assert len(found) == 1 and "torch-gradient" in found[0], found
    for options, text in (({"chips": "nano"}, "chips"), ({"chip": "nona", "fallback": False}, "chip-unknown")):
        try:
            fresh(lambda x: x + 1, **options)(image)
        except Exception as error:  # PyTorch passes it on
            assert text in str(error), error
        else:
            raise AssertionError(options)


def check_chains():
    """Errors that are their own cause, or each other's, come to an end."""
    first, second = ValueError("at node %conv"), ValueError("second")
    first.__cause__ = first
    assert xpu.torch._not_exported(first).node == "conv"
    first.__cause__, second.__cause__ = second, first
    error = xpu.torch._not_exported(first)
    assert error.rule == "torch-export" and error.node == "conv" and error.reason == "second", error


def check_threads():
    """Threads that export at the same time leave the settings of warnings and of the exporter's log as they were."""
    logger = logging.getLogger("torch.onnx._internal.exporter._registration")
    before, barrier = (list(warnings.filters), logger.level), threading.Barrier(4)

    def work():
        barrier.wait()
        for number in range(200):
            with xpu.torch._silent():
                time.sleep(0.0001 * (number % 3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (list(warnings.filters), logger.level) == before, "warnings stay silent"


def main():
    with torch.no_grad():
        check_network("func", "standard", "int16", "tensor", 1e-2)
        check_network("rtl", "nano", "fp32", "core", 1e-3)
        check_weights()
        check_sizes()
        quiet(check_left)
        leaves_nothing(check_left, times=3, before=2)
        check_chains()
        check_threads()
    print("PyTorch %s: all as PyTorch" % torch.__version__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
