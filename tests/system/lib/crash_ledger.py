"""What clients of a daemon were told, and what it must hence say after any crash.

A request's effect is certain once its answer came. Of a request without one, a ledger knows that
it may or may not have had an effect, whole or not at all."""

import threading
import time

# A repeated deduplication id is known for five minutes; some of them go by until it is repeated.
DEDUPLICATED_S = 240


class Message:
    __slots__ = ("key", "size", "group", "place", "sent_at", "acknowledged_at", "id", "sequence",
                 "handle", "received", "held", "doubtful", "delete_asked", "deleted_at")

    def __init__(self, key, size, group, place):
        self.key = key
        self.size = size
        self.group = group
        self.place = place             # in its group
        self.sent_at = time.monotonic()
        self.acknowledged_at = None
        self.id = None                 # as the first answer with it had it
        self.sequence = None
        self.handle = None             # the last one
        self.received = False
        self.held = False              # by who received it, until it is released or deleted
        self.doubtful = False          # which of its handles is the last is not known
        self.delete_asked = False
        self.deleted_at = None

    @property
    def body(self):
        return (self.key + " " + self.key * (self.size // len(self.key)))[:self.size]

    @property
    def certain(self):
        return self.acknowledged_at is not None and not self.delete_asked


class Group:
    """Messages in the order in which they were sent, one request after the other."""

    def __init__(self):
        self.messages = []
        self.first = 0  # all before it are deleted


class QueueLedger:
    """Of one queue. Any thread."""

    def __init__(self, name, problems):
        self.name = name
        self.is_fifo = name.endswith(".fifo")
        self.problems = problems
        self.lock = threading.RLock()
        self.messages = {}
        self.groups = {}
        self.unanswered = {}           # requests: their messages
        self.attempts = set()          # receives without an answer, by attempt id
        self.disturbed = False         # between the end of the load and the next start

    def complain(self, message, what):
        self.problems.add(f"{self.name}: {message.key}" +
                          (f" of group {message.group}" if self.is_fifo else "") + f" {what}")

    # --- Sending ---

    def sending(self, key, size, group=None):
        with self.lock:
            messages = self.groups.setdefault(group, Group()).messages if self.is_fifo else []
            message = Message(key, size, group, len(messages))
            messages.append(message)
            self.messages[key] = message
            return message

    def acknowledged(self, message, answer):
        """Also of a message sent again under its deduplication id."""
        with self.lock:
            self.identify(message, answer["MessageId"], answer.get("SequenceNumber"))
            message.acknowledged_at = message.acknowledged_at or time.monotonic()

    def identify(self, message, identity, sequence):
        message.id = message.id or identity
        message.sequence = message.sequence or sequence
        if message.id != identity:
            self.complain(message, f"was {message.id} and is {identity}: it was taken twice")
        elif message.sequence != sequence:
            self.complain(message, f"had number {message.sequence} and has {sequence}")

    def deduplicated(self):
        """Acknowledged messages whose deduplication id has to be known."""
        with self.lock:
            oldest = time.monotonic() - DEDUPLICATED_S
            return [message for message in self.messages.values()
                    if message.acknowledged_at and message.sent_at > oldest]

    # --- Receiving ---

    def received(self, answers, asked_at):
        """Of one receive: its messages. Those that have a place here."""
        with self.lock:
            known = []
            for answer in answers:
                message = self.messages.get(answer["Body"].split(" ", 1)[0])
                if message is None or message.body != answer["Body"]:
                    self.problems.add(f"{self.name}: there is a message that nobody sent: "
                                      f"{answer['Body'][:60]!r}")
                    continue
                self.receive(message, answer, asked_at, known)
                known.append(message)
            return known

    def receive(self, message, answer, asked_at, before):
        sequence = answer.get("Attributes", {}).get("SequenceNumber")
        self.identify(message, answer["MessageId"], sequence)
        if message.deleted_at and message.deleted_at < asked_at:
            self.complain(message, "is back after its deletion was acknowledged")
        if message.held and self.disturbed and not self.is_fifo:
            # A daemon that cannot read its disk forgets, as at its end, who has received what.
            message.doubtful = True
        elif message.held:
            self.complain(message, "was received twice, and its visibility timeout is not over")
        if self.is_fifo:
            self.check_order(message, asked_at, before)
        message.received = message.held = True
        message.handle = answer["ReceiptHandle"]

    def check_order(self, message, asked_at, before):
        group = self.groups[message.group]
        while group.first < len(group.messages) and group.messages[group.first].deleted_at:
            group.first += 1
        for other in group.messages[group.first:message.place]:
            if other.certain and other.acknowledged_at < asked_at and other not in before:
                self.complain(message, f"overtook {other.key}")
        if not message.received and any(
                other.received for other in group.messages[message.place + 1:]):
            self.complain(message, "comes after a later one")

    def held(self):
        with self.lock:
            return [message for message in self.messages.values() if message.held]

    def deleting(self, messages):
        with self.lock:
            for message in messages:
                message.delete_asked = True

    def deleted(self, messages):
        with self.lock:
            for message in messages:
                # An old handle of a standard queue may have deleted nothing.
                if not message.doubtful:
                    message.deleted_at = message.deleted_at or time.monotonic()
                message.held = False

    def released(self, messages):
        with self.lock:
            for message in messages:
                message.held = False

    # --- After a crash ---

    def restarted(self):
        """What was received from a standard queue is not held any more."""
        with self.lock:
            self.disturbed = False
            for message in self.messages.values():
                message.doubtful = False
                message.held = message.held and self.is_fifo

    def emptied(self):
        """Everything that could be received has been, and is deleted."""
        with self.lock:
            for message in self.messages.values():
                if message.certain:
                    self.complain(message, "was acknowledged and is lost")
            self.deleted(self.messages.values())
            self.forget()

    def forget(self):
        """What can only be noticed as a message that nobody sent."""
        oldest = time.monotonic() - DEDUPLICATED_S
        self.messages = {message.key: message for message in self.messages.values()
                         if self.is_fifo and message.sent_at > oldest}
        self.unanswered.clear()
        for group in self.groups.values():
            group.messages = [m for m in group.messages if m.key in self.messages]
            group.first = 0
            for place, message in enumerate(group.messages):
                message.place = place


class Definitions:
    """Queues as such: which there are, with which attributes. One thread changes them."""

    def __init__(self, problems):
        self.problems = problems
        self.queues = {}
        self.unanswered = None         # a name, and its attributes or None: it is deleted

    def changing(self, name, attributes):
        self.unanswered = (name, attributes)

    def changed(self):
        name, attributes = self.unanswered
        if attributes is None:
            self.queues.pop(name, None)
        else:
            self.queues[name] = attributes
        self.unanswered = None

    def allowed(self, name):
        """What the queue may be: attributes, None for no queue."""
        states = [self.queues.get(name)]
        if self.unanswered and self.unanswered[0] == name:
            states.append(self.unanswered[1])
        return states

    def found(self, queues):
        """`queues`: the attributes of all that there are, by name."""
        names = set(queues) | set(self.queues)
        if self.unanswered:
            names.add(self.unanswered[0])
        for name in sorted(names):
            if queues.get(name) not in self.allowed(name):
                self.problems.add(f"queue {name} is {queues.get(name)}, and not one of "
                                  f"{self.allowed(name)}")
        self.queues = dict(queues)
        self.unanswered = None


class Problems:
    """What went wrong. Any thread."""

    KEPT_MAX = 20

    def __init__(self):
        self.lock = threading.Lock()
        self.count = 0
        self.texts = []

    def add(self, text):
        with self.lock:
            self.count += 1
            if len(self.texts) < self.KEPT_MAX:
                self.texts.append(text)

    def __bool__(self):
        return self.count > 0

    def __str__(self):
        more = self.count - len(self.texts)
        return "\n".join(self.texts + ([f"and {more} more"] if more else []))
