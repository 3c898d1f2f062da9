#!/usr/bin/env python3
"""The networks of paddle.vision, for tests/paddle/vision.tar.xz (tests/gen/vision.py unpacks it). First PaddlePaddle 2.6.2
(CPU), then 3.3.1 in its own Python, then either packs:
    record_vision.py programs FOLDER    2.6.2: programs, statistics of batch norms, what it answers;
                                        3.3.1: programs as PIR, whose answers have to be within 1e-5 of 2.6.2's
    record_vision.py pack FOLDER OUT.tar.xz
Parameters are seeded (vision.py). Means and variances are those of one seeded batch, with which each batch norm
normalises what it gets, rounded to two bytes per channel; then the network runs with them. Each network is there as it
is, and an eighth as wide on small images: same layers, same order."""
import contextlib
import io
import lzma
import os
import sys
import tarfile

os.environ["GLOG_minloglevel"] = "3"
import numpy as np
import vision

# name, side of the image, of the narrow one, what the width is divided by, how to make the narrow one
NETWORKS = [("LeNet", 28, 28, 1), ("alexnet", 224, 224, 8), ("vgg11", 224, 64, 8), ("resnet18", 224, 64, 8),
            ("resnet50", 224, 64, 8), ("resnext50_32x4d", 224, 64, 8), ("wide_resnet50_2", 224, 64, 8),
            ("mobilenet_v1", 224, 64, 8), ("mobilenet_v2", 224, 64, 8), ("mobilenet_v3_small", 224, 64, 8),
            ("mobilenet_v3_large", 224, 64, 8), ("squeezenet1_0", 224, 64, 8), ("squeezenet1_1", 224, 64, 8),
            ("shufflenet_v2_x1_0", 224, 64, 0), ("shufflenet_v2_swish", 224, 64, 0), ("densenet121", 224, 64, 8),
            ("googlenet", 224, 224, 8), ("inception_v3", 299, 107, 8)]
CLASSES = 16  # of the narrow ones
DROPPED = {"op_callstack", "op_role", "op_role_var", "op_namescope", "op_device", "with_quant_attr", "use_mkldnn", "use_cudnn",
           "mkldnn_data_type", "is_test_", "fuse_with_relu", "use_quantizer", "workspace_size_MB", "exhaustive_search"}


def narrow(layer, arguments, by):
    """Divides a class's arguments of these places (or names) by BY, but not images' channels and classes."""
    plain = layer.__init__

    def made(self, *given, **named):
        def less(count):
            return count if count in (1, 3, CLASSES) else max(1, count // by)
        given = [less(value) if k in arguments else value for k, value in enumerate(given)]
        plain(self, *given, **{key: less(value) if key in arguments else value for key, value in named.items()})
    layer.__init__ = made
    return lambda: setattr(layer, "__init__", plain)


def build(name, by):
    """by 1: as it is. 0: a quarter of the channels, which the family has itself."""
    import paddle
    from paddle.vision import models
    paddle.utils.unique_name.switch()
    if by == 1:
        return getattr(models, name)()
    if by == 0:
        return models.ShuffleNetV2(scale=0.25, act="swish" if name.endswith("swish") else "relu", num_classes=CLASSES)
    nn = paddle.nn
    undo = [narrow(nn.Conv2D, {0, 1, 6, "in_channels", "out_channels", "groups"}, by),
            narrow(nn.Linear, {0, 1, "in_features", "out_features"}, by), narrow(nn.BatchNorm2D, {0, "num_features"}, by),
            narrow(nn.BatchNorm, {0, "num_channels"}, by)]
    try:
        return getattr(models, name)(num_classes=CLASSES)
    finally:
        for each in undo:
            each()


@contextlib.contextmanager
def reshaped(channels, less):
    """inception_v3 names its channels once more where it reshapes."""
    import paddle
    plain = paddle.reshape
    paddle.reshape = lambda x, shape: plain(x, [less if n == channels else n for n in shape])
    try:
        yield
    finally:
        paddle.reshape = plain


def norms(net):
    """Its batch norms by the name that their parameters have."""
    return {p.name[:-4]: layer for layer in net.sublayers() for p in layer.parameters(include_sublayers=False)
            if p.name.endswith(".w_1")}


def load(net, codes):
    for p in net.parameters():
        norm = p.name[:-4] if p.name[-4:] in (".w_1", ".w_2") else None
        if norm is None or norm in codes:
            raw = vision.parameter(p.name, p.shape, codes)
            p.set_value(np.frombuffer(raw, np.float32).reshape(p.shape))


def calibrate(net, dims, count):
    """The codes of each norm's channels: of what it gets from images, when those in front of it have been calibrated."""
    import paddle
    codes, order = {}, norms(net)
    hooks = []
    for name, layer in order.items():
        def before(layer, given, name=name):
            x = given[0].numpy().astype(np.float64)
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
            pairs = [vision.code(m, max(v, variance.max() / 100)) for m, v in zip(mean, variance)]
            codes[name] = tuple(map(bytes, zip(*pairs)))
            layer._mean.set_value(np.frombuffer(vision.means(*codes[name]), np.float32))
            layer._variance.set_value(np.frombuffer(vision.variances(codes[name][0]), np.float32))
        hooks.append(layer.register_forward_pre_hook(before))
    images = [vision.image(k, dims) for k in range(1, count + 1)]
    net(paddle.to_tensor(np.stack([np.frombuffer(x, np.float32).reshape(dims) for x in images])))
    for hook in hooks:
        hook.remove()
    return codes


def stripped(path):
    from paddle.base.proto import framework_pb2
    desc = framework_pb2.ProgramDesc()
    with open(path, "rb") as file:
        desc.ParseFromString(file.read())
    for op in desc.blocks[0].ops:
        kept = [a for a in op.attrs if a.name not in DROPPED]
        del op.attrs[:]
        op.attrs.extend(kept)
    return desc.SerializeToString()


def outputs(net, dims):
    import paddle
    x = np.frombuffer(vision.image(0, dims), np.float32).reshape([1] + dims)
    y = net(paddle.to_tensor(x))
    return [v.numpy() for v in (y if isinstance(y, (list, tuple)) else [y])]


def programs(folder):
    import paddle
    new = paddle.__version__.startswith("3")
    for name, side, small, by in NETWORKS:
        for kind, size, width in [("small", small, by)] + ([("full", side, 1)] if by != 1 else []):
            os.makedirs(f"{folder}/{kind}", exist_ok=True)
            dims = [1 if name == "LeNet" else 3, size, size]
            with reshaped(2048, 2048 // max(width, 1)) if name == "inception_v3" else contextlib.nullcontext():
                net = build(name, width)
                net.eval()
                record(net, f"{folder}/{kind}/{name}", dims, new, 32 if kind == "small" else 4)


def record(net, path, dims, new, count):
    import paddle
    spec = paddle.static.InputSpec([None] + dims, "float32", "x")
    shapes = {p.name: p.shape for p in net.parameters()}
    if new:
        with open(path + ".stats", "rb") as file:
            load(net, vision.split(file.read(), shapes))
    else:
        load(net, {})
        codes = calibrate(net, dims, count)
        with open(path + ".stats", "wb") as file:
            file.write(b"".join(codes[name][k] for k in (0, 1) for name in sorted(codes)))
    paddle.jit.save(net, path + "_", input_spec=[spec])
    made = outputs(paddle.jit.load(path + "_"), dims)
    if new:
        recorded = np.fromfile(path + ".out", np.float32)
        for y in made:
            known, recorded = recorded[:y.size], recorded[y.size:]
            difference = np.abs(y.ravel() - known).max() / np.abs(known).max()
            print(path, f"{difference:.1e}", flush=True)
            assert difference < 1e-5
        os.replace(path + "_.json", path + ".json")
    else:
        np.concatenate([y.ravel() for y in made]).tofile(path + ".out")
        for y in made:
            print(path, y.shape, f"{np.abs(y).max():.3g} {y.std():.3g}", flush=True)
        with open(path + ".pdmodel", "wb") as file:
            file.write(stripped(path + "_.pdmodel"))
        os.remove(path + "_.pdmodel")
        os.remove(path + "_.pdiparams.info")
    os.remove(path + "_.pdiparams")


def pack(folder, path):
    """Sorted by what they are, so that files of one kind stand together: the archive is smaller."""
    files = sorted((ending, kind, name) for kind in ("small", "full") for name, _, ending in
                   (n.rpartition(".") for n in os.listdir(f"{folder}/{kind}")))
    with tarfile.open(path, "w:xz", preset=9 | lzma.PRESET_EXTREME) as archive:
        for ending, kind, name in files:
            with open(f"{folder}/{kind}/{name}.{ending}", "rb") as file:
                data = file.read()
            member = tarfile.TarInfo(f"{kind}/{name}.{ending}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


if __name__ == "__main__":
    if sys.argv[1] == "programs":
        programs(sys.argv[2])
    else:
        pack(sys.argv[2], sys.argv[3])
