"""An HTTP proxy on this machine that lets the requests to a store fail by a plan of faults."""

from fscontract.fakes.fault_proxy.relay import ProxyInjector, is_object
from fscontract.fakes.fault_proxy.server import FaultProxy, LoggedRequest

__all__ = ["FaultProxy", "LoggedRequest", "ProxyInjector", "is_object"]
