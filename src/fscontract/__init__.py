"""fscontract: an executable specification of Hadoop's input stream and openFile() contracts."""

from __future__ import annotations

__version__ = "0.1.0"
