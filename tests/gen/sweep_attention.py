"""Cases of record_sweep.py: attention, rotary embedding, gated activations, Einsum."""
import numpy as np

from sweep_cases import BOOL, F32, FLOATS, Case, label, name_of, values


def floats_of(types):
    return [d for d in types if d in FLOATS]


def heads(dtype, seed, *shape):
    return (values(F32, shape, seed, "small") * np.float32(0.25)).astype(dtype)


def attentions(version, types):
    for dtype in floats_of(types):
        def qkv(q_heads=2, kv_heads=2, queries=3, keys=5, size=4):
            return [heads(dtype, 1, 2, q_heads, queries, size), heads(dtype, 2, 2, kv_heads, keys, size), heads(dtype, 3, 2, kv_heads, keys, size + 2)]
        name = name_of(dtype)
        yield Case(name + "_plain", qkv())
        if dtype != F32:
            continue
        mask = heads(dtype, 4, 3, 5)
        seen = values(BOOL, (2, 1, 3, 5), 6)
        seen[..., 0] = True
        past = [heads(dtype, 7, 2, 2, 4, 4), heads(dtype, 8, 2, 2, 4, 6)]
        yield Case("causal", qkv(keys=3), {"is_causal": 1, "scale": 0.5})
        yield Case("mask", qkv() + [mask])
        yield Case("mask_of_bools", qkv() + [seen])
        yield Case("constant_mask", qkv() + [seen], constants=[3])
        yield Case("grouped", qkv(q_heads=4, kv_heads=2) + [mask])
        yield Case("one_kv_head", qkv(q_heads=4, kv_heads=1, keys=3), {"is_causal": 1})
        yield Case("softcap", qkv(), {"softcap": 0.75})
        yield Case("past", qkv(queries=3, keys=3) + [None] + past, {"is_causal": 1} if version > 23 else {}, outputs=3)
        yield Case("scores", qkv() + [mask], {"qk_matmul_output_mode": 0}, outputs=4) if version < 24 else Case("weights", qkv() + [mask], {"qk_matmul_output_mode": 3}, outputs=4)
        flat = [heads(dtype, 1, 2, 3, 8), heads(dtype, 2, 2, 5, 4), heads(dtype, 3, 2, 5, 6)]
        yield Case("flat", flat, {"q_num_heads": 4, "kv_num_heads": 2})
        if version > 23:
            yield Case("lengths", qkv() + [None, None, None, np.array([5, 4], np.int64)])
            yield Case("short_mask", qkv() + [mask[:, :4]])
        if version > 24:
            yield Case("window", qkv(queries=5), {"left_window_size": 1, "right_window_size": 2})


def rotations(types):
    for dtype in floats_of(types):
        cosines, sines = np.cos(np.arange(24).reshape(6, 4) / 5).astype(dtype), np.sin(np.arange(24).reshape(6, 4) / 5).astype(dtype)
        places = np.array([[0, 2, 5], [1, 3, 4]], np.int64)
        by_place = [cosines[places], sines[places]]
        x = values(dtype, (2, 2, 3, 8), 1, "small")
        for interleaved in (0, 1):
            yield Case(f"{name_of(dtype)}_{interleaved}", [x, cosines, sines, places], {"interleaved": interleaved}, constants=[1, 2])
            if dtype == F32:
                yield Case(f"by_place_{interleaved}", [x] + by_place, {"interleaved": interleaved})
                yield Case(f"flat_{interleaved}", [values(dtype, (2, 3, 16), 2, "small"), cosines, sines, places], {"interleaved": interleaved, "num_heads": 2})
                yield Case(f"part_{interleaved}", [values(dtype, (2, 2, 3, 12), 3, "small"), cosines, sines, places],
                           {"interleaved": interleaved, "rotary_embedding_dim": 8, "num_heads": 2})


def gates(types):
    for dtype in floats_of(types):
        for i, shape in enumerate([(40,), (2, 3, 7)]):
            yield Case(label(dtype, shape), [values(dtype, shape, i, "small"), values(dtype, shape, i + 5, "small")], {"alpha": 1.5} if i else {})


EQUATIONS = [("ij,jk->ik", [(3, 4), (4, 5)]), ("ij,jk", [(3, 4), (4, 5)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
             ("ij->ji", [(3, 4)]), ("ij->", [(3, 4)]), ("ij->i", [(3, 4)]), ("ii->i", [(4, 4)]), ("ii", [(4, 4)]), ("bii->bi", [(2, 3, 3)]), ("i,j->ij", [(3,), (4,)]),
             ("i,i->", [(5,), (5,)]), ("i,i", [(5,), (5,)]), ("ij,ij->ij", [(3, 4), (3, 4)]), ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)]), ("...i->...", [(2, 3, 4)]),
             ("...ij,jk->...ik", [(2, 2, 3, 4), (4, 5)]), ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 5)]), ("ij,ik,il->jkl", [(2, 3), (2, 4), (2, 2)]), ("bn,anm,bm->ba", [(2, 3), (4, 3, 5), (2, 5)]),
             (" a b , b c -> c a ", [(2, 3), (3, 4)]), ("bhwc,hkc->bhwk", [(2, 3, 4, 5), (3, 6, 5)]), ("aij,bij->ba", [(2, 3, 4), (5, 3, 4)]), ("ij,kl->jl", [(2, 3), (4, 5)]),
             ("Aa,aB->BA", [(2, 3), (3, 4)]), ("ij,j->i", [(1, 4), (4,)]), ("bij,bjk->bik", [(1, 3, 4), (2, 4, 5)]), ("...ij,...jk", [(2, 3, 4), (2, 4, 5)])]


def einsums(types):
    for dtype in types:
        if dtype == BOOL:
            continue
        for i, (equation, shapes) in enumerate(EQUATIONS):
            if dtype == F32 or i in (0, 8, 13):
                yield Case(f"{name_of(dtype)}_{i}", [values(dtype, s, i + k, "small") for k, s in enumerate(shapes)], {"equation": equation})
    yield Case("constant", [values(F32, (3, 4), 1, "small"), values(F32, (4, 5), 2, "small")], {"equation": "ij,jk->ik"}, constants=[1])


ATTENTION = {
    "Attention": attentions,
    "RotaryEmbedding": lambda v, t: rotations(t),
    "SwiGLU": lambda v, t: gates(t),
    "Einsum": lambda v, t: einsums(t),
}
