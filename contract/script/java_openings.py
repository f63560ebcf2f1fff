"""Write an open through Hadoop's builder as Java statements.

The stages of the open are asked which exceptions they permit: the calls of the builder, `build`,
and `get` of the future. A read of a byte follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.models import openfile_stages
from fscontract.contract.models.openfile_stages import Case, StageVerdict
from fscontract.contract.models.permitted import RAISED
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.outcome import Kind, Outcome, words
from fscontract.contract.program.program import Step, resolve_program
from fscontract.contract.script.calls import JavaApi, NoScript
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.java_class import JavaClass, raising
from fscontract.contract.spec.clauses import clauses

_READ = Step("read_byte")
#: Scenes that a class makes at the path.
_SCENES = ("file", "missing", "directory")


#: The class of Hadoop's builders.
_IMPLEMENTATION = "org.apache.hadoop.fs.impl.FutureDataInputStreamBuilderImpl"


def opening_expression(api: JavaApi, opening: Opening | None) -> str:
    """Return the expression that opens `path`, with a builder if there is one; raise NoScript."""
    if opening is None:
        return "fs.open(path)"
    return ".".join([_builder(api, opening), "build()", "get()"])


def _builder(api: JavaApi, opening: Opening) -> str:
    if any(name == "with_file_status" and args[0] != "own" for name, *args in opening.calls):
        raise NoScript("the builder gets a status that a class would have to forge")
    made = "fs.openFile(path)"
    for call in opening.calls:
        # the interface lacks bufferSize(), which the class has
        made = f"(({_IMPLEMENTATION}) {made})" if call[0] == "buffer_size" else made
        made = f"{made}.{api.spell_option(call)}"
    return made


class OpeningClass(JavaClass):
    """An open through a builder, and a read."""

    def __init__(self, api: JavaApi, failure: Failure, data: bytes) -> None:
        super().__init__(api, failure, data)
        program = resolve_program(failure.program, len(data), failure.buffer)
        assert program.opening is not None
        if clauses()[failure.clause].cost is not None or program.streams > 1:
            raise NoScript("requests are counted, or several streams are open")
        if program.opening.scene not in _SCENES:
            raise NoScript(f"the path is of the scene {program.opening.scene}")
        if not {step.op for step in program.steps} <= {"read_byte"} or len(program.steps) > 1:
            raise NoScript("calls of the stream that the builder opens are judged")
        self.opening = program.opening
        self.case = Case(
            program.opening,
            len(data),
            failure.features,
            option_table(),
            failure.own_keys,
            failure.unsupported_keys,
        )
        if self.case.readable and self.case.contents(data) != (data,):
            raise NoScript("another length is declared for the file")

    def says(self) -> str:
        """Return the permitted outcomes as text."""
        texts = []
        for stage, judge in self._stages().items():
            kinds = _permitted(judge)
            texts += [f"{stage} raises {words(kinds)}"] if kinds else []
        if self.case.readable and not self.case.resolution.refusals:
            texts.append(f"read returns {self.data[0] if self.data else -1}")
        return " or ".join(texts)

    def _stages(self) -> dict[str, Callable[[Outcome], StageVerdict]]:
        """Return the judge of each stage, up to the one that has to raise."""
        calls = range(len(self.opening.calls))
        judges: dict[str, Callable[[Outcome], StageVerdict]] = {
            "builder": partial(_judge_builder, self.case, calls)
        }
        judges["build"] = partial(openfile_stages.judge_build, self.case)
        judges["get"] = partial(openfile_stages.judge_get, self.case)
        if not self.case.readable:
            judges["read"] = partial(openfile_stages.judge_doomed, self.case, _READ)
        return judges

    def statements(self) -> Iterator[str]:
        """Yield the statements that open the file and judge the stage at which it fails."""
        yield from self.filesystem()
        yield from self._scene()
        yield 'String stage = "builder";'
        yield "try {"
        yield "  FutureDataInputStreamBuilder builder ="
        yield f"      {_builder(self.api, self.opening)};"
        yield '  stage = "build";'
        yield "  Future<FSDataInputStream> future = builder.build();"
        yield '  stage = "get";'
        yield "  FSDataInputStream in = future.get();"
        yield '  stage = "read";'
        yield "  actual = in.read();"
        yield "} catch (Throwable error) {"
        yield "  actual = error instanceof ExecutionException ? error.getCause() : error;"
        yield "}"
        yield "right = false;"
        for stage, judge in self._stages().items():
            conditions = [*raising(_permitted(judge))]
            for condition in conditions:
                yield f'right |= stage.equals("{stage}") && {condition};'
        if self.case.readable and not self.case.resolution.refusals:
            first = "data[0] & 0xff" if self.data else "-1"
            yield f"right |= actual.equals({first});"
        yield 'actual = stage + ": " + actual;'

    def _scene(self) -> Iterator[str]:
        if self.opening.scene == "file":
            yield from self.write()
            return
        yield "fs.delete(path, true);"
        if self.opening.scene == "directory":
            yield "fs.mkdirs(path);"


def _judge_builder(case: Case, calls: range, outcome: Outcome) -> StageVerdict:
    """Judge the calls up to `build`, of which any may raise."""
    verdicts = [openfile_stages.judge_open_file(case, outcome)]
    verdicts += [openfile_stages.judge_call(case, index, outcome) for index in calls]
    return next((one for one in verdicts if one.failure is None), verdicts[0])


def _permitted(judge: Callable[[Outcome], StageVerdict]) -> frozenset[Kind]:
    """Return the kinds of exceptions that a stage may raise."""
    return frozenset(kind for kind in RAISED if judge(Outcome(kind)).failure is None)
