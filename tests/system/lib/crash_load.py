"""Clients that load a daemon until it is gone, and write down what they were told."""

import collections
import http.client
import itertools
import random
import threading
import time

from gateway_daemon import Failed, url_of

BATCH_MAX = 10
HIDDEN_S = 900  # longer than any round
GROUPS = 4      # of a sender
SIZES = (40, 100, 1000, 20_000)
QUEUES_MAX = 8

Counts = collections.Counter


def entries_of(queue, messages):
    """As SendMessageBatch has them."""
    for i, message in enumerate(messages):
        entry = {"Id": str(i), "MessageBody": message.body}
        if message.group:
            entry["MessageGroupId"] = message.group
        if queue.is_fifo:
            entry["MessageDeduplicationId"] = message.key
        yield entry


def send(connection, queue, messages):
    """With one request; the same messages can be sent again."""
    entries = list(entries_of(queue, messages))
    if len(messages) == 1:
        entries[0].pop("Id")
        answers = [connection.call("SendMessage", QueueUrl=url_of(queue.name), **entries[0])]
    else:
        answer = connection.call("SendMessageBatch", QueueUrl=url_of(queue.name), Entries=entries)
        expect_whole(answer)
        answers = sorted(answer["Successful"], key=lambda result: int(result["Id"]))
    for message, answer in zip(messages, answers):
        queue.acknowledged(message, answer)


def expect_whole(answer):
    if answer.get("Failed"):
        failed = answer["Failed"][0]
        raise Failed(200, failed["Code"], failed.get("Message", ""))


def receive(connection, queue, attempt=None):
    """Up to ten messages; what they are to the ledger."""
    asked_at = time.monotonic()
    more = {"ReceiveRequestAttemptId": attempt} if attempt else {}
    answers = connection.receive(queue.name, VisibilityTimeout=HIDDEN_S,
                                 AttributeNames=["SequenceNumber"], **more)
    return queue.received(answers, asked_at)


def delete(connection, queue, messages):
    queue.deleting(messages)
    if len(messages) == 1:
        connection.call("DeleteMessage", QueueUrl=url_of(queue.name),
                        ReceiptHandle=messages[0].handle)
    else:
        expect_whole(connection.call("DeleteMessageBatch", QueueUrl=url_of(queue.name), Entries=[
            {"Id": str(i), "ReceiptHandle": message.handle}
            for i, message in enumerate(messages)]))
    queue.deleted(messages)


class Client(threading.Thread):
    """Asks, one request after the other, until its connection or its daemon fails."""

    def __init__(self, load, name, connection):
        super().__init__()
        self.load = load
        self.name = name
        self.connection = connection
        self.random = random.Random(f"{load.seed} {name}")
        self.counts = Counts()

    def run(self):
        try:
            with self.connection:
                while not self.load.ended:
                    self.ask()
        except (OSError, http.client.HTTPException, Failed) as error:
            if not self.load.ended:
                self.load.problems.add(f"{self.name}: {error!r}, and nobody has touched the daemon")

    def ask(self):
        raise NotImplementedError

    def size_of_batch(self):
        return self.random.choice((1, 1, self.random.randint(2, BATCH_MAX)))


class Sender(Client):
    def __init__(self, load, name, connection, queue):
        super().__init__(load, name, connection)
        self.queue = queue
        self.numbers = itertools.count()
        self.repeatable = collections.deque(maxlen=500)

    def ask(self):
        if self.queue.is_fifo and self.repeatable and self.random.random() < 0.05:
            send(self.connection, self.queue, [self.random.choice(self.repeatable)])
            self.counts["repeated"] += 1
            return
        messages = tuple(self.message() for _ in range(self.size_of_batch()))
        self.queue.unanswered[messages] = True
        send(self.connection, self.queue, messages)
        del self.queue.unanswered[messages]
        self.counts["sent"] += len(messages)
        self.repeatable += messages

    def message(self):
        group = None
        # Nobody else sends to its groups; the same ones in every round.
        if self.queue.is_fifo or self.random.random() < 0.3:
            group = f"{self.name.rsplit('/', 1)[0]}-{self.random.randrange(GROUPS)}"
        return self.queue.sending(f"{self.name}/{next(self.numbers)}",
                                  self.random.choice(SIZES) + self.random.randrange(20), group)


class Receiver(Client):
    def __init__(self, load, name, connection, queue):
        super().__init__(load, name, connection)
        self.queue = queue
        self.numbers = itertools.count()

    def ask(self):
        messages = self.receive()
        self.counts["received"] += len(messages)
        # The rest is held until after the crash.
        messages = [m for m in messages if self.random.random() < 0.8]
        while messages:
            some = [messages.pop(0) for _ in range(min(len(messages), self.size_of_batch()))]
            delete(self.connection, self.queue, some)
            self.counts["deleted"] += len(some)

    def receive(self):
        if not self.queue.is_fifo:
            return receive(self.connection, self.queue)
        attempt = f"{self.name}/{next(self.numbers)}"
        self.queue.attempts.add(attempt)
        messages = receive(self.connection, self.queue, attempt)
        self.queue.attempts.discard(attempt)
        return messages


class Administrator(Client):
    """Makes, changes and deletes queues."""

    def __init__(self, load, name, connection, definitions):
        super().__init__(load, name, connection)
        self.definitions = definitions
        self.numbers = itertools.count()

    def ask(self):
        names = sorted(self.definitions.queues)
        what = self.random.random()
        if not names or (what < 0.4 and len(names) < QUEUES_MAX):
            self.create(f"a-{self.name.replace('/', '-')}-{next(self.numbers)}")
        elif what < 0.7:
            self.change(self.random.choice(names))
        else:
            self.delete(self.random.choice(names))
        self.counts["administered"] += 1

    def some_attributes(self):
        return {"VisibilityTimeout": str(self.random.randrange(1000)),
                "DelaySeconds": str(self.random.randrange(100))}

    def create(self, name):
        attributes = self.some_attributes()
        self.definitions.changing(name, attributes)
        self.connection.call("CreateQueue", QueueName=name, Attributes=attributes)
        self.definitions.changed()

    def change(self, name):
        attributes = self.some_attributes()
        self.definitions.changing(name, attributes)
        self.connection.call("SetQueueAttributes", QueueUrl=url_of(name), Attributes=attributes)
        self.definitions.changed()

    def delete(self, name):
        self.definitions.changing(name, None)
        self.connection.call("DeleteQueue", QueueUrl=url_of(name))
        self.definitions.changed()


class Load:
    """All clients of one round."""

    def __init__(self, seed, daemon, queues, definitions, problems):
        self.seed = seed
        self.problems = problems
        self.ended = False
        self.queues = queues
        self.clients = [Administrator(self, f"{seed}/admin", daemon.connect(), definitions)]
        for queue in queues:
            for i in range(2):
                self.clients += [
                    Sender(self, f"{queue.name}-{i}/{seed}", daemon.connect(), queue),
                    Receiver(self, f"{queue.name}-r{i}/{seed}", daemon.connect(), queue)]

    def start(self):
        for client in self.clients:
            client.start()

    def end(self):
        """To be called before the daemon is touched."""
        self.ended = True
        for queue in self.queues:
            queue.disturbed = True

    def join(self):
        counts = Counts()
        for client in self.clients:
            client.join()
            counts += client.counts
        return counts
