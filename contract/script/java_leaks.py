"""Write a program after which descriptors are left as Java statements."""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.program.program import resolve_program
from fscontract.contract.script.calls import NoScript
from fscontract.contract.script.java_class import JavaClass
from fscontract.contract.script.java_openings import opening_expression, scene
from fscontract.contract.script.leaks import COUNTED, WARM_UP

_HELD = 'new java.io.File("/proc/self/fd").list().length'


class LeakClass(JavaClass):
    """Streams that are opened, used and closed, and the descriptors that they leave."""

    def says(self) -> str:
        """Return the permitted outcome as text."""
        return f"that {COUNTED} closed streams hold fewer descriptors than one each"

    def content(self) -> Iterator[str]:
        """Yield the statement that makes bytes, of which only the number matters."""
        yield f"byte[] data = new byte[{len(self.data)}];"

    def statements(self) -> Iterator[str]:
        """Yield the statements that count descriptors before and after some streams."""
        program = resolve_program(self.failure.program, len(self.data), self.failure.buffer)
        if self.failure.clause != "close.release" or program.streams > 1:
            raise NoScript("several streams are open, or one is not closed")
        yield from self.filesystem()
        yield from scene(self, program.opening.scene if program.opening else "file")
        yield "List<Object> streams = new ArrayList<>();"
        yield "int before = 0;"
        yield f"for (int i = 0; i < {WARM_UP + COUNTED}; i++) {{ // a pool may grow at first"
        yield f"  if (i == {WARM_UP}) before = {_HELD};"
        yield f"  try (FSDataInputStream in = {opening_expression(self.api, program.opening)}) {{"
        yield "    streams.add(in); // it is still referenced"
        for step in program.steps:
            call = self.api.spell(step, "in")
            if call is None or step.op in ("change", "reopen"):
                raise NoScript(f"the API has no call for {step}")
            yield f"    try {{ {call}; }} catch (Exception error) {{ }}"
        yield "  } catch (Exception error) { }"
        yield "}"
        yield f"int more = {_HELD} - before;"
        yield 'String actual = more + " more descriptors";'
        yield f"boolean right = more < {COUNTED};"
