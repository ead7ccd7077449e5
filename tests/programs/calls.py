"""Calls of the daemon, many at a time, and the messages that they carry."""
import json
import subprocess
import threading

from harness import BIN, C1, DATA

CANCELLED, DEADLINE_EXCEEDED, NOT_FOUND, UNAVAILABLE = 1, 4, 5, 14  # of gRPC


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field of a protobuf message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def request(kind, request_id, sector=1, c1=None):
    """A SubmitProofRequest; another sector number makes another payload of the same statement."""
    sectors = DATA / "sectors"
    message = field(1, request_id.encode()) + field(20, sector) + field(21, 1000)
    if kind == "porep":
        return message + field(2, 1) + field(10, c1 or C1.read_bytes())
    if kind == "update":
        known = json.loads((sectors / "2KiB/update.json").read_text())
        names = ("comm_r_old", "comm_r_new", "comm_d_new")
        commitments = b"".join(field(30 + i, bytes.fromhex(known[name])) for i, name in enumerate(names))
        return message + field(2, 2) + field(11, (sectors / "2KiB/update-0.vanilla").read_bytes()) + commitments
    number, registered, folder, vanilla = {"window": (3, 10, "2KiB-v1.0", "window-559289"), "winning": (4, 0, "2KiB", "winning-283691")}[kind]
    randomness = json.loads((sectors / folder / f"{kind}.json").read_text())["randomness"]
    return (message + field(2, number) + field(4, registered) + field(22, bytes.fromhex(randomness)) +
            field(11, (sectors / folder / f"{vanilla}.vanilla").read_bytes()))


class Calls:
    """Calls to a daemon, many at a time; each answer is given to a function."""

    def __init__(self, address):
        self.process = subprocess.Popen([BIN / "rpc_client", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.count, self.waiting, self.changed = 0, {}, threading.Condition()  # what is done with an answer, by tag
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            with self.changed:
                self.waiting.pop(answer["tag"])(answer)
                self.changed.notify_all()

    def start(self, what, *words, take=lambda answer: None):
        """Returns the tag of the call."""
        with self.changed:
            self.count += 1
            tag = str(self.count)
            self.waiting[tag] = take
            self.tell(what, tag, *words)
        return tag

    def call(self, what, *words):
        """The answer."""
        answers = []
        self.start(what, *words, take=answers.append)
        with self.changed:
            self.changed.wait_for(lambda: answers)
        return answers[0]

    def tell(self, *words):
        with self.changed:  # functions that take an answer may start calls, too
            self.process.stdin.write("\t".join(map(str, words)) + "\n")
            self.process.stdin.flush()

    def wait_until(self, open_calls):
        with self.changed:
            self.changed.wait_for(lambda: len(self.waiting) <= open_calls)

    def close(self):
        self.process.stdin.close()
        if self.waiting:
            self.process.kill()
        self.reader.join()
        self.process.stdout.close()
        self.process.wait()
