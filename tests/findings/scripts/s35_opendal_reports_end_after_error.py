"""S35: after an error, a file of OpenDAL reports its end."""

from misbehaving import opendal_operator, serving

from fscontract.fakes import Fault, FaultPlan

with serving(b"0123456789") as server:
    server.injector.attach(FaultPlan((Fault("slow-down"),)))
    with opendal_operator(server).open("k", "rb") as file:
        try:
            file.read(4)
        except Exception as error:
            assert "503" in str(error) or "SlowDown" in str(error), error
        else:
            raise SystemExit("fixed")
        assert file.read(4) == b""  # expected b"0123"
