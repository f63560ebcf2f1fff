"""L18: iteration over a File of Django begins at the start, wherever the file is."""

import io

from django.core.files import File

file = File(io.BytesIO(b"id,name\n1,a\n2,b\n"), name="rows.csv")
header = file.readline()
rows = list(file)
assert rows == [b"1,a\n", b"2,b\n"], rows
