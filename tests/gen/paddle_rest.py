"""Cases of what the other files have none of: sequences, elements that are there once, windows that data move."""
import numpy as np
from paddle_boxes import Sequences, distinct
from paddle_cases import Constant, f, i, p, rng

CASES = []
NOT_IN_PIR = {"sequence_concat", "sequence_expand_as", "sequence_pad", "sequence_reshape", "sequence_reverse", "sequence_unpad",
              "polygon_box_transform", "unique_with_counts"}  # of 3.3.1


def case(op, operands, results=None, **attrs):
    CASES.append((op, operands, {"Out": 1} if results is None else results, attrs))


def rows(*dims):
    return f(*dims).view(Sequences)


FORM = dict(strides=[1, 1], paddings=[1, 1], dilations=[1, 1], groups=1, deformable_groups=1, im2col_step=1)
case("deformable_conv", dict(Input=f(2, 4, 6, 7), Offset=f(2, 18, 6, 7), Filter=f(6, 4, 3, 3), Mask=p(2, 9, 6, 7)), {"Output": 1}, **FORM)
case("deformable_conv", dict(Input=f(1, 4, 7, 8), Offset=f(1, 24, 4, 3), Filter=f(4, 2, 2, 3), Mask=p(1, 12, 4, 3)), {"Output": 1},
     **dict(FORM, strides=[2, 2], paddings=[1, 0], dilations=[2, 1], groups=2, deformable_groups=2))
case("deformable_conv_v1", dict(Input=f(1, 4, 6, 7), Offset=f(1, 18, 6, 7), Filter=f(6, 4, 3, 3)), {"Output": 1}, **FORM)
case("deformable_conv_v1", dict(Input=f(1, 4, 6, 6), Offset=f(1, 16, 5, 5), Filter=f(4, 4, 2, 2)), {"Output": 1},
     **dict(FORM, paddings=[0, 0], deformable_groups=2))
NOT_IN_PIR |= {"deformable_conv_v1"}
VOLUME = dict(strides=[1, 1, 1], paddings=[1, 1, 1], dilations=[1, 1, 1], groups=1, padding_algorithm="EXPLICIT", data_format="NCDHW",
              output_padding=[], output_size=[])
case("conv3d_transpose", dict(Input=f(1, 2, 3, 4, 3), Filter=f(2, 3, 3, 3, 3)), {"Output": 1}, **VOLUME)
case("conv3d_transpose", dict(Input=f(2, 4, 3, 2, 3), Filter=f(4, 2, 2, 3, 2)), {"Output": 1},
     **dict(VOLUME, strides=[2, 1, 2], paddings=[1, 0, 0], groups=2, dilations=[2, 1, 1]))
case("conv3d_transpose", dict(Input=f(1, 2, 2, 3, 2), Filter=f(2, 2, 3, 3, 3)), {"Output": 1}, **dict(VOLUME, strides=[2, 2, 2], output_padding=[1, 0, 1]))
PLACES = np.array([[[[0, 3], [9, 14]], [[5, 2], [8, 15]]]], np.int32)
UNPOOL = dict(unpooling_type="max", ksize=[2, 2], strides=[2, 2], paddings=[0, 0], output_size=[4, 4], data_format="NCHW")
case("unpool", dict(X=f(1, 2, 2, 2), Indices=PLACES), **UNPOOL)
case("unpool", dict(X=f(2, 1, 2, 2), Indices=PLACES.reshape(2, 1, 2, 2)), **dict(UNPOOL, output_size=[4, 5]))
POOL = dict(ksize=[2] * 3, strides=[2] * 3, paddings=[0] * 3, global_pooling=False, adaptive=False)
case("max_pool3d_with_index", {"X": f(1, 2, 4, 4, 6)}, {"Out": 1, "~Mask": ["int32"]}, **POOL)
case("max_pool3d_with_index", {"X": f(2, 1, 5, 4, 5)}, {"Out": 1, "~Mask": ["int32"]}, **dict(POOL, ksize=[3] * 3, paddings=[1] * 3))
UNIQUE = {"Out": ["int64"], "Indices": ["int64"], "Index": ["int64"], "Counts": ["int64"]}
EACH = dict(dtype=3, return_index=True, return_inverse=True, return_counts=True, axis=[], is_sorted=True)
case("unique", {"X": i(6, 12)}, UNIQUE, **EACH)
case("unique", {"X": i(4, 3, 5).astype(np.int32)}, {"Out": ["int32"], "Indices": ["int32"], "Index": ["int32"], "Counts": ["int32"]},
     **dict(EACH, dtype=2))
case("unique_with_counts", {"X": i(5, 9)}, {"Out": ["int64"], "Index": ["int32"], "Count": ["int32"]}, dtype=2)
case("unique_with_counts", {"X": np.round(f(10))}, {"Out": 1, "Index": ["int64"], "Count": ["int64"]}, dtype=3)
case("is_empty", {"X": f(2, 3)}, {"Out": ["bool"]})
case("is_empty", {"X": i(5, 1)}, {"Out": ["bool"]})
QUIET = dict(first_n=0, message="", summarize=2, print_tensor_name=False, print_tensor_type=False, print_tensor_shape=False,
             print_tensor_layout=False, print_tensor_lod=False, print_phase="FORWARD", is_forward=True)
case("print", {"In": f(3)}, **QUIET)
case("print", {"In": i(4, 2, 2)}, {"Out": ["int64"]}, **QUIET)
case("polygon_box_transform", {"Input": f(1, 8, 3, 4)}, {"Output": 1})
case("polygon_box_transform", {"Input": f(2, 4, 2, 3)}, {"Output": 1})


def packed(count, size):
    bytes_ = rng.integers(0, 256, (count, 4 * size)).astype(np.uint8).view(np.float32)
    return np.concatenate([-p(count, 1), p(count, 1), bytes_], 1).astype(np.float32).view(Constant)


case("lookup_table_dequant", dict(W=packed(7, 3), Ids=i(7, 4, 1)), padding_idx=-1)
case("lookup_table_dequant", dict(W=packed(5, 1), Ids=i(5, 6, 1)), padding_idx=-1)
H = 4
for origin in (True, False):
    case("gru_unit", dict(Input=f(2, 3 * H), HiddenPrev=f(2, H), Weight=f(H, 3 * H), Bias=f(1, 3 * H)),
         {"Hidden": 1, "~Gate": 1, "~ResetHiddenPrev": 1}, activation=2, gate_activation=1, origin_mode=origin)
    case("gru", dict(Input=rows(5, 3 * H), Weight=f(H, 3 * H).view(Constant), Bias=f(1, 3 * H).view(Constant)),
         {"Hidden": 1, "~BatchGate": 1, "~BatchResetHiddenPrev": 1, "~BatchHidden": 1}, activation="tanh", gate_activation="sigmoid",
         is_reverse=origin, origin_mode=origin, is_test=True)
    case("lstm", dict(Input=rows(6, 4 * H), Weight=f(H, 4 * H).view(Constant), Bias=f(1, (7 if origin else 4) * H).view(Constant)),
         {"Hidden": 1, "~Cell": 1, "~BatchGate": 1, "~BatchCellPreAct": 1}, use_peepholes=origin, is_reverse=origin, is_test=True,
         gate_activation="sigmoid", cell_activation="tanh", candidate_activation="tanh")
case("im2sequence", {"X": f(1, 2, 4, 5)}, kernels=[2, 2], strides=[2, 2], paddings=[0, 0, 0, 0], out_stride=[1, 1])
case("im2sequence", {"X": f(1, 1, 5, 4)}, kernels=[3, 2], strides=[1, 1], paddings=[1, 0, 1, 1], out_stride=[1, 1])
case("lod_reset", {"X": rows(6, 2)}, target_lod=[0, 6])
case("lod_reset", {"X": rows(3, 4)}, target_lod=[0, 3])
for kind in ("SUM", "AVERAGE", "SQRT", "MAX", "LAST", "FIRST"):
    case("sequence_pool", {"X": rows(5, 3)}, {"Out": 1, "~MaxIndex": ["int32"]}, pooltype=kind, is_test=True, pad_value=0.)
case("sequence_softmax", {"X": rows(6)})
case("sequence_softmax", {"X": rows(4, 1)})
case("sequence_reverse", {"X": rows(5, 2)}, {"Y": 1})
case("sequence_reverse", {"X": rows(3, 4)}, {"Y": 1})
case("sequence_concat", {"X": [rows(2, 3), rows(4, 3)]})
case("sequence_concat", {"X": [rows(1, 2), rows(3, 2), rows(2, 2)]})
case("sequence_reshape", {"X": rows(4, 6)}, new_dim=3)
case("sequence_reshape", {"X": rows(6, 2)}, new_dim=4)
case("sequence_expand", dict(X=rows(1, 3), Y=rows(4, 2)), ref_level=0)
case("sequence_expand", dict(X=rows(2, 3), Y=rows(3, 2)), ref_level=-1)
case("sequence_expand_as", dict(X=f(1, 3), Y=rows(4, 2)))
case("sequence_expand_as", dict(X=f(1, 2, 2), Y=rows(5, 1)))
CONTEXT = dict(contextStride=1, paddingTrainable=False)
case("sequence_conv", dict(X=rows(5, 3), Filter=f(9, 4)), contextLength=3, contextStart=-1, **CONTEXT)
case("sequence_conv", dict(X=rows(4, 2), Filter=f(8, 3)), contextLength=4, contextStart=0, **CONTEXT)
case("sequence_pad", dict(X=rows(4, 3), PadValue=np.float32([0.5]).view(Constant)), {"Out": 1, "Length": ["int64"]}, padded_length=-1)
case("sequence_pad", dict(X=rows(4, 2), PadValue=np.float32([0.5]).view(Constant)), {"Out": 1, "Length": ["int64"]}, padded_length=6)
case("sequence_unpad", dict(X=f(1, 5, 3), Length=np.array([3], np.int64)))
case("sequence_unpad", dict(X=f(1, 4, 2), Length=np.array([4], np.int64)))
LABELS = np.array([[1, 1, 0, 1, 2, 2, 0], [0, 3, 3, 0, 0, 3, 3]], np.int32)
ALIGNED = {"Output": ["int32"], "OutputLength": ["int32"]}
case("ctc_align", dict(Input=LABELS, InputLength=np.array([[7], [6]], np.int32)), ALIGNED, blank=0, merge_repeated=True, padding_value=-1)
case("ctc_align", dict(Input=LABELS, InputLength=np.array([[4], [7]], np.int32)), ALIGNED, blank=3, merge_repeated=False, padding_value=0)
case("ctc_align", dict(Input=LABELS[0][:, None].view(Sequences)), {"Output": ["int32"]}, blank=0, merge_repeated=True, padding_value=0)
case("gather_tree", dict(Ids=i(9, 4, 2, 3), Parents=i(3, 4, 2, 3)), {"Out": ["int64"]})
case("gather_tree", dict(Ids=i(9, 2, 1, 4), Parents=i(4, 2, 1, 4)), {"Out": ["int64"]})
PATH = {"ViterbiPath": ["int64"]}
case("crf_decoding", dict(Emission=f(3, 6, 4), Transition=f(6, 4), Length=np.array([6, 1, 4], np.int64)), PATH)
case("crf_decoding", dict(Emission=rows(7, 3), Transition=f(5, 3)), PATH)
TAGS = {"Scores": 1, "Path": ["int64"]}
case("viterbi_decode", dict(Input=f(3, 6, 5), Transition=f(5, 5), Length=np.array([4, 1, 5], np.int64)), TAGS, include_bos_eos_tag=True)
case("viterbi_decode", dict(Input=f(2, 4, 3), Transition=f(3, 3), Length=np.array([4, 2], np.int64)), TAGS, include_bos_eos_tag=False)
NOT_IN_PIR |= {"viterbi_decode"}
case("inverse", {"Input": f(5, 5)}, {"Output": 1})
case("inverse", {"Input": (f(2, 3, 3) + np.array([[0, 2, 0], [0, 0, 2], [2, 0, 0]])).astype(np.float32)}, {"Output": 1})
case("match_matrix_tensor", dict(X=rows(4, 3), Y=rows(5, 3), W=f(3, 2, 3)), {"Out": 1, "~Tmp": 1}, dim_t=2)
case("match_matrix_tensor", dict(X=rows(2, 4), Y=rows(3, 4), W=f(4, 3, 4)), {"Out": 1, "~Tmp": 1}, dim_t=3)
