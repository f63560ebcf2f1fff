"""Write opens of unusual paths, opens through Hadoop's builder, and the status of a file.

Opens through the builder are Java statements, the status is a Python script, and unusual paths are
either. The stages of an open through the builder are asked which exceptions they permit: the calls
of the builder, `build`, and `get` of the future. A read of a byte follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.models import openfile_stages
from fscontract.contract.models.opened_path import CHECKS_AT_OPEN, CLASS, allowed_kinds
from fscontract.contract.models.openfile_stages import Case, StageVerdict
from fscontract.contract.models.permitted import RAISED
from fscontract.contract.program.content import new_content
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.outcome import Kind, Outcome, raised, words
from fscontract.contract.program.program import Program, Step, resolve_program
from fscontract.contract.script.calls import Form, JavaApi, NoScript, ScriptApi, Source
from fscontract.contract.script.data import content_lines
from fscontract.contract.script.exceptions import exception_classes
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.frame import EXIT, assembled, set_up
from fscontract.contract.script.java_class import JavaClass, condition, raising
from fscontract.contract.script.layout import indented, printed, statement
from fscontract.contract.spec.clauses import clauses

_READ = Step("read_byte")


def path_script(api: ScriptApi, source: Source, failure: Failure, is_fixed: bool) -> str:
    """Return the script of an open of an unusual path; raise NoScript.

    `is_fixed` means that the target has only one file, so that nothing can be made at a path.
    """
    program, at = failure.program, failure.program.at
    assert at is not None
    data = new_content(program.length, at)
    kinds = _right_kinds(failure)
    lines = [
        *set_up([*api.setup, *path_made(api, at.kind, is_fixed)]),
        *_attempt(api, failure),
        *_right(failure, kinds),
        *printed(f"open raises {words(kinds)}", "{stage} {actual!r:.200}"),
        EXIT,
    ]
    return assembled(failure, content_lines((data,), source.content), lines)


def _right_kinds(failure: Failure) -> frozenset[Kind]:
    """Return the kinds of exceptions of which an open of the path has to raise one."""
    at = failure.program.at
    assert at is not None
    if failure.clause == CLASS:
        return frozenset({Kind.NOT_FOUND})
    return allowed_kinds(at.kind, failure.features)


def path_made(api: ScriptApi, kind: str, is_fixed: bool) -> Iterator[str]:
    """Yield the statements that make what is at the path, and set `path`; raise NoScript."""
    if kind == "empty-path":
        yield 'path = ""'
        return
    if kind == "missing":
        yield 'path += "-missing"'
        return
    if is_fixed or (kind == "empty-directory" and not api.makes_directory):
        raise NoScript("nothing can be made at a path of this target")
    if "directory" in kind:
        yield 'path += "-directory"'
    if kind == "empty-directory":
        yield api.makes_directory
        return
    if kind == "directory":
        yield from [api.makes_directory] if api.makes_directory else ()
        yield 'file, path = path, path + "/file"'
    yield from api.write.format("DATA").splitlines()
    if kind == "directory":
        yield "path = file"
    elif kind == "below-file":
        yield 'path += "/below"'
    elif kind == "unreadable":
        if not any(line.startswith("path = directory.name") for line in api.setup):
            raise NoScript("a permission has to be revoked")
        yield "os.chmod(path, 0)"
        yield 'assert not os.access(path, os.R_OK), "this user needs no permission"'


def _attempt(api: ScriptApi, failure: Failure) -> Iterator[str]:
    """Yield the statements that open the path and read, and set `actual` and `stage`."""
    read = api.spell(_READ, "f")
    if read is None or read.form not in (Form.BYTES, Form.BYTE, Form.VALUE):
        raise NoScript("the API has no call that reads a byte")
    yield 'stage = "open:"'
    yield "try:"
    yield from indented(api.opening(Program(failure.program.length, (_READ,)), "f"))
    yield '    stage = "read:"'
    yield f"    actual = {read}"
    if api.remote:
        yield "except (ConnectionError, TimeoutError):"
        yield "    raise SystemExit(2)"
    yield f"except {'BaseException' if api.panics else 'Exception'} as error:"
    yield "    actual = error"


def _right(failure: Failure, kinds: frozenset[Kind]) -> Iterator[str]:
    """Yield the statement that sets `right`."""
    at = failure.program.at
    assert at is not None
    names, more = exception_classes(lambda error: raised(error).kind in kinds, has_numbers=False)
    if not names:
        raise NoScript("no exception of this API is right")
    group = names[0] if len(names) == 1 else f"({', '.join(names)})"
    conditions = [f"isinstance(actual, {group})", *more]
    if at.kind != "unreadable" and CHECKS_AT_OPEN in failure.features:
        conditions.append('stage == "open:"')
    yield from statement(f"right = {' and '.join(conditions)}")


#: Scenes that a class makes at the path.
_SCENES = ("file", "missing", "directory", "foreign")


def java_builder(api: JavaApi, opening: Opening, versions: Mapping[str, str]) -> str:
    """Return the builder of an opening as Java, for these versions of the libraries."""
    made = "fs.openFile(path)"
    for call in opening.calls:
        # the interface lacks bufferSize(), which the class has
        made = f"((FutureDataInputStreamBuilderImpl) {made})" if call[0] == "buffer_size" else made
        made = f"{made}.{api.spell_option(call, versions.get('hadoop', ''))}"
    return made


#: The paths of statuses, by their kind.
_STATUS_PATHS = {
    "own": "path",
    "parents": 'fs.makeQualified(new Path("/other/parents", path.getName()))',
    "scheme": 'new Path("gopher://localhost" + path.toUri().getPath())',
    "name": 'fs.makeQualified(path.suffix("-other"))',
}


def java_status(opening: Opening) -> Iterator[str]:
    """Yield the statements that set the `status` that the builder gets, if any; raise NoScript."""
    statuses = [args for name, *args in opening.calls if name == "with_file_status"]
    statuses = [args for args in statuses if args[0] != "none"]
    if not statuses:
        return
    kind, length = statuses[0]
    if kind not in _STATUS_PATHS or any(args != statuses[0] for args in statuses):
        raise NoScript("the builder gets a status of another class or time, or several statuses")
    own = "fs.getFileStatus(path)"
    if opening.scene in ("missing", "foreign"):
        own = "new FileStatus(-1, false, 0, 0, 0, path)"
    if length is None:
        yield f"FileStatus status = {own if kind == 'own' else f'new FileStatus({own})'};"
    else:
        directory = "true" if opening.scene == "directory" else "false"
        times = "own.getBlockSize(), own.getModificationTime()"
        yield f"FileStatus own = {own};"
        yield f"var status = new FileStatus({length}L, {directory}, 1, {times}, own.getPath());"
    yield from [f"status.setPath({_STATUS_PATHS[kind]});"] if kind != "own" else []


def scene(made: JavaClass, name: str) -> Iterator[str]:
    """Yield the statements that make the scene of an opening at `path`; raise NoScript."""
    if name not in _SCENES:
        raise NoScript(f"the path is of the scene {name}")
    if name == "missing":
        yield from made.emptied()
    elif name == "directory":
        yield from made.directory()
    else:
        yield from made.write()
    if name == "foreign":
        yield 'path = new Path("gopher://localhost" + path.toUri().getPath());'


#: The expectation of an example that reads a byte after the open.
_FIRST_BYTE = ({"byte_at": 0},)


class OpeningClass(JavaClass):
    """An open through a builder, and a read."""

    def __init__(self, api: JavaApi, failure: Failure, data: bytes) -> None:
        super().__init__(api, failure, data)
        program = resolve_program(failure.program, len(data), failure.buffer)
        assert program.opening is not None
        if program.streams > 1:
            raise NoScript("several streams are open")
        self.opening = program.opening
        self.case = Case(
            program.opening,
            len(data),
            failure.features,
            option_table(),
            failure.own_keys,
            failure.unsupported_keys,
        )
        if not self.case.readable:
            return  # any read has to fail
        if not {step.op for step in program.steps} <= {"read_byte"} or len(program.steps) > 1:
            raise NoScript("calls of the stream that the builder opens are judged")
        if self.case.contents(data) != (data,):
            raise NoScript("another length is declared for the file")

    def says(self) -> str:
        """Return the permitted outcomes as text."""
        texts = []
        for stage, judge in self._stages().items():
            kinds = self._permitted(judge)
            texts += [f"{stage} raises {words(kinds)}"] if kinds else []
        if self._returns:
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
        yield from scene(self, self.opening.scene)
        yield from java_status(self.opening)
        stages = [*self._grouped()]
        # If neither the last stage nor the read may raise, either is wrong.
        is_one = self.case.readable and not self._grouped()[stages[-1]]
        labels = [*stages[:-1], f"{stages[-1]} or read"] if is_one else stages
        yield f'String stage = "{labels[0]}";'
        yield "Object actual;"
        yield "try {"
        opened = java_builder(self.api, self.opening, self.failure.versions)
        names = iter(labels[1:])
        if "build" in stages:
            yield f"  FutureDataInputStreamBuilder builder = {opened};"
            yield f'  stage = "{next(names)}";'
            opened = "builder"
        if "get" in stages:
            yield f"  Future<FSDataInputStream> future = {opened}.build();"
            yield f'  stage = "{next(names)}";'
            opened = "future.get()"
        else:
            opened += ".build().get()"
        if is_one:
            yield f"  actual = {opened}.read();"
        else:
            yield f"  FSDataInputStream in = {opened};"
            yield '  stage = "read";'
            yield "  actual = in.read();"
        yield "} catch (Throwable error) {"
        yield "  actual = error instanceof ExecutionException ? error.getCause() : error;"
        yield "}"
        yield from condition("right", self._right())

    @property
    def shown(self) -> str:
        """The expression of the stage and what came."""
        return 'stage + ": " + actual'

    def _permitted(self, judge: Callable[[Outcome], StageVerdict]) -> frozenset[Kind]:
        """Return the kinds of exceptions that a stage may raise; none in an example that reads."""
        examples = clauses()[self.failure.clause].examples
        if _FIRST_BYTE in (e.expect for e in examples if e.program == self.failure.program):
            return frozenset()
        return frozenset(kind for kind in RAISED if judge(Outcome(kind)).failure is None)

    def _grouped(self) -> dict[str, frozenset[Kind]]:
        """Return the kinds that the stages before the read permit; those alike are the first."""
        grouped: dict[str, frozenset[Kind]] = {}
        for stage, judge in self._stages().items():
            kinds = self._permitted(judge)
            if stage != "read" and (not grouped or kinds != [*grouped.values()][-1]):
                grouped[stage] = kinds
        return grouped

    def _right(self) -> Iterator[str]:
        """Yield the conditions of which one holds if the open ended rightly."""
        stages = self._grouped()
        if not self.case.readable:
            stages["read"] = self._permitted(self._stages()["read"])
        for stage, kinds in stages.items():
            yield from (f'stage.equals("{stage}") && {raised}' for raised in raising(kinds))
        if self._returns:
            yield f"actual.equals({self.data[0] if self.data else -1})"

    def content(self) -> Iterator[str]:
        """Yield the statements that make bytes, of which the number and the first one matter."""
        yield f"byte[] data = new byte[{len(self.data)}];"
        yield f"data[0] = (byte) {self.data[0]};"

    @property
    def needs_data(self) -> bool:
        """True if a byte is read."""
        return self._returns and len(self.data) > 0

    @property
    def _returns(self) -> bool:
        """True if the read has to return."""
        return self.case.readable and not self.case.resolution.refusals


class PathClass(JavaClass):
    """An open of an unusual path, and a read if it returns."""

    def __init__(self, api: JavaApi, failure: Failure) -> None:
        at = failure.program.at
        assert at is not None
        super().__init__(api, failure, new_content(failure.program.length, at))
        self.kind = at.kind

    @property
    def needs_data(self) -> bool:
        """False: only the number of bytes matters."""
        return False

    def says(self) -> str:
        """Return the permitted outcomes as text."""
        return f"open raises {words(_right_kinds(self.failure))}"

    def statements(self) -> Iterator[str]:
        """Yield the statements that open the path."""
        yield from self.filesystem()
        yield from self._scene()
        yield "Object actual;"
        yield "boolean opened = false;"
        yield "try (FSDataInputStream in = fs.open(path)) {"
        yield "  opened = true;"
        yield "  actual = in.read();"
        yield "} catch (Throwable error) {"
        yield "  actual = error;"
        yield "}"
        yield from condition("right", raising(_right_kinds(self.failure)))
        if CHECKS_AT_OPEN in self.failure.features and self.kind != "unreadable":
            yield "right &= !opened; // the open has to fail, not the read"

    def _scene(self) -> Iterator[str]:
        if self.kind in ("unreadable", "empty-path"):
            raise NoScript("the path has no permission, or is empty")
        is_directory = self.kind in ("directory", "empty-directory")
        yield from self.directory() if is_directory else self.emptied()
        if self.kind == "directory":
            yield f'{self.files}.create(new Path(path, "file")).close();'
        if self.kind == "below-file":
            yield from self.write()
            yield 'path = new Path(path, "below");'


def _judge_builder(case: Case, calls: range, outcome: Outcome) -> StageVerdict:
    """Judge the calls up to `build`, of which any may raise."""
    verdicts = [openfile_stages.judge_open_file(case, outcome)]
    verdicts += [openfile_stages.judge_call(case, index, outcome) for index in calls]
    return next((one for one in verdicts if one.failure is None), verdicts[0])


#: The clause of the status's length.
STATUS = "model.len-eq-status"


def status_script(api: ScriptApi, source: Source, failure: Failure, data: bytes) -> str:
    """Return the script for the status of a file with this content; raise NoScript."""
    if not api.status:
        raise NoScript("the API has no status of a file")
    lines = [
        *set_up([*api.setup, *api.write.format("DATA").splitlines()]),
        "try:",
        f"    actual = {api.status}",
        "except Exception as error:",
        "    actual = error",
        "right = type(actual) is int and actual == len(DATA)",
        *printed(str(len(data)), "{actual!r:.200}"),
        *api.cleanup,
        EXIT,
    ]
    return assembled(failure, content_lines((data,), source.content), lines)
