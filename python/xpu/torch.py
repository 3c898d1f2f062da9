"""torch.compile on the chip. Needs PyTorch with its ONNX exporter (PyPI's torch, onnx, onnxscript) and NumPy.

    import xpu.torch
    model = torch.compile(model, backend="xpu", options={"device": "rtl", "precision": "auto"})

A graph goes to the chip as a whole, through torch.export and ONNX, when it is first called. One that cannot be
exported, or that the compiler refuses, is left to PyTorch with a warning; with the option fallback=False it is an error.
"""

import contextlib
import copy
import io
import logging
import re
import threading
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np
import torch

from ._compile import compile as compile_model, _check_options
from ._errors import Error, ModelError, Problem
from ._program import Program
from ._session import Session

__all__ = ["backend", "programs"]

_Made = Tuple[Session, List[str]]  # and the names of its outputs

_programs: List[Program] = []
_lock = threading.Lock()
_exporting = threading.RLock()


def programs() -> List[Program]:
    """What has been compiled in this process, in order."""
    with _lock:
        return list(_programs)


class _Whole(torch.nn.Module):
    """A graph whose weights are constants; sizes that it takes as numbers are read off its tensors."""

    def __init__(self, graph: Any, constants: Dict[int, Any], sizes: Dict[int, Tuple[int, int]]) -> None:
        super().__init__()
        self.graph, self.sizes, self.fixed = graph, sizes, sorted(constants)
        for place, tensor in constants.items():
            self.register_buffer("constant_%d" % place, tensor.detach())

    def forward(self, *tensors: Any) -> Any:
        arguments: List[Any] = []
        rest = iter(tensors)
        for place in range(len(self.fixed) + len(self.sizes) + len(tensors)):
            if place in self.sizes:
                of, axis = self.sizes[place]
                arguments.append(tensors[of].shape[axis])
            else:
                arguments.append(getattr(self, "constant_%d" % place) if place in self.fixed else next(rest))
        return self.graph(*arguments)


def _refused(rule: str, what: str, hint: str, reason: Optional[str] = None, where: Optional[str] = None) -> ModelError:
    problem = Problem("error", rule, what, reason, hint, None, where)
    return ModelError(str(problem), (problem,))


def _not_exported(error: Exception) -> ModelError:
    """Of a chain of errors of PyTorch's exporter: the node that one of them names, and what the first of them said."""
    chain: List[BaseException] = []
    last: Optional[BaseException] = error
    while last and all(last is not e for e in chain):  # an error can be its own cause
        chain.append(last)
        last = last.__cause__ or last.__context__
    nodes = [found.group(1) for found in (re.search(r"\bnode %(\w+)", str(e)) for e in chain) if found]
    reason = next((line.strip() for line in str(chain[-1]).splitlines() if line.strip()), type(chain[-1]).__name__)
    return _refused("torch-export", "PyTorch cannot export the graph",
                    "torch.onnx.export(model, inputs, dynamo=True) shows all of it", reason,
                    "node '%s'" % nodes[0] if nodes else None)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Without PyTorch's warnings, and what its exporter logs of packages that it could use. Both are settings of the
    process: one thread at a time, or one would put back what another has set."""
    logger = logging.getLogger("torch.onnx._internal.exporter._registration")
    with _exporting:
        level = logger.level
        logger.setLevel(logging.ERROR)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            logger.setLevel(level)


def _exported(module: Any, arguments: Sequence[Any], open_axes: Sequence[Sequence[int]]) -> Tuple[bytes, List[str]]:
    """An ONNX file, and the names of its outputs in order."""
    shapes = tuple({axis: torch.export.Dim.AUTO for axis in axes} for axes in open_axes)
    with _silent():
        program = torch.export.export(module, tuple(arguments), dynamic_shapes={"tensors": shapes})
        signature = program.run_decompositions().graph_signature  # only these show what batch norms write
        if signature.buffers_to_mutate or signature.user_inputs_to_mutate:
            raise _refused("torch-mutation", "the graph writes to its inputs or to the model's buffers",
                           "model.eval(), or leave what writes out of torch.compile")
        for node in program.graph.nodes:
            if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
                raise _refused("torch-random", "it draws random numbers",
                               "model.eval(), or leave what draws out of torch.compile", None,
                               "node '%s' (%s)" % (node.name, node.target))
        onnx = torch.onnx.export(program, dynamo=True, verbose=False)
    names = [value.name for value in onnx.model.graph.outputs]
    file = io.BytesIO()
    file.write(onnx.model_proto.SerializeToString())
    return file.getvalue(), names


def _identity(tensors: Sequence[Any]) -> Tuple[Any, ...]:
    """Changes when a weight is written to."""
    return tuple((t.data_ptr(), 0 if t.is_inference() else t._version) for t in tensors)


class _Graph:
    """A graph of torch.compile with its programs: one for all sizes where it can be, else one for each."""

    def __init__(self, graph: Any, examples: Sequence[Any], given: Dict[str, Any]) -> None:
        self.graph = graph
        self.device = str(given.pop("device", "func"))
        self.fallback = bool(given.pop("fallback", True))
        _check_options("torch.compile", given)
        self.given = given
        places = [n for n in graph.graph.nodes if n.op == "placeholder"]
        self.weights = [i for i, (n, e) in enumerate(zip(places, examples)) if isinstance(e, torch.nn.Parameter) or (
            n.meta.get("tensor_dict") or {}).get("_dynamo_static_input_type")]
        # Here sizes are symbols; the examples that are given may have numbers
        examples = [n.meta.get("example_value", e) for n, e in zip(places, examples)]
        self.tensors = [i for i, e in enumerate(examples) if isinstance(e, torch.Tensor) and i not in self.weights]
        self.open = [[a for a, d in enumerate(examples[i].shape) if isinstance(d, torch.SymInt)] for i in self.tensors]
        self.sizes: Dict[int, Tuple[int, int]] = {}
        for i, example in enumerate(examples):
            if not isinstance(example, torch.Tensor):
                found = [(t, axis) for t, (place, axes) in enumerate(zip(self.tensors, self.open)) for axis in axes
                         if str(examples[place].shape[axis]) == str(example)]
                if found:
                    self.sizes[i] = found[0]
        self.others = [i for i, e in enumerate(examples) if not isinstance(e, torch.Tensor) and i not in self.sizes]
        self.lock = threading.Lock()
        self.made: Dict[Any, Union[_Made, Error]] = {}
        self.identity: Any = None
        self.warned = False

    def _warn(self, error: Exception) -> None:
        if not self.fallback:
            raise error
        if not self.warned:
            self.warned = True
            warnings.warn("a graph of torch.compile is left to PyTorch:\n%s" % error, RuntimeWarning, stacklevel=4)

    def _compiled(self, arguments: Sequence[Any], axes: Sequence[Sequence[int]]) -> _Made:
        module = _Whole(self.graph, {i: arguments[i] for i in self.weights}, self.sizes)
        try:
            content, names = _exported(module, [arguments[i] for i in self.tensors], axes)
        except Error:
            raise
        except Exception as error:  # of many classes
            raise _not_exported(error) from error
        program = compile_model(content, name="torch.onnx", **self.given)
        with _lock:
            _programs.append(program)
        return program.session(self.device), names

    def _session(self, arguments: Sequence[Any]) -> _Made:
        """That of the arguments' sizes. What could not be compiled is an error each time."""
        weights = _identity([arguments[i] for i in self.weights])
        sizes = tuple(tuple(arguments[i].shape) for i in self.tensors)
        with self.lock:
            if weights != self.identity:
                self.made, self.identity = {}, weights
            if any(self.open) and "all" not in self.made:
                try:
                    self.made["all"] = self._compiled(arguments, self.open)
                except Error as error:  # each size gets a program of its own
                    self.made["all"] = copy.copy(error)
            for_all = self.made.get("all")
            if for_all and not isinstance(for_all, Error):
                return for_all
            if sizes not in self.made:
                try:
                    self.made[sizes] = self._compiled(arguments, [[] for _ in self.tensors])
                except Error as error:
                    self.made[sizes] = copy.copy(error)  # without what its traceback keeps
                    raise
            found = self.made[sizes]
        if isinstance(found, Error):
            raise copy.copy(found)
        return found

    def _check(self, arguments: Sequence[Any]) -> None:
        given = [a for a in arguments if isinstance(a, torch.Tensor)]
        if torch.is_grad_enabled() and any(t.requires_grad for t in given):
            raise _refused("torch-gradient", "the chip computes no gradients", "call the model under torch.no_grad()")
        if any(t.device.type != "cpu" for t in given):
            raise _refused("torch-device", "a tensor is not in the host's memory", "model.cpu() and tensor.cpu()")
        if self.others:
            raise _refused("torch-number", "the graph takes a number that is no tensor's size",
                           "give it as a tensor, or torch.compile(..., dynamic=False)")

    def __call__(self, *arguments: Any) -> Any:
        try:
            self._check(arguments)
            session, names = self._session(arguments)
        except Error as error:
            self._warn(error)
            return self.graph(*arguments)
        inputs = tuple(np.ascontiguousarray(arguments[i].detach().numpy()) for i in self.tensors)
        result = session.run(inputs, stats=False)
        return tuple(torch.from_numpy(np.array(result.outputs[name])) for name in names)


def backend(graph: Any, examples: Sequence[Any], *, options: Optional[Dict[str, Any]] = None,
            **_more: Any) -> Callable[..., Any]:
    """What torch.compile calls with a graph. options: device ("func", "rtl" or "ref"), fallback (True), and those of
    xpu.compile."""
    return _Graph(graph, examples, dict(options or {}))


if "xpu" not in torch._dynamo.list_backends():  # the entry point of the wheel else
    torch._dynamo.register_backend(name="xpu", compiler_fn=backend)
