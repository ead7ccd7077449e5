#!/usr/bin/env python3
"""The daemon as its clients meet it: what Curio's client does, many clients at once, restarts, a balancer before two daemons."""
import contextlib
import itertools
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import unittest
import urllib.parse
import urllib.request

from calls import DEADLINE_EXCEEDED, UNAVAILABLE, Calls, field, request
from harness import C1, STATEMENTS, Programs, development_params

LOW = field(5, 1)  # a priority for which nothing is reserved


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Clients(Programs):
    def setUp(self):
        super().setUp()
        self.files = itertools.count()

    def start(self, kinds, settings="", **options):
        """A daemon on the processor, with the parameters of these kinds in memory when it answers."""
        files = "".join(f'"{kind}-2KiB" = "{development_params(kind)[0]}"\n' for kind in kinds)
        names = [f"{kind}-2KiB" for kind in kinds]
        return self.daemon(f'{settings}\n[gpus]\ndevices = ["none"]\n[srs]\nparam_cache = "{self.folder}"\npreload = {json.dumps(names)}\n'
                           f'[srs.files]\n{files}', **options)

    def connect(self, address):
        calls = Calls(address)
        self.addCleanup(calls.close)
        return calls

    def message(self, content):
        """A file for Calls."""
        return self.write(f"message-{next(self.files)}", content)

    def completed(self, address):
        return int(self.tool("status", "--daemon", address)["total_proofs_completed"])

    def assert_proof(self, answer):
        self.assertEqual((answer["code"], answer.get("status"), len(answer.get("proof", ""))), (0, "COMPLETED", 2 * 192), answer)
        return answer["proof"]


class Curio(Clients):
    def test_a_large_message_with_what_this_version_does_not_know(self):
        process, address = self.start(["porep"])
        calls = self.connect(address)
        padded = b" " * (256 << 20) + C1.read_bytes()
        # Without sector_size and priority, and with fields of a later version.
        message = self.message(request("porep", "porep-1000-283691", c1=padded) + field(900, b"later") + field(901, 7))
        proof = self.assert_proof(calls.call("prove", message))
        self.assertTrue(self.tool("verify", *STATEMENTS["porep"], "--vk", development_params("porep")[1], "--proof",
                                  self.write("proof", bytes.fromhex(proof)))["valid"])
        self.assertEqual(self.assert_proof(calls.call("prove", message)), proof, "a repeated id")
        self.assertEqual(self.completed(address), 1)

    def test_ids_are_free_text(self):
        port = free_port()
        process, address = self.start(["window"], f'status_listen = "{port}"')
        calls = self.connect(address)
        names = ["wdpost-1000-3-[1 2 3 4 5 6 7 8]", "a/b%2Fc?d#e&f=g", " ", "../..", 'доказ "証明"', "x" * 50000]
        proofs = {self.assert_proof(calls.call("prove", self.message(request("window", name)))) for name in names}
        self.assertEqual(len(proofs), len(names))
        for name in names:
            self.assertIn(self.assert_proof(calls.call("await", name, 0)), proofs)
        for name in names[:-1]:
            trace = urllib.request.urlopen(f"http://127.0.0.1:{port}/trace/{urllib.parse.quote(name, safe='')}", timeout=30)
            self.assertEqual(json.load(trace)["otherData"]["job_id"], name)

    def test_a_retry_after_the_deadline_joins_the_job(self):
        process, address = self.start(["winning"], "[synthesis]\nthreads = 1")
        calls = self.connect(address)
        message = self.message(request("winning", "winpost-1000-0011223344556677"))
        self.assertEqual(calls.call("prove", message, 300)["code"], DEADLINE_EXCEEDED)
        proof = self.assert_proof(calls.call("prove", message))
        self.assertEqual(self.assert_proof(calls.call("await", "winpost-1000-0011223344556677", 0)), proof)
        self.assertEqual(self.completed(address), 1)


class Jobs(Clients):
    def test_case_37_identical_requests_are_one_job(self):
        process, address = self.start(["window"])
        message, answers = self.message(request("window", "wdpost")), []
        clients = [self.connect(address) for _ in range(10)]
        for client in clients * 5:
            client.start("prove", message, take=answers.append)
        for client in clients:
            client.wait_until(0)
        self.assertEqual(len(answers), 50)
        self.assertEqual(len({self.assert_proof(answer) for answer in answers}), 1)
        self.assertEqual(self.completed(address), 1)

    def test_case_35_accepted_jobs_survive_a_kill(self):
        names = [f"wdpost-1000-{i}" for i in range(10)]
        process, address = self.start(["window"])
        calls = self.connect(address)

        def submit(name):
            self.assertEqual(calls.call("submit", self.message(request("window", name) + LOW))["code"], 0)

        for name in names[:-1]:
            submit(name)
        before = {name: self.assert_proof(calls.call("await", name, 0)) for name in names[:3]}
        submit(names[-1])  # answered once all before it, and so these three results, is on the disk
        process.kill()
        process.wait()
        process, address = self.start(["window"])
        calls = self.connect(address)
        after = {name: self.assert_proof(calls.call("await", name, 0)) for name in names}
        self.assertEqual(before, {name: after[name] for name in before})
        self.assertEqual(len(set(after.values())), len(names))
        self.assertLessEqual(self.completed(address), 7)

    def test_case_35_67_a_drain_finishes_what_runs_and_keeps_what_waits(self):
        process, address = self.start(["winning", "window"], "[synthesis]\nthreads = 1\npartition_workers = 1")
        calls, names, running = self.connect(address), [f"wdpost-1000-{i}" for i in range(5)], []
        calls.start("prove", self.message(request("winning", "running") + LOW), take=running.append)
        while not any(queue["in_progress"] for queue in self.tool("status", "--daemon", address)["queues"]):
            self.assertEqual(running, [])
        for name in names:
            self.assertEqual(calls.call("submit", self.message(request("window", name) + LOW))["code"], 0)
        process.terminate()
        while "finishing what runs" not in process.stderr.readline():
            pass
        self.assertEqual(calls.call("submit", self.message(request("window", "late")))["code"], UNAVAILABLE)
        calls.wait_until(0)
        proof = self.assert_proof(running[0])
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0)
        process, address = self.start(["winning", "window"])
        calls = self.connect(address)
        self.assertEqual(self.assert_proof(calls.call("await", "running", 0)), proof)
        for name in names:
            self.assert_proof(calls.call("await", name, 0))
        self.assertIn(self.completed(address), (4, 5), "the first may have begun while the other one was finished")

    def test_case_8_threads_follow_the_affinity(self):
        core = min(os.sched_getaffinity(0))
        process, address = self.start(["window"], before=["taskset", "-c", str(core)])
        calls = self.connect(address)
        for i in range(3):
            calls.start("prove", self.message(request("window", f"wdpost-1000-{i}") + LOW))
        samples = []
        while calls.waiting:
            running = 0
            for stat in pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat"):
                with contextlib.suppress(OSError):  # the thread has ended
                    running += ") R " in stat.read_text()
            samples.append(running)
        # Not the maximum: on a busy machine whoever woke for a moment still waits for its turn, and counts.
        typical = statistics.median(samples)
        print(f"{typical} threads ran at a time on one core, {max(samples)} at most", flush=True)
        self.assertTrue(1 <= typical <= 4)


class Balancer(Clients):
    """packaging/haproxy.cfg with other addresses."""

    def test_two_daemons_share_load_and_one_is_killed(self):
        ports = [(free_port(), free_port()) for _ in range(2)]
        daemons = [self.start(["window"], f'status_listen = "{pages}"', name=f"daemon-{port}", address=f"127.0.0.1:{port}")
                   for port, pages in ports]
        config = (pathlib.Path(__file__).resolve().parents[2] / "packaging/haproxy.cfg").read_text()
        front = f"127.0.0.1:{free_port()}"
        config, count = re.subn(r"127\.0\.0\.1:9830", front, config)
        self.assertEqual(count, 1)
        for name, (port, pages) in zip(("one", "two"), ports):
            config, count = re.subn(rf"(server {name}) \S+ port \d+", rf"\1 127.0.0.1:{port} port {pages}", config)
            self.assertEqual(count, 1)
        proxy = subprocess.Popen(["/usr/sbin/haproxy", "-db", "-f", self.write("haproxy.cfg", config)], stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (proxy.kill(), proxy.wait()))
        calls = self.connect(front)
        too_much = calls.call("prove", self.message(request("porep", "padded", c1=b" " * (128 << 20))))
        self.assertIn("invalid_input: C1 parse failed", too_much["error"], too_much)

        answers, retries = {}, []

        def prove(name, message):
            def take(answer):
                if answer["code"] == UNAVAILABLE:
                    retries.append(name)
                    prove(name, message)
                else:
                    answers[name] = answer
            calls.start("prove", message, take=take)

        for i in range(16):
            name = f"wdpost-1000-{i}"
            prove(name, self.message(request("window", name) + LOW))
        (victim, address), (_, other) = daemons
        while not (self.completed(address) and self.completed(other)):
            self.assertLess(len(answers), 16)
        victim.kill()
        calls.wait_until(0)
        print(f"{len(retries)} calls were made again", flush=True)
        self.assertGreater(len(retries), 0, "the victim had work")
        self.assertEqual(len(answers), 16)
        self.assertEqual(len({self.assert_proof(answer) for answer in answers.values()}), 16)


if __name__ == "__main__":
    unittest.main(verbosity=2)
