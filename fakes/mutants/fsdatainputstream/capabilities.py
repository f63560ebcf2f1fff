"""Mutants of has_capability."""

from __future__ import annotations

from fscontract.fakes.mutants.registry import mutant
from fscontract.implementations.memory import MemoryInputStream


@mutant("caps.unknown")
class CanEverything(MemoryInputStream):
    """Every capability is answered with True."""

    def has_capability(self, name: str) -> bool:
        return super().has_capability(name) or True


@mutant("caps.case")
class CapabilityByCase(MemoryInputStream):
    """Capabilities are recognised in lower case only."""

    def has_capability(self, name: str) -> bool:
        return super().has_capability(name) and name == name.lower()


@mutant("caps.bytebuffer")
class BufferUndeclared(MemoryInputStream):
    """in:readbytebuffer is not declared."""

    def has_capability(self, name: str) -> bool:
        return super().has_capability(name) and name.lower() != "in:readbytebuffer"


@mutant("caps.preadbytebuffer")
class PreadBufferUndeclared(MemoryInputStream):
    """in:preadbytebuffer is not declared."""

    def has_capability(self, name: str) -> bool:
        return super().has_capability(name) and name.lower() != "in:preadbytebuffer"


@mutant("vread.capability")
class VectoredUndeclared(MemoryInputStream):
    """in:readvectored is not declared."""

    def has_capability(self, name: str) -> bool:
        return super().has_capability(name) and name.lower() != "in:readvectored"
