"""Searches with beams: what may follow stands in a table by the id before it; then the sentences are read back."""
import numpy as np
from paddle_boxes import Beams
from paddle_cases import Constant, rng

END = 1


def add(net, op, inputs, kinds, **attrs):
    """An operator with several results: those of these element types by slot."""
    net.count += 1
    made = {slot: net.block.create_var(name=f"{op}_{net.count}.{slot}", dtype=kind) for slot, kind in kinds.items()}
    net.block.append_op(type=op, inputs=inputs, outputs=made, attrs=attrs)
    return list(made.values())


def search(net, first, steps, beams, arrays):
    """`first`: the ids that sentences begin with; `arrays`: two variables."""
    table = net.variable((-rng.permutation(64).reshape(8, 8) / 16).astype(np.float32).view(Constant))
    ids = net.input(np.array(first, np.int64)[:, None].view(Beams))
    scores = net.input(np.zeros((len(first), 1), np.float32).view(Beams))
    for step in range(steps + 1):
        place = net.add("fill_constant", {}, "Out", made="int64", shape=[1], dtype=3, value=float(step), str_value=str(step))
        for x, array in zip((ids, scores), arrays):
            net.block.append_op(type="write_to_array", inputs={"X": [x], "I": [place]}, outputs={"Out": [array]})
        if step == steps:
            break
        sums = net.add("elementwise_add", {"X": net.add("gather", {"X": table, "Index": ids}, "Out", axis=0), "Y": scores}, "Out", axis=-1)
        best = add(net, "top_k_v2", {"X": sums}, {"Out": "float32", "Indices": "int64"}, k=4, axis=-1, largest=True, sorted=True)
        best = [net.add("lod_reset", {"X": x, "Y": ids}, "Out", made=kind, target_lod=[]) for x, kind in zip(best, ("float32", "int64"))]
        ids, scores, _ = add(net, "beam_search", {"pre_ids": ids, "pre_scores": scores, "ids": best[1], "scores": best[0]},
                             {"selected_ids": "int64", "selected_scores": "float32", "parent_idx": "int32"}, level=0, beam_size=beams,
                             end_id=END, is_accumulated=True)
    for x in add(net, "beam_search_decode", {"Ids": arrays[0], "Scores": arrays[1]}, {"SentenceIds": "int64", "SentenceScores": "float32"},
                 beam_size=beams, end_id=END):
        net.output(x)


def network(net):
    kind = type(net.block.create_var(name="kinds", dtype="int64").type).LOD_TENSOR_ARRAY
    for first, steps, beams in (([0], 4, 3), ([5, END], 3, 2), ([2, 3, 4], 6, 3)):
        net.count += 1
        search(net, first, steps, beams, [net.block.create_var(name=f"array_{net.count}_{k}", dtype=k, type=kind) for k in ("int64", "float32")])
