#!/usr/bin/env python3
"""Writes the models of tests/convert/models: convert_models.py FOLDER. Packages: onnx, onnxruntime, numpy."""
import copy
import json
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

FOLDER = sys.argv[1]


def save(name, nodes, inputs, outputs, constants=(), opset=18):
    info = h.make_tensor_value_info
    graph = h.make_graph([h.make_node(*n[0], **n[1]) for n in nodes], "g", [info(*i) for i in inputs], [info(*o) for o in outputs],
                         [numpy_helper.from_array(np.array(value, dtype), name) for name, value, dtype in constants])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8), f"{FOLDER}/{name}.onnx")


def node(op, inputs, outputs, **attributes):
    return (op, inputs.split(","), outputs.split(",")), attributes


# A loop that its condition ends: the trip count is the largest there is
body = h.make_graph([h.make_node("Add", ["a", "one"], ["next"]), h.make_node("ReduceSum", ["next"], ["sum"], keepdims=0),
                     h.make_node("Less", ["sum", "limit"], ["more"])], "body",
                    [h.make_tensor_value_info("i", T.INT64, []), h.make_tensor_value_info("c", T.BOOL, []),
                     h.make_tensor_value_info("a", T.FLOAT, [2])],
                    [h.make_tensor_value_info("more", T.BOOL, []), h.make_tensor_value_info("next", T.FLOAT, [2])])
for name, trips in (("loop_unbounded", 2**63 - 1), ("loop_long", 2**24 + 1)):
    save(name, [node("Loop", "trips,true,x", "y", body=body)], [("x", T.FLOAT, [2])], [("y", T.FLOAT, [2])],
         [("trips", trips, np.int64), ("true", True, np.bool_), ("one", 1, np.float32), ("limit", 50, np.float32)])

# Tuples of indices that count from the end
save("scatter_negative", [node("ScatterND", "x,i,u", "y")], [("x", T.FLOAT, [3, 4]), ("u", T.FLOAT, [2])], [("y", T.FLOAT, [3, 4])],
     [("i", [[1, -1], [0, 1]], np.int64)])
save("scatter_add_negative", [node("ScatterND", "x,i,u", "y", reduction="add")], [("x", T.FLOAT, [3, 4]), ("u", T.FLOAT, [2])],
     [("y", T.FLOAT, [3, 4])], [("i", [[1, -1], [0, 1]], np.int64)])
save("gather_negative", [node("GatherND", "x,i", "y")], [("x", T.FLOAT, [3, 4])], [("y", T.FLOAT, [2])],
     [("i", [[1, -1], [0, 1]], np.int64)])
save("gather_batch", [node("GatherND", "x,i", "y", batch_dims=1)], [("x", T.FLOAT, [3, "N"]), ("i", T.INT64, [3, 1])],
     [("y", T.FLOAT, [3])])

# Boxes that are left, which may be none
save("nms_nothing", [node("NonMaxSuppression", "boxes,scores,most,overlap,least", "picks"), node("Gather", "picks,column", "list", axis=1),
                     node("Gather", "rows,list", "y"), node("Slice", "picks,two,three,one", "places"), node("GatherND", "rows,places", "z")],
     [("boxes", T.FLOAT, [1, 4, 4]), ("scores", T.FLOAT, [1, 2, 4]), ("rows", T.FLOAT, [4, 3])],
     [("picks", T.INT64, ["n", 3]), ("y", T.FLOAT, ["n", 3]), ("z", T.FLOAT, ["n", 3])],
     [("most", [4], np.int64), ("overlap", [0.5], np.float32), ("least", [0.75], np.float32), ("column", 2, np.int64),
      ("two", [2], np.int64), ("three", [3], np.int64), ("one", [1], np.int64)])
corners = np.array([[0, 0, 4, 4], [0, 1, 4, 5], [5, 5, 8, 8], [5, 0, 9, 3]], np.float32)[None]
for case, most in (("nothing", 0.5), ("some", 1.0)):
    scores = np.linspace(0.25, most, 8, dtype=np.float32).reshape(1, 2, 4)
    given = {"boxes": corners, "scores": scores, "rows": np.arange(12, dtype=np.float32).reshape(4, 3)}
    answers = ReferenceEvaluator(f"{FOLDER}/nms_nothing.onnx").run(None, given)
    np.savez(f"{FOLDER}/nms_nothing.{case}_in.npz", **given)
    np.savez(f"{FOLDER}/nms_nothing.{case}_out.npz", **dict(zip(("picks", "y", "z"), answers)))

# What is chosen, and an operand of the choice behind it; "again" is what the sum is where the choice is written there
choice = [node("Greater", "x,z", "c"), node("Mul", "x,k", "twice"), node("Where", "c,twice,z", "chosen")]
ports = [("x", T.FLOAT, [3, 4]), ("z", T.FLOAT, [3, 4])], [("y", T.FLOAT, [3, 4])], [("k", [2.0], np.float32)]
save("where", choice + [node("Add", "twice,chosen", "y")], *ports)
save("where_again", choice + [node("Add", "chosen,chosen", "y")], *ports)

# tests/paddle/quantised/trained.json up to its first levels, and their sum with what they are of
program = json.load(open("tests/paddle/quantised/trained.json"))
block = program["program"]["regions"][0]["blocks"][0]
at = next(i for i, o in enumerate(block["ops"]) if "fake_quantize" in o["#"])
levels = block["ops"][at]["O"][0]
fetch = copy.deepcopy(next(o for o in block["ops"] if o["#"] == "1.fetch"))
fetch["I"], fetch["O"][0]["TT"] = [{"%": 9999}], levels["TT"]
total = {"#": "1.add", "I": [block["ops"][at]["I"][0], {"%": levels["%"]}], "O": [{"%": 9999, "TT": levels["TT"]}], "A": []}
block["ops"] = block["ops"][:at + 1] + [total, fetch]
json.dump(program, open(f"{FOLDER}/levels.json", "w"))

# Names that a ProgramDesc takes for itself; a model without parameters
save("feed", [node("Relu", "feed", "fetch")], [("feed", T.FLOAT, [3, 4])], [("fetch", T.FLOAT, [3, 4])])

# An operator that needs opset 18 for one thing and 19 for another
save("resize", [node("Resize", "x,,s", "y", mode="linear", antialias=1, coordinate_transformation_mode="half_pixel_symmetric")],
     [("x", T.FLOAT, [1, 1, 8, 8])], [("y", T.FLOAT, None)], [("s", [1, 1, 0.5, 0.5], np.float32)], 19)

# Types that operators of opset 13 do not take
save("types", [node("Add", "a,b", "sum"), node("Sub", "a,b", "difference"), node("Mul", "sum,difference", "product"), node("Div", "product,b", "y"),
               node("Relu", "i", "r"), node("Cast", "x", "wide", to=T.BFLOAT16), node("Pow", "wide,wide", "power"), node("Cast", "power", "p", to=T.FLOAT)],
     [("a", T.INT8, [2, 8]), ("b", T.INT8, [2, 8]), ("i", T.INT32, [2, 8]), ("x", T.FLOAT, [2, 8])],
     [("y", T.INT8, [2, 8]), ("r", T.INT32, [2, 8]), ("p", T.FLOAT, [2, 8])])
save("half_pixel_for_nn", [node("Resize", "x,,s", "y", mode="nearest", coordinate_transformation_mode="tf_half_pixel_for_nn",
                                nearest_mode="round_prefer_floor")],
     [("x", T.FLOAT, [1, 1, 8, 8])], [("y", T.FLOAT, None)], [("s", [1, 1, 1.5, 0.6], np.float32)], 11)

# A shape as an input, and built in
save("expand_input", [node("Expand", "x,k", "y")], [("x", T.FLOAT, [1, 4]), ("k", T.INT64, [2])], [("y", T.FLOAT, None)])
save("expand_built_in", [node("Expand", "x,k", "y")], [("x", T.FLOAT, [1, 4])], [("y", T.FLOAT, None)], [("k", [3, 4], np.int64)])

# Bytes that are a step apart in one of 2000 places: no quantisation
step = np.zeros((1, 2000), np.float32)
step[0, 7] = 1
for name, value in (("bytes", 0 * step), ("bytes_a_step_apart", step)):
    save(name, [node("Add", "x,k", "z"), node("Cast", "z", "y", to=T.UINT8)], [("x", T.FLOAT, [1, 2000])], [("y", T.UINT8, [1, 2000])],
         [("k", value, np.float32)])
np.savez(f"{FOLDER}/bytes_in.npz", x=0 * step)

# Integers that float32 does not hold
save("absolute", [node("Abs", "x", "y")], [("x", T.INT64, [4])], [("y", T.INT64, [4])])
save("absolute_int32", [node("Abs", "x", "y")], [("x", T.INT32, [4])], [("y", T.INT32, [4])])
np.savez(f"{FOLDER}/absolute_in.npz", x=np.array([16777217, 1, 2, 3]))

# An expected tensor of the same elements in another shape; one that no element of has
save("relu", [node("Relu", "x", "y")], [("x", T.FLOAT, [3, 4])], [("y", T.FLOAT, [3, 4])])
save("negative", [node("Neg", "x", "y")], [("x", T.FLOAT, [3, 4])], [("y", T.FLOAT, [3, 4])])
x = np.arange(12, dtype=np.float32).reshape(3, 4)
np.savez(f"{FOLDER}/relu_in.npz", x=x)
np.savez(f"{FOLDER}/relu_turned.npz", y=x.reshape(4, 3))
np.savez(f"{FOLDER}/relu_out.npz", y=x)
np.savez(f"{FOLDER}/relu_two.npz", a=x, b=x)
np.savez(f"{FOLDER}/relu_wrong.npz", y=x + 1)

# What PaddlePaddle's own operators give otherwise: Shrink of what is infinite or no number, the largest none
save("limits", [node("Shrink", "x", "soft", lambd=0.5, bias=0.25), node("Shrink", "x", "hard", lambd=0.5, bias=0.0),
                node("TopK", "x,none", "values,places")],
     [("x", T.FLOAT, [2, 6])], [("soft", T.FLOAT, [2, 6]), ("hard", T.FLOAT, [2, 6]), ("values", T.FLOAT, [2, 0]), ("places", T.INT64, [2, 0])],
     [("none", [0], np.int64)])
x = np.array([[np.inf, -np.inf, np.nan, 1, -1, 0], [0.5, -0.5, 0.75, -0.25, 3e38, -1e-40]], np.float32)
names = ["soft", "hard", "values", "places"]
np.savez(f"{FOLDER}/limits_in.npz", x=x)
np.savez(f"{FOLDER}/limits_out.npz", **dict(zip(names, onnxruntime.InferenceSession(f"{FOLDER}/limits.onnx").run(names, {"x": x}))))
