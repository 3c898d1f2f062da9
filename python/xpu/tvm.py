"""Apache TVM: parts of a Relax module on the chip, the rest by TVM. Needs TVM 0.27 (PyPI's apache-tvm) and NumPy.

    import xpu.tvm
    executable = xpu.tvm.compile(module, device="rtl", precision="auto")
    machine = tvm.relax.VirtualMachine(executable, tvm.cpu())

`partition` only cuts the module: its parts are functions with the attribute Codegen="xpu". TVM's own pass RunCodegen then
compiles them, with the options {"xpu": {"device": ...}}. The programs are part of this process: an executable that
is exported and loaded elsewhere does not find them.
"""

import itertools
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np
import tvm
import tvm_ffi
from tvm import relax
from tvm.relax.dpl import is_const, is_op, wildcard

from . import _onnx
from ._compile import compile as compile_model
from ._errors import Error
from ._program import Program

__all__ = ["compile", "partition", "programs"]

_OPTIONS = ("chip", "precision", "precision_rules", "memory_rules")

Attributes = Dict[str, Any]


def _ints(values: Any) -> List[int]:
    return [int(v) for v in values]


# ---- operators: each is given a call and says what it is in ONNX: name, attributes, constants behind the operands ----

Translated = Tuple[str, Attributes, List[Any]]


def _named(op: str, **attributes: Any) -> Callable[[Any], Optional[Translated]]:
    return lambda call: (op, attributes, [])


def _conv2d(call: Any) -> Optional[Translated]:
    a = call.attrs
    if (a.data_layout, a.kernel_layout, a.out_layout) != ("NCHW", "OIHW", "NCHW"):
        return None
    return "Conv", dict(strides=_ints(a.strides), pads=_ints(a.padding), dilations=_ints(a.dilation),
                        group=int(a.groups)), []


def _pool2d(op: str) -> Callable[[Any], Optional[Translated]]:
    def translate(call: Any) -> Optional[Translated]:
        a = call.attrs
        if (a.layout, a.out_layout) != ("NCHW", "NCHW") or (op == "AveragePool" and _ints(a.dilation) != [1, 1]):
            return None
        attributes: Attributes = dict(kernel_shape=_ints(a.pool_size), strides=_ints(a.strides), pads=_ints(a.padding),
                                      ceil_mode=int(a.ceil_mode))
        more = dict(dilations=_ints(a.dilation)) if op == "MaxPool" else dict(count_include_pad=int(a.count_include_pad))
        return op, dict(attributes, **more), []
    return translate


def _global_average(call: Any) -> Optional[Translated]:
    a = call.attrs
    is_global = a.output_size is not None and _ints(a.output_size) == [1, 1]
    return ("GlobalAveragePool", {}, []) if is_global and a.layout == "NCHW" else None


def _reshape(call: Any) -> Optional[Translated]:
    try:
        shape = _ints(call.args[1].values)
    except (AttributeError, TypeError):  # sizes that are open
        return None
    return "Reshape", {}, [np.array(shape, dtype=np.int64)]


def _permute(call: Any) -> Optional[Translated]:
    return ("Transpose", dict(perm=_ints(call.attrs.axes)), []) if call.attrs.axes is not None else None


def _mean(call: Any) -> Optional[Translated]:
    if call.attrs.axis is None:
        return None
    return "ReduceMean", dict(axes=_ints(call.attrs.axis), keepdims=int(call.attrs.keepdims)), []


def _clip(call: Any) -> Optional[Translated]:
    return "Clip", {}, [np.array(float(call.args[i].value), dtype=np.float32) for i in (1, 2)]


def _softmax(call: Any) -> Optional[Translated]:
    return "Softmax", dict(axis=int(call.attrs.axis)), []


def _leaky(call: Any) -> Optional[Translated]:
    return "LeakyRelu", dict(alpha=float(call.attrs.alpha)), []


_any = wildcard
#: By Relax's operator: the patterns of its operands, how many of them are tensors, and what it is.
OPERATORS: Mapping[str, Tuple[Callable[[], Tuple[Any, ...]], int, Callable[[Any], Optional[Translated]]]] = {
    "relax.nn.conv2d": (lambda: (_any(), is_const()), 2, _conv2d),
    "relax.matmul": (lambda: (_any(), _any()), 2, _named("MatMul")),
    "relax.nn.max_pool2d": (lambda: (_any(),), 1, _pool2d("MaxPool")),
    "relax.nn.avg_pool2d": (lambda: (_any(),), 1, _pool2d("AveragePool")),
    "relax.nn.adaptive_avg_pool2d": (lambda: (_any(),), 1, _global_average),
    "relax.reshape": (lambda: (_any(), _any()), 1, _reshape),
    "relax.permute_dims": (lambda: (_any(),), 1, _permute),
    "relax.mean": (lambda: (_any(),), 1, _mean),
    "relax.clip": (lambda: (_any(), _any(), _any()), 1, _clip),
    "relax.nn.softmax": (lambda: (_any(),), 1, _softmax),
    "relax.nn.leakyrelu": (lambda: (_any(),), 1, _leaky),
    **{"relax." + name: (lambda: (_any(), _any()), 2, _named(op)) for name, op in (
        ("add", "Add"), ("subtract", "Sub"), ("multiply", "Mul"), ("divide", "Div"), ("maximum", "Max"),
        ("minimum", "Min"))},
    **{"relax." + name: (lambda: (_any(),), 1, _named(op)) for name, op in (
        ("nn.relu", "Relu"), ("sigmoid", "Sigmoid"), ("tanh", "Tanh"), ("exp", "Exp"), ("sqrt", "Sqrt"), ("abs", "Abs"),
        ("negative", "Neg"), ("erf", "Erf"))},
}


def _type_of(expression: Any) -> Tuple[str, Tuple[Any, ...]]:
    """Element type and dims of a tensor."""
    kind = getattr(expression, "ty", None) or expression.struct_info
    if kind.shape is None or getattr(kind.shape, "values", None) is None:
        raise TypeError("the rank is not known")
    return str(kind.dtype), tuple(int(d) if hasattr(d, "value") else str(d) for d in kind.shape.values)


def _is_taken(call: Any) -> bool:
    _, tensors, translate = OPERATORS[call.op.name]
    try:
        types = [_type_of(e)[0] for e in (call, *call.args[:tensors])]
    except (AttributeError, TypeError):
        return False
    return all(t == "float32" for t in types) and translate(call) is not None


def _patterns() -> List[Any]:
    made = []
    for name, (operands, _, _) in OPERATORS.items():
        made.append(relax.transform.FusionPattern("xpu." + name[len("relax."):], is_op(name)(*operands()), {},
                                                  lambda context: _is_taken(context.matched_expr)))
    return made


# ---- from a function to a model ----

class _Writer:
    """A Relax function as an ONNX file. Names are made up; what a variable stands for is a name, or a tuple of them."""

    def __init__(self) -> None:
        self.nodes: List[bytes] = []
        self.constants: List[bytes] = []
        self._numbers = itertools.count()

    def _new(self, start: str) -> str:
        return "%s_%d" % (start, next(self._numbers))

    def _constant(self, array: Any) -> str:
        name = self._new("constant")
        self.constants.append(_onnx.tensor(name, np.ascontiguousarray(array)))
        return name

    def _call(self, call: Any, known: Dict[Any, Any]) -> Any:
        arguments = call.args
        if isinstance(call.op, relax.Var):
            return self.function(known[call.op], [self.value(a, known) for a in arguments], known)
        _, tensors, translate = OPERATORS[call.op.name]
        translated = translate(call)
        if translated is None:
            raise TypeError("%s cannot be translated" % call.op.name)
        op, attributes, constants = translated
        name = self._new(op)
        operands = [self.value(a, known) for a in arguments[:tensors]] + [self._constant(c) for c in constants]
        self.nodes.append(_onnx.node(op, operands, [name], name, attributes))
        return name

    def value(self, expression: Any, known: Dict[Any, Any]) -> Any:
        """What an expression stands for."""
        if isinstance(expression, relax.Var):
            return known[expression]
        if isinstance(expression, tvm.ir.Constant):
            return self._constant(expression.value.numpy())
        if isinstance(expression, relax.Function):
            return expression
        if isinstance(expression, relax.Tuple):
            return tuple(self.value(field, known) for field in expression.fields)
        if isinstance(expression, relax.TupleGetItem):
            return self.value(expression.tuple_value, known)[expression.index]
        if isinstance(expression, relax.Call):
            return self._call(expression, known)
        raise TypeError("%s in a function for the chip" % type(expression).__name__)

    def function(self, function: Any, arguments: List[Any], outer: Mapping[Any, Any]) -> Any:
        """The result of a function whose parameters stand for these."""
        known = dict(outer)
        known.update(zip(function.params, arguments))
        body = function.body
        if isinstance(body, relax.SeqExpr):
            for block in body.blocks:
                for binding in block.bindings:
                    known[binding.var] = self.value(binding.value, known)
            body = body.body
        return self.value(body, known)


def _model_of(function: Any) -> Tuple[bytes, List[str]]:
    """An ONNX file, and the names of its outputs in order."""
    writer = _Writer()
    names = ["x_%d" % i for i in range(len(function.params))]
    inputs = [_onnx.value(name, *_type_of(param)) for name, param in zip(names, function.params)]
    result = writer.function(function, list(names), {})
    kind = getattr(function, "ret_ty", None) or function.ret_struct_info
    outputs = result if isinstance(result, tuple) else (result,)
    types = kind.fields if isinstance(result, tuple) else [kind]
    values = []
    for name, of_value in zip(outputs, types):
        dims = tuple(int(d) if hasattr(d, "value") else str(d) for d in of_value.shape.values)
        values.append(_onnx.value(name, str(of_value.dtype), dims))
    return _onnx.model(writer.nodes, inputs, values, writer.constants), list(outputs)


# ---- TVM's side ----

_programs: Dict[str, Program] = {}
_lock = threading.Lock()
_numbers = itertools.count()
_refused = threading.local()


def programs() -> Dict[str, Program]:
    """What has been compiled in this process, by the name of its function."""
    with _lock:
        return dict(_programs)


def _runner(program: Program, outputs: List[str], device: str) -> Callable[..., None]:
    session = program.session(device)

    def run(*tensors: Any) -> None:
        """Operands, then room for the results."""
        count = len(tensors) - len(outputs)
        result = session.run(tuple(t.numpy() for t in tensors[:count]), stats=False)
        for name, tensor in zip(outputs, tensors[count:]):
            tensor.copyfrom(np.asarray(result.outputs[name]))

    return run


@tvm_ffi.register_global_func("relax.ext.xpu", override=True)
def _codegen(functions: Any, options: Any, _constant_names: Any) -> List[Any]:
    """What RunCodegen calls with the functions of a module: they become functions of this process, by their names."""
    given: Dict[str, Any] = {str(k): str(v) for k, v in dict(options or {}).items()}
    device = given.pop("device", "func")
    made = []
    try:
        for function in functions:
            symbol = str(function.attrs["global_symbol"])
            content, outputs = _model_of(function)
            program = compile_model(content, name=symbol + ".onnx", **given)
            made.append((symbol, program, _runner(program, outputs, device)))
    except Error as error:
        _refused.error = error  # TVM passes on its text alone
        raise
    for symbol, program, run in made:
        tvm_ffi.register_global_func(symbol, run, override=True)
        with _lock:
            _programs[symbol] = program
    return []


def _rename(module: Any) -> Any:
    """Functions get names that no other module of this process has."""
    for variable, function in list(module.functions.items()):
        if isinstance(function, relax.Function) and function.attrs and function.attrs.get("Codegen") == "xpu":
            name = "xpu_%d" % next(_numbers)
            module.update_func(variable, function.with_attr("global_symbol", name))
    return module


def partition(module: Any, params: Optional[Mapping[str, Any]] = None) -> Any:
    """Cuts a Relax module: what the chip takes becomes functions for it, as few as there can be.

    params: values of main's parameters by name, which become constants: weights have to be.
    """
    if params:
        module = relax.transform.BindParams("main", dict(params))(module)
    module = tvm.ir.transform.Sequential([
        relax.transform.DecomposeOpsForInference(), relax.transform.CanonicalizeBindings(),
        relax.transform.FoldConstant(), relax.transform.DeadCodeElimination()])(module)
    module = relax.transform.FuseOpsByPattern(_patterns(), bind_constants=True, annotate_codegen=False)(module)
    return _rename(relax.transform.MergeCompositeFunctions()(module))


def compile(module: Any, target: Any = "llvm", params: Optional[Mapping[str, Any]] = None, *, device: str = "func",
            **options: Any) -> Any:
    """Partitions a Relax module, compiles its parts for the chip and the rest for `target`: an executable for
    tvm.relax.VirtualMachine. device: "func", "rtl" or "ref"; options: precision, chip, and the files
    precision_rules and memory_rules, as of xpu.compile. What the compiler refuses is an xpu.Error."""
    for name in options:
        if name not in _OPTIONS:
            raise TypeError("xpu.tvm.compile() got an unexpected keyword argument '%s': its options are %s" %
                            (name, ", ".join(_OPTIONS)))
    module = partition(module, params)
    _refused.error = None
    try:
        module = relax.transform.RunCodegen({"xpu": dict(options, device=device)})(module)
    except Exception:
        error = _refused.error
        if error is None:
            raise
        raise error from None
    return tvm.compile(module, target)
