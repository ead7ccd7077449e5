#!/usr/bin/env python3
"""Calls of all kinds at 2 KiB, with repeats, cancels and clients that go away; the daemon is killed twice on the way.

Every id that was accepted answers afterwards. Memory and ledger agree, and the ledger's transient classes read zero at
the end. CUZK_TEST_SEED repeats a run, CUZK_TEST_CALLS=500 makes it longer: 100 fit into what CI may take.
"""
import os
import pathlib
import queue
import random
import re
import threading
import unittest

from calls import CANCELLED, NOT_FOUND, UNAVAILABLE, Calls, request
from harness import STATEMENTS, Programs, development_params

CALLS = int(os.environ.get("CUZK_TEST_CALLS", 100))
KILLS = (CALLS * 2 // 5, CALLS * 7 // 10)  # after so many calls
# PoReps take most of the time, so there are few.
KINDS = {"window": 92, "winning": 6, "update": 1, "porep": 1}
OPEN_CALLS = 20  # so that there is work left when the daemon is killed, and some done


class Restart(Programs):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("CUZK_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"CUZK_TEST_SEED={self.seed}", flush=True)
        self.random = random.Random(self.seed)
        files = {kind: development_params(kind) for kind in KINDS}
        self.vk = {kind: vk for kind, (_, vk) in files.items()}
        self.config = ('[synthesis]\npartition_workers = 2\n[scheduler]\nmax_queue = 1000\n'
                       f'[journal]\npath = "{self.folder}/journal.db"\n[srs]\nparam_cache = "{self.folder}"\n[srs.files]\n' +
                       "".join(f'"{kind}-2KiB" = "{params}"\n' for kind, (params, _) in files.items()))
        self.jobs = {}  # what is known of each id
        self.faults = []

    def start_daemon(self):
        process, address = self.daemon(self.config)
        self.logs = queue.Queue()
        # Its log is read while it runs, or it would block.
        reader = threading.Thread(target=lambda logs: logs.put(process.stderr.read()), args=(self.logs,))
        reader.start()
        self.addCleanup(lambda: (process.kill(), reader.join()))
        return process, address

    def ask(self, calls, what, job):
        """Submits or proves; the job is accepted when the daemon has said so."""
        sector = job["sector"]
        file = self.folder / f"{job['id']}-{sector}"
        if not file.exists():  # an earlier call may be reading it
            file.write_bytes(request(job["kind"], job["id"], sector))
        job["open"] += 1

        def take(answer):
            job["open"] -= 1
            if answer["code"] == 0:
                job["accepted"] = True
            else:
                self.faults += [answer] * (answer["code"] not in (UNAVAILABLE, CANCELLED))
            if answer.get("proof") and job["sector"] == sector:
                job["proofs"].add((sector, answer["proof"]))
        tag = calls.start(what, file, take=take)
        if what == "prove":
            job["calls"].append(tag)

    def new_job(self, kind):
        job = {"id": f"{kind}-1000-[{len(self.jobs)} 2]", "kind": kind, "sector": 1, "calls": [], "open": 0,
               "accepted": False, "left": False, "proofs": set()}
        self.jobs[job["id"]] = job
        return job

    def step(self, calls):
        dice = self.random.random()
        if dice < 0.5:
            job = self.new_job(self.random.choices(list(KINDS), KINDS.values())[0])
        else:
            job = self.random.choice(list(self.jobs.values()))
        if dice < 0.85:
            self.ask(calls, self.random.choice(("submit", "prove")), job)
        elif dice < 0.9:
            if job["open"] == 0:  # else two payloads could overtake each other on their way
                job["sector"] += 1
                self.ask(calls, "submit", job)
        else:
            job["left"] = True
            if dice < 0.95 or not job["calls"]:
                calls.start("cancel", job["id"])
            else:
                calls.tell("drop", self.random.choice(job["calls"]))

    def test_every_accepted_id_answers_after_kills(self):
        process, address = self.start_daemon()
        calls = Calls(address)
        self.addCleanup(calls.close)
        for kind in KINDS:  # parameters are checked once, and not over and over after a kill
            self.ask(calls, "prove", self.new_job(kind))
        calls.wait_until(0)
        for call in range(CALLS):
            if call in KILLS:
                process.kill()
                process.wait()
                process, _ = self.start_daemon()
            self.step(calls)
            calls.wait_until(OPEN_CALLS)
        calls.wait_until(0)
        answers = {}
        for name in self.jobs:
            calls.start("await", name, 0, take=lambda answer, name=name: answers.update({name: answer}))
        calls.wait_until(0)
        counts = {}
        for name, job in self.jobs.items():
            answer = answers[name]
            what = answer["status"] if answer["code"] == 0 else answer["code"]
            counts[what] = counts.get(what, 0) + 1
            if answer["code"] == NOT_FOUND:
                self.assertFalse(job["accepted"], name)
            elif what != "CANCELLED" or not job["left"]:
                self.assertEqual(what, "COMPLETED", (name, job, answer))
        print(counts, flush=True)
        self.assertEqual(self.faults, [])
        self.assertGreater(counts["COMPLETED"], CALLS / 4)
        for kind in KINDS:
            for name in [n for n in self.jobs if n.startswith(kind) and answers[n].get("proof")][:3]:
                proof = self.write("proof", bytes.fromhex(answers[name]["proof"]))
                self.assertTrue(self.tool("verify", *STATEMENTS[kind], "--vk", self.vk[kind], "--proof", proof)["valid"], name)
        # A result that was seen before a crash is the result afterwards.
        for name, job in self.jobs.items():
            for sector, proof in job["proofs"]:
                if sector == job["sector"]:
                    self.assertEqual(proof, answers[name]["proof"], name)

        resident = int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) << 10
        process.terminate()
        self.assertEqual(process.wait(timeout=120), 0)
        log = self.logs.get()
        self.assertIn("stopped", log)
        ledger = dict(pair.split("=") for pair in re.search(r"bytes alive by class: (.*)", log)[1].split())
        ledger = {name: int(size) for name, size in ledger.items()}
        for name in ("c1", "witness", "evaluations", "pending", "device_scratch"):
            self.assertEqual(ledger[name], 0, ledger)
        print(f"resident {resident >> 20} MiB, ledger {sum(ledger.values()) >> 20} MiB", flush=True)
        self.assertLess(resident, max(sum(ledger.values()) * 1.1, sum(ledger.values()) + (64 << 20)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
