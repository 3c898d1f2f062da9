"""A float16 network as convert_to_mixed_precision leaves it: weights and computation in float16, casts at both ends, the
parameters of norms in float32. PaddlePaddle computes float16 on GPUs only: `half` 0 builds the same in float32."""
import numpy as np
from paddle_cases import f
from paddle_quantised import CONV, POOL, constant, norm, rng


def network(net, half):
    kind, code = (np.float16, 4) if half else (np.float32, 5)

    def weights(*dims):
        w = rng.standard_normal(dims).astype(np.float16) / np.float16(np.sqrt(np.prod(dims[1:])))
        return constant(w.astype(kind))

    def bias(*dims):
        return constant(f(*dims).astype(kind))

    def add(op, operands, result="Out", others=(), **attrs):
        return net.add(op, operands, result, others, made=kind.__name__, **attrs)

    x = add("cast", dict(X=net.input(f(1, 4, 8, 8))), in_dtype=5, out_dtype=code)
    x = add("conv2d", dict(Input=x, Filter=weights(8, 4, 3, 3)), "Output", groups=1, **CONV)
    x = add("relu", dict(X=add("elementwise_add", dict(X=x, Y=bias(1, 8, 1, 1)), axis=-1)))
    x = add("depthwise_conv2d", dict(Input=x, Filter=weights(8, 1, 3, 3)), "Output", groups=8, **CONV)
    x = add("hard_swish", dict(X=norm(net, x, 8, kind.__name__)))
    x = add("pool2d", dict(X=x), **POOL)
    x = add("reshape2", dict(X=x), "Out", ["XShape"], shape=[0, 8, 16])
    x = add("transpose2", dict(X=x), "Out", ["XShape"], axis=[0, 2, 1])
    x = add("layer_norm", dict(X=x, Scale=constant(f(8) + 1), Bias=constant(f(8))), "Y", ["Mean", "Variance"], epsilon=1e-5, begin_norm_axis=2)
    x = add("gelu", dict(X=add("matmul_v2", dict(X=x, Y=weights(8, 12)), trans_x=False, trans_y=False)), approximate=False)
    x = add("scale", dict(X=x), scale=0.5, bias=0.25, bias_after_scale=True)
    y = add("softmax", dict(X=add("elementwise_mul", dict(X=x, Y=x), axis=-1)), axis=-1)
    x = add("concat", dict(X=[x, y]), axis=2)
    net.output(net.add("cast", dict(X=x), "Out", in_dtype=code, out_dtype=5))
