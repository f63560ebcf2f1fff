"""F21: block caches request every block of an overstated size."""

from buffered import Store

requests = {}
for cache in ("readahead", "blockcache", "background"):
    fs = Store(skip_instance_cache=True)
    f = fs.open("d/file", cache_type=cache, block_size=1, size=1000)
    assert f.read() == b"abcde"
    requests[cache] = fs.requests
print(requests)  # {'readahead': 1, 'blockcache': 1000, 'background': 2000}
assert requests["readahead"] == 1
assert requests["blockcache"] >= 1000
