#!/usr/bin/env python3
"""The gateway's HTTP server, where client libraries hide what matters."""
import contextlib
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from gateway_server import DEADLINE_S, Server, queue_url, request  # noqa: E402


def create(name):
    return request("CreateQueue", json.dumps({"QueueName": name}))


def send(name, body="x"):
    return request("SendMessage", json.dumps({"QueueUrl": queue_url(name), "MessageBody": body}))


def receive(name, wait=0, **more):
    return request("ReceiveMessage", json.dumps(
        {"QueueUrl": queue_url(name), "WaitTimeSeconds": wait, **more}))


def encoded(coding, more="", version="1.1"):
    return (f"POST / HTTP/{version}\r\nHost: h\r\n{more}Transfer-Encoding: {coding}\r\n\r\n"
            "3\r\nabc\r\n0\r\n\r\n")


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--anonymous")

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def ask(self, text):
        with self.server.connect() as connection:
            connection.send(text)
            return connection.answer()

    def make_queue(self):
        name = self.id().rsplit(".", 1)[1][-60:]
        self.assertEqual(self.ask(create(name))[0], 200)
        return name

    def stats(self):
        _, _, body = self.ask(request("GetAPIStats", "{}"))
        return json.loads(body)["CallStats"]

    def wait_until(self, condition):
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)

    def peek(self, name):
        with urllib.request.urlopen(
                f"{self.server.url}/_aws/sqs/messages?QueueUrl={queue_url(name)}",
                timeout=DEADLINE_S) as answer:
            return answer.read().decode()

    def test_a_connection_is_used_again(self):
        with self.server.connect() as connection:
            for _ in range(3):
                connection.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
                status, fields, body = connection.answer()
                self.assertEqual((status, json.loads(body)), (200, {"status": "ok"}))
                self.assertNotIn("connection", fields)

    def test_requests_sent_at_once_are_answered_in_order(self):
        queue = self.make_queue()
        with self.server.connect() as connection:
            connection.send("".join(send(queue, f"message {i}") for i in range(50)))
            ids = [json.loads(connection.answer()[2])["MessageId"] for _ in range(50)]
        self.assertEqual(ids, sorted(ids))
        self.assertEqual(len(set(ids)), 50)

    def test_what_follows_a_waiting_receive_waits_for_it(self):
        queue = self.make_queue()
        with self.server.connect() as connection:
            connection.send(receive(queue, 1) + send(queue))
            self.assertEqual(connection.answer()[2], b"{}")
            self.assertIn(b"MessageId", connection.answer()[2])

    def test_a_body_that_was_asked_for(self):
        queue = self.make_queue()
        head, body = request("SendMessage", json.dumps(
            {"QueueUrl": queue_url(queue), "MessageBody": "x" * 100_000}),
            "Expect: 100-continue\r\n").split("\r\n\r\n")
        with self.server.connect() as connection:
            connection.send(head + "\r\n\r\n")
            self.assertEqual(connection.head()[0], 100)
            connection.send(body)
            self.assertEqual(connection.answer()[0], 200)

    def test_a_chunked_body_byte_by_byte(self):
        body = json.dumps({"QueueName": "chunked"})
        text = ("POST / HTTP/1.1\r\nHost: h\r\nX-Amz-Target: AmazonSQS.CreateQueue\r\n"
                "Transfer-Encoding: chunked\r\n\r\n")
        text += "".join(f"1\r\n{c}\r\n" for c in body) + "0\r\n\r\n"
        with self.server.connect() as connection:
            for c in text:
                connection.send(c)
            self.assertEqual(connection.answer()[0], 200)

    def test_http_1_0_closes_unless_asked_not_to(self):
        with self.server.connect() as connection:
            connection.send("GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            self.assertEqual(connection.answer()[1]["connection"], "keep-alive")
            connection.send("GET /health HTTP/1.0\r\n\r\n")
            self.assertEqual(connection.answer()[1]["connection"], "close")
            self.assertTrue(connection.closed())

    def test_a_head_request_has_no_body(self):
        with self.server.connect() as connection:
            connection.send("HEAD /health HTTP/1.1\r\nHost: h\r\n\r\n")
            status, fields = connection.head()
            self.assertEqual((status, fields["content-length"]), (200, "15"))
            connection.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
            self.assertEqual(connection.answer()[0], 200)

    def test_what_is_no_http_is_refused_and_the_connection_closed(self):
        for text, status in [
                ("GET / HTTP/1.1\r\n\r\n", 400),
                ("GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400),
                ("GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400),
                ("GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n\tc\r\n\r\n", 400),
                ("GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400),
                ("GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n", 400),
                ("GET / HTTP/1.1\r\nHost: h\nA: b\r\n\r\n", 400),
                (encoded("chunked", version="1.0"), 400),
                (encoded("chunked", "Content-Length: 3\r\n"), 400),
                (encoded("chunked", "Transfer-Encoding: chunked\r\n"), 400),
                *((encoded(coding), 501) for coding in (
                    "gzip", "identity", "gzip, chunked", "chunked, chunked", "chunked, identity",
                    "chunked;q=1", "xchunked", "chunkedx", "\"chunked\"", ",chunked", "")),
                ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n"
                 "\r\nab", 400),
                *((f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {size}\r\n\r\nabc", 400)
                  for size in ("+3", "-3", "3,3", "0x3", "3 3", "")),
                ("GET / HTTP/1.1\r\nHost: h\r\nA: " + "b" * 20_000 + "\r\n\r\n", 431),
                ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n" + "x" * 99, 413),
                ("\x16\x03\x01 hello\r\n\r\n", 400)]:
            with self.subTest(text=text[:80]), self.server.connect() as connection:
                connection.send(text)
                got, fields, _ = connection.answer()
                self.assertEqual((got, fields["connection"]), (status, "close"))
                self.assertTrue(connection.closed())

    def test_a_client_that_hangs_up_never_swallows_a_message(self):
        queue = self.make_queue()
        for _ in range(20):
            before = self.stats().get("ReceiveMessage", 0)
            connection = self.server.connect()
            connection.send(receive(queue, 20))
            self.wait_until(lambda b=before: self.stats().get("ReceiveMessage", 0) > b)
            connection.socket.close()
            self.assertEqual(self.ask(send(queue))[0], 200)
            deadline = time.monotonic() + DEADLINE_S
            messages = []
            while not messages:
                self.assertLess(time.monotonic(), deadline)
                _, _, body = self.ask(receive(queue, 1, VisibilityTimeout=1000))
                messages = json.loads(body).get("Messages", [])
            self.ask(request("DeleteMessage", json.dumps(
                {"QueueUrl": queue_url(queue), "ReceiptHandle": messages[0]["ReceiptHandle"]})))

    def test_a_parked_receive_holds_up_nobody(self):
        queue = self.make_queue()
        parked = []
        for _ in range(200):
            connection = self.server.connect()
            connection.send(receive(queue, 20))
            parked.append(connection)
        begin = time.monotonic()
        self.assertEqual(self.ask("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")[0], 200)
        self.assertLess(time.monotonic() - begin, 2)
        for connection in parked:
            connection.socket.close()

    def test_an_action_works_on_the_url_of_its_queue(self):
        queue = self.make_queue()
        form = "Action=SendMessage&MessageBody=hello"
        status, fields, body = self.ask(
            f"POST /000000000000/{queue} HTTP/1.1\r\nHost: h\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(form)}\r\n\r\n{form}")
        self.assertEqual((status, fields["content-type"]), (200, "text/xml"))
        self.assertIn(b"<SendMessageResult>", body)
        status, _, body = self.ask(
            f"GET /000000000000/{queue}?Action=CreateQueue&QueueName=a HTTP/1.1\r\nHost: h\r\n\r\n")
        self.assertEqual(status, 400)
        self.assertIn(b"<Code>InvalidAction</Code>", body)
        self.assertIn("<Body>hello</Body>", self.peek(queue))

    def test_urls_of_queues_carry_the_host_that_the_caller_used(self):
        _, _, body = self.ask(create("q").replace("Host: localhost", "Host: some.where:1234"))
        self.assertEqual(json.loads(body)["QueueUrl"], "http://some.where:1234/000000000000/q")

    def test_an_unescaped_plus_in_a_handle(self):
        queue = self.make_queue()
        self.ask(send(queue))
        _, _, body = self.ask(receive(queue))
        handle = json.loads(body)["Messages"][0]["ReceiptHandle"]
        self.assertIn("+", handle)
        form = f"Action=DeleteMessage&QueueUrl={queue_url(queue)}&ReceiptHandle={handle}"
        status, _, body = self.ask(f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {len(form)}"
                                   f"\r\n\r\n{form}")
        self.assertEqual(status, 200, body)

    def test_what_emulators_tell_of_themselves(self):
        _, _, body = self.ask("GET /_localstack/health HTTP/1.1\r\nHost: h\r\n\r\n")
        self.assertEqual(json.loads(body)["services"]["sqs"], "running")
        status, _, body = self.ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        self.assertEqual(status, 404)
        self.assertIn(b"<UnknownOperationException", body)

    def test_peeking_takes_nothing_away(self):
        queue = self.make_queue()
        self.ask(send(queue, "one"))
        path = f"/_aws/sqs/messages/us-east-1/000000000000/{queue}"
        for _ in range(2):
            _, _, body = self.ask(f"GET {path} HTTP/1.1\r\nHost: h\r\n"
                                  "Accept: application/json\r\n\r\n")
            result = json.loads(body)["ReceiveMessageResponse"]["ReceiveMessageResult"]
            self.assertEqual(result["Message"]["Body"], "one")
        status, _, body = self.ask(receive(queue).replace(
            "POST / ", "POST /_aws/sqs/messages "))
        self.assertEqual(json.loads(body)["Messages"][0]["Body"], "one")
        self.assertIn(b"one", self.ask(receive(queue))[2])


class Limits(unittest.TestCase):
    def test_idle_and_slow_clients_are_let_go(self):
        with Server("--anonymous", "--seconds", 1) as server:
            for text in ("", "GET /health HT", request("CreateQueue", "{}x" * 100)[:-50]):
                with server.connect() as connection:
                    connection.send(text)
                    self.assertTrue(connection.closed())
            with server.connect() as connection:  # while a receive may wait
                connection.send(create("q"))
                connection.answer()
                connection.send(receive("q", 3))
                self.assertEqual(connection.answer()[2], b"{}")

    def test_connections_are_bounded_in_number(self):
        with Server("--anonymous", "--connections", 2) as server:
            taken = [server.connect() for _ in range(2)]
            for connection in taken:
                connection.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
                self.assertEqual(connection.answer()[0], 200)
            with server.connect() as connection:
                self.assertTrue(connection.closed())
            taken.pop().socket.close()
            taken.pop().socket.close()
            deadline = time.monotonic() + DEADLINE_S
            while True:  # until the server has seen that they are gone
                self.assertLess(time.monotonic(), deadline)
                with server.connect() as connection:
                    try:
                        connection.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
                        self.assertEqual(connection.answer()[0], 200)
                        break
                    except (AssertionError, ConnectionError):
                        continue

    def test_a_body_that_is_only_announced_takes_no_memory(self):
        head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\n"
        with Server("--anonymous") as server, contextlib.ExitStack() as stack:
            before = server.resident_bytes()
            for _ in range(100):
                stack.enter_context(server.connect()).send(head + "x" * 100)
            with server.connect() as connection:
                connection.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
                self.assertEqual(connection.answer()[0], 200)
            self.assertLess(server.resident_bytes() - before, 20_000_000)

    def test_a_body_takes_no_more_than_its_length(self):
        body = json.dumps({"QueueUrl": queue_url("q"), "MessageBody": "x" * 1_900_000})
        with Server("--anonymous", "--arriving", 1 << 21) as server, server.connect() as connection:
            connection.send(create("q"))
            self.assertEqual(connection.answer()[0], 200)
            connection.send(request("SendMessage", body))
            self.assertEqual(connection.answer()[0], 200)

    def test_who_waits_to_go_on_is_turned_away_where_there_is_no_room(self):
        head = request("SendMessage", "x" * 100_000, "Expect: 100-continue\r\n")[:-100_000]
        with Server("--anonymous", "--arriving", 10_000) as server:
            with server.connect() as connection:
                connection.send(head)
                self.assertEqual(connection.head()[0], 100)
                self.assertEqual(connection.answer()[0], 503)
                self.assertTrue(connection.closed())

    def test_what_arrives_at_once_is_bounded(self):
        body = json.dumps({"QueueUrl": queue_url("q"), "MessageBody": "x" * 600_000})
        with Server("--anonymous", "--arriving", 1 << 21) as server:
            with server.connect() as connection:
                connection.send(create("q"))
                self.assertEqual(connection.answer()[0], 200)
            with contextlib.ExitStack() as stack:
                for _ in range(10):  # each keeps half a megabyte, until one is told to try again
                    connection = stack.enter_context(server.connect())
                    with contextlib.suppress(ConnectionError):
                        connection.send(request("SendMessage", body)[:-100_000])
                    if connection.readable(0.2):
                        break
                status, _, text = connection.answer()
                self.assertEqual((status, text), (
                    503, b"too much is arriving at the moment: try again\n"))
                self.assertTrue(connection.closed())
            self.wait_until_taken(server, request("SendMessage", body))

    def wait_until_taken(self, server, text):
        """Until the server has seen that the others are gone."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            with server.connect() as connection, contextlib.suppress(ConnectionError):
                connection.send(text)
                status, _, _ = connection.answer()
                if status == 200:
                    return
            self.assertLess(time.monotonic(), deadline)


class Drain(unittest.TestCase):
    def test_what_is_under_way_ends_and_the_rest_is_closed(self):
        with Server("--anonymous") as server:
            with server.connect() as waiting, server.connect() as idle:
                waiting.send(create("q"))
                waiting.answer()
                idle.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
                idle.answer()
                waiting.send(receive("q", 20))
                with server.connect() as other:  # the receive has been taken by then
                    calls = 0
                    while not calls:
                        other.send(request("GetAPIStats", "{}"))
                        calls = json.loads(other.answer()[2])["CallStats"].get("ReceiveMessage", 0)
                begin = time.monotonic()
                server.begin_drain()
                status, fields, body = waiting.answer()
                self.assertEqual((status, fields["connection"], body), (200, "close", b"{}"))
                self.assertTrue(waiting.closed() and idle.closed())
            self.assertEqual(server.drained(), "drained 0")
            self.assertLess(time.monotonic() - begin, 10)


class Tls(unittest.TestCase):
    def test_requests_over_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = (f"{folder}/{name}" for name in ("certificate", "key"))
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days",
                            "2", "-subj", "/CN=localhost", "-addext",
                            "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
                            certificate], check=True, capture_output=True, timeout=DEADLINE_S)
            context = ssl.create_default_context(cafile=certificate)
            with Server("--anonymous", "--certificate", certificate, "--key", key) as server:
                with server.connect() as connection:
                    connection.socket = context.wrap_socket(connection.socket,
                                                            server_hostname="localhost")
                    for size in (10, 500_000):
                        connection.send(create("q"))
                        url = json.loads(connection.answer()[2])["QueueUrl"]
                        self.assertEqual(url, "https://localhost/000000000000/q")
                        connection.send(send("q", "x" * size))
                        self.assertEqual(connection.answer()[0], 200)
                        connection.send(receive("q"))
                        message, = json.loads(connection.answer()[2])["Messages"]
                        self.assertEqual(len(message["Body"]), size)


if __name__ == "__main__":
    unittest.main()
