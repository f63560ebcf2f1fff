"""S35: after an error, a file of OpenDAL reports its end."""

from misbehaving import opendal_operator, serving

from fscontract.fakes import Fault, FaultPlan

seen = []
with serving(b"0123456789") as server:
    server.injector.attach(FaultPlan((Fault("slow-down"),)))
    file = opendal_operator(server).open("k", "rb")
    for _ in range(2):
        try:
            seen.append(file.read(4))
        except Exception as error:
            seen.append(error)
assert b"" not in seen, seen
