"""Networks that say of numbers by chance how large they are: shape, least, greatest, mean and mean square."""
import numpy as np
from paddle_cases import FP32, Constant



def every(rank):
    return dict(dim=list(range(rank)), keep_dim=False, reduce_all=True)


def summary(net, x, rank):
    for op in ("reduce_min", "reduce_max", "reduce_mean"):
        net.output(net.add(op, {"X": x}, "Out", **every(rank)))
    net.output(net.add("reduce_mean", {"X": net.add("square", {"X": x}, "Out")}, "Out", **every(rank)))
    net.output(net.add("shape", {"Input": x}, "Out", made="int32"))


def numbers(net):
    summary(net, net.add("uniform_random", {}, "Out", shape=[64, 128], min=-1., max=3., seed=5, dtype=FP32, diag_num=0, diag_step=0, diag_val=1.), 2)
    summary(net, net.add("uniform_random", {}, "Out", shape=[8192], min=0.5, max=0.75, seed=0, dtype=FP32, diag_num=0, diag_step=0,
                         diag_val=1.), 1)
    for dims, mean, deviation in (([4, 64, 128], 2., .5), ([96, 96], -1., .25)):
        x = net.add("gaussian_random", {}, "Out", shape=dims, mean=mean, std=deviation, seed=5, dtype=FP32)
        net.output(net.add("reduce_mean", {"X": x}, "Out", **every(len(dims))))
        net.output(net.add("reduce_mean", {"X": net.add("square", {"X": x}, "Out")}, "Out", **every(len(dims))))
        net.output(net.add("shape", {"Input": x}, "Out", made="int32"))
    for dims in ([3, 5], [2, 1, 4]):
        net.output(net.add("shape", {"Input": net.add("empty", {}, "Out", shape=dims, dtype=FP32)}, "Out", made="int32"))


def classes(net):
    for chances, seed in (([.2, .3, .5], 3), ([.625, .375], 0)):
        x = net.add("expand_v2", {"X": np.float32([chances]).view(Constant)}, "Out", shape=[8192, len(chances)])
        x = net.add("sampling_id", {"X": x}, "Out", made="int64", min=0., max=1., seed=seed)
        summary(net, net.add("cast", {"X": x}, "Out", in_dtype=3, out_dtype=FP32), 1)


NETWORKS = {"chance": numbers, "chance_desc": classes}  # PIR of 3.3.1 has no sampling_id
