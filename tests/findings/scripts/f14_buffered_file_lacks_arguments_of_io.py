"""F14: fsspec's buffered files take fewer arguments than files of io."""

from buffered import Store

f = Store().open("d/file")
for call, argument in ((f.readline, 0), (f.readlines, 1)):
    try:
        call(argument)  # expected bytes
    except TypeError as error:
        print(error)
    else:
        raise SystemExit("fixed")
