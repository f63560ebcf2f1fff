"""Write an open of a path that is not a readable file as Java statements."""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.models.opened_path import CHECKS_AT_OPEN
from fscontract.contract.program.content import new_content
from fscontract.contract.program.outcome import words
from fscontract.contract.script.calls import JavaApi, NoScript
from fscontract.contract.script.failure import Failure
from fscontract.contract.script.java_class import JavaClass, raising
from fscontract.contract.script.unusual_paths import right_kinds


class PathClass(JavaClass):
    """An open of an unusual path, and a read if it returns."""

    def __init__(self, api: JavaApi, failure: Failure) -> None:
        at = failure.program.at
        assert at is not None
        super().__init__(api, failure, new_content(failure.program.length, at))
        self.kind = at.kind

    def says(self) -> str:
        """Return the permitted outcomes as text."""
        return f"open raises {words(right_kinds(self.failure))}"

    def statements(self) -> Iterator[str]:
        """Yield the statements that open the path."""
        yield from self.filesystem()
        yield from self._scene()
        yield "boolean opened = false;"
        yield "try {"
        yield "  FSDataInputStream in = fs.open(path);"
        yield "  opened = true;"
        yield "  actual = in.read();"
        yield "} catch (Throwable error) {"
        yield "  actual = error;"
        yield "}"
        first, *others = raising(right_kinds(self.failure))
        yield f"right = {first};"
        yield from (f"right |= {one};" for one in others)
        if CHECKS_AT_OPEN in self.failure.features and self.kind != "unreadable":
            yield "right &= !opened; // the open has to fail, not the read"

    def _scene(self) -> Iterator[str]:
        if self.kind in ("unreadable", "empty-path"):
            raise NoScript("the path has no permission, or is empty")
        yield "fs.delete(path, true);"
        if self.kind in ("directory", "empty-directory"):
            yield "fs.mkdirs(path);"
        if self.kind == "directory":
            yield 'fs.create(new Path(path, "file")).close();'
        if self.kind == "below-file":
            yield from self.write()
            yield 'path = new Path(path, "below");'
