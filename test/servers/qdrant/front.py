"""Qdrant's REST interface, as far as the vector index uses it, over the local mode of Qdrant's own Python client.

Started with a port. Keeps everything in memory, serves on 127.0.0.1, and ends when its standard input does, so that it never
outlives the tests that started it. A call that it does not know is refused instead of being answered by guess.
"""

import json
import os
import re
import sys
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from qdrant_client import QdrantClient, models

# The local mode says that servers do better with many points and with indexes, which is known.
warnings.filterwarnings("ignore")

client = QdrantClient(":memory:")
lock = threading.Lock()


def parsed(model, body, member):
    value = body.get(member)
    return None if value is None else model.model_validate(value)


def exists(name, _body):
    return {"exists": client.collection_exists(name)}


def create(name, body):
    if client.collection_exists(name):
        raise Refused(409, f"Collection `{name}` already exists!")
    return client.create_collection(name, vectors_config=parsed(models.VectorParams, body, "vectors"))


def describe(name, _body):
    require(name)
    return client.get_collection(name).model_dump(mode="json")


def create_index(name, _body):
    require(name)
    return completed()


def upsert(name, body):
    require(name)
    points = [models.PointStruct.model_validate(point) for point in body["points"]]
    size = client.get_collection(name).config.params.vectors.size
    if any(len(point.vector) != size for point in points):
        raise Refused(400, f"Vector dimension error: expected dim: {size}")
    client.upsert(name, points)
    return completed()


def delete(name, body):
    require(name)
    if "filter" in body:
        selector = models.FilterSelector(filter=models.Filter.model_validate(body["filter"]))
    else:
        selector = models.PointIdsList(points=body["points"])
    client.delete(name, selector)
    return completed()


def query(name, body):
    require(name)
    response = client.query_points(
        name,
        query=body["query"],
        query_filter=parsed(models.Filter, body, "filter"),
        limit=body["limit"],
        score_threshold=body.get("score_threshold"),
        with_payload=body.get("with_payload", False),
        with_vectors=body.get("with_vector", False),
    )
    return response.model_dump(mode="json")


def retrieve(name, body):
    require(name)
    found = client.retrieve(name, body["ids"], with_payload=body.get("with_payload", True), with_vectors=body.get("with_vector", False))
    return [record.model_dump(mode="json") for record in found]


def scroll(name, body):
    require(name)
    points, following = client.scroll(
        name,
        scroll_filter=parsed(models.Filter, body, "filter"),
        limit=body["limit"],
        offset=body.get("offset"),
        with_payload=body.get("with_payload", True),
        with_vectors=body.get("with_vector", False),
    )
    return {"points": [point.model_dump(mode="json") for point in points], "next_page_offset": following}


def count(name, body):
    require(name)
    return client.count(name, count_filter=parsed(models.Filter, body, "filter"), exact=True).model_dump(mode="json")


def drop(name, _body):
    return client.delete_collection(name)


ROUTES = {
    ("GET", "/exists"): exists,
    ("PUT", ""): create,
    ("GET", ""): describe,
    ("DELETE", ""): drop,
    ("PUT", "/index"): create_index,
    ("PUT", "/points"): upsert,
    ("POST", "/points/delete"): delete,
    ("POST", "/points/query"): query,
    ("POST", "/points"): retrieve,
    ("POST", "/points/scroll"): scroll,
    ("POST", "/points/count"): count,
}


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def require(name):
    if not client.collection_exists(name):
        raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")


def completed():
    return {"operation_id": 0, "status": "completed"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length > 0 else {}
        match = re.fullmatch(r"/collections/([^/]+)(/.*)?", self.path.split("?")[0])
        call = ROUTES.get((self.command, (match.group(2) or "") if match else None))
        try:
            if call is None:
                raise Refused(501, f"{self.command} {self.path} is not part of this stand-in")
            with lock:
                result = call(match.group(1), body)
            self.reply(200, {"result": result, "status": "ok", "time": 0})
        except Refused as error:
            self.reply(error.status, {"status": {"error": str(error)}, "time": 0})
        except Exception as error:  # whatever the library refuses is the caller's fault here, as it would be at the server
            self.reply(400, {"status": {"error": f"{type(error).__name__}: {error}"}, "time": 0})

    do_GET = do_PUT = do_POST = do_DELETE = answer

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_arguments):
        pass


def end_with_input():
    while sys.stdin.buffer.read(1):
        pass
    os._exit(0)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
threading.Thread(target=end_with_input, daemon=True).start()
server.serve_forever()
