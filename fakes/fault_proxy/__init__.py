"""An HTTP proxy on this machine that makes requests to a store fail according to a plan."""

from fscontract.fakes.fault_proxy.relay import ProxyInjector, is_object
from fscontract.fakes.fault_proxy.server import FaultProxy, LoggedRequest

__all__ = ["FaultProxy", "LoggedRequest", "ProxyInjector", "is_object"]
