"""F21: block caches request every block of an overstated size."""

from buffered import Store

requests = {}
for cache in ("readahead", "blockcache", "background"):
    fs = Store(skip_instance_cache=True)
    file = fs.open("d/file", cache_type=cache, block_size=1, size=1000)
    assert file.read() == b"abcde"
    requests[cache] = fs.requests

assert max(requests.values()) < 100, requests
