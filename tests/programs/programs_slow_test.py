#!/usr/bin/env python3
"""The whole path at 2 KiB, through the programs: setup, prove, verify, and the daemon, against the reference."""
import concurrent.futures
import ctypes
import hashlib
import json
import pathlib
import re
import resource
import subprocess
import tempfile
import time
import unittest

import points
from harness import BIN, C1, DATA, STATEMENTS, Programs, development_params, memory_cap, reference


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while piece := stream.read(1 << 24):
            digest.update(piece)
    return digest.hexdigest()


class TwoKiB(Programs):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.shared.cleanup)
        cls.params, cls.vk = development_params("porep", anew=True)

    def test_1_setup_is_the_reference_byte_for_byte(self):
        wanted = reference("params")
        self.assertEqual(self.params.stat().st_size, wanted["params"]["bytes"])
        self.assertEqual(sha256(self.params), wanted["params"]["sha256"])
        self.assertEqual(sha256(self.vk), wanted["vk"]["sha256"])
        seen = self.tool("inspect", self.params)
        self.assertEqual((seen["type"], seen["h"]), ("params", wanted["counts"]["h"]))

    def test_2_proof_is_the_reference_byte_for_byte(self):
        wanted = reference("proof")
        proof = self.folder / "proof"
        made = self.tool("prove", "--c1", C1, "--params", self.params, "--r", wanted["r"], "--s", wanted["s"], "--out", proof)
        self.assertEqual(proof.read_bytes().hex(), wanted["proof"])
        self.assertEqual(made["proof"], wanted["proof"])
        self.assertTrue(self.tool("verify", "--c1", C1, "--vk", self.vk, "--proof", proof)["valid"])

    def test_3_case_10_every_kind_at_once_within_its_memory(self):
        size = 1536 << 20
        before, cgroup = memory_cap(size)
        made = {kind: development_params(kind) for kind in ("winning", "window", "update")}
        vks = {"porep": self.vk, **{kind: vk for kind, (_, vk) in made.items()}}
        files = "".join(f'"{kind}-2KiB" = "{params}"\n' for kind, (params, _) in made.items())
        budget = "auto" if cgroup else f"{size >> 20}MiB"
        process, address = self.daemon(f'[memory]\ntotal_budget = "{budget}"\n[synthesis]\npartition_workers = 15\n[srs]\n'
                                       f'param_cache = "{self.shared.name}"\n[srs.files]\n"porep-2KiB" = "{self.params}"\n{files}',
                                       before=before)
        jobs = [f"{kind}-1000-{i}" for kind, count in (("porep", 2), ("update", 1), ("winning", 2), ("window", 10)) for i in range(count)]

        def prove(name):
            return self.tool("prove", "--daemon", address, *STATEMENTS[name.split("-")[0]], "--request-id", name, "--out",
                             self.folder / name)
        with concurrent.futures.ThreadPoolExecutor(len(jobs)) as clients:
            answers = dict(zip(jobs, clients.map(prove, jobs)))
        for name, answer in answers.items():
            self.assertEqual((answer["status"], answer["job_id"]), ("COMPLETED", name), answer)
        for kind, statement in STATEMENTS.items():
            proof = self.folder / f"{kind}-1000-0"
            self.assertTrue(self.tool("verify", *statement, "--vk", vks[kind], "--proof", proof)["valid"], kind)
            points.check_proof(self, proof.read_bytes(), partitions=1)
        self.assertNotEqual(answers["porep-1000-0"]["proof"], answers["porep-1000-1"]["proof"], "blinded anew")
        # As requests bring them: raw vanilla proofs and numbers.
        window = json.loads((DATA / "sectors/2KiB-v1.0/window.json").read_text())
        raw = ("--kind", "window", "--vanilla", DATA / "sectors/2KiB-v1.0/window-559289.vanilla", "--randomness",
               window["randomness"], "--registered-proof", 10)
        self.assertTrue(self.tool("verify", *raw, "--vk", vks["window"], "--proof", self.folder / "window-1000-0")["valid"])
        # The same request again is answered from memory.
        self.assertEqual(prove("porep-1000-0")["proof"], answers["porep-1000-0"]["proof"])
        status = self.tool("status", "--daemon", address)
        self.assertEqual(status["total_proofs_completed"], str(len(jobs)))
        self.assertIn("porep-2KiB", [srs["circuit_id"] for srs in status["loaded_srs"]])
        self.assertTrue((pathlib.Path(self.shared.name) / "porep-2KiB.circuit").exists())
        memory = dict(re.findall(r"(\w+):\s+(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text()))
        print(f"{' '.join(before)}: peak {int(memory['VmHWM']) >> 10} MiB, of it {int(memory['RssAnon']) >> 10} MiB anonymous now", flush=True)
        log = self.stop(process)
        self.assertIn("cgroup v2 memory.max" if cgroup else "the configuration", re.search("host memory: .*", log)[0])
        self.assertIn("stopped", log)

    def test_4_case_1_2_8_31_posts_go_before_poreps(self):
        files = "".join(f'"{kind}-2KiB" = "{development_params(kind)[0]}"\n' for kind in ("winning", "window"))
        process, address = self.daemon(f'[srs]\nparam_cache = "{self.shared.name}"\npreload = ["winning-2KiB", "window-2KiB"]\n'
                                       f'[srs.files]\n"porep-2KiB" = "{self.params}"\n{files}')
        status = self.tool("status", "--daemon", address)
        self.assertEqual({srs["circuit_id"] for srs in status["loaded_srs"]}, {"winning-2KiB", "window-2KiB"}, "before it is ready")

        def start(kind, name):
            prove = subprocess.Popen([BIN / "cuzk", "prove", "--daemon", address, *STATEMENTS[kind], "--request-id", name, "--out",
                                      self.folder / name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(lambda: (prove.kill(), prove.wait()))
            return prove

        def seconds(kind, name):
            begin = time.monotonic()
            answer = self.tool("prove", "--daemon", address, *STATEMENTS[kind], "--request-id", name, "--out", self.folder / name)
            spent = round(time.monotonic() - begin, 2)
            self.assertEqual(answer["status"], "COMPLETED")
            self.assertLess(int(answer["queue_wait_ms"]), 1000, name)
            parts = sum(int(answer[part]) for part in ("queue_wait_ms", "srs_load_ms", "synthesis_ms", "gpu_compute_ms"))
            self.assertAlmostEqual(parts, int(answer["total_ms"]), delta=0.05 * int(answer["total_ms"]) + 100)
            return spent

        alone = {kind: [seconds(kind, f"{kind}-alone-{i}") for i in range(2)] for kind in ("winning", "window")}
        first, second = alone["winning"]
        self.assertLess(first, 1.2 * second + 0.5, "parameters are there from the start")

        def poreps_in(*states):
            queues = self.tool("status", "--daemon", address)["queues"]
            return sum(queue.get(state, 0) for queue in queues if queue["proof_kind"] == "porep-c2" for state in states)

        def under_way():
            return poreps_in("in_progress") > 0

        def wait_until(holds):
            deadline = time.monotonic() + 60
            while not holds():
                self.assertLess(time.monotonic(), deadline)

        poreps = []
        for i in range(4):  # each once the one before is there, so that the last is the youngest
            poreps.append(start("porep", f"porep-{i}"))
            wait_until(lambda: poreps_in("pending", "in_progress") == i + 1)
        wait_until(under_way)
        busy = {kind: [seconds(kind, f"{kind}-busy-{i}") for i in range(2)] for kind in ("window", "winning")}
        windows = [start("window", f"window-beside-{i}") for i in range(4)]
        busy["winning"].append(seconds("winning", "winning-beside-windows"))
        self.assertTrue(under_way(), "the PoReps were there all the time")
        for kind, times in busy.items():
            print(f"{kind} PoSt: {alone[kind]} s alone, {times} s beside PoReps", flush=True)
            # A piece of work that has begun is finished first.
            self.assertLess(max(times), max(2, 1.5 * max(alone[kind]) + 0.5))
        for prove in (*windows, poreps[0]):
            self.assertEqual(prove.wait(timeout=600), 0)
        self.assertIsNone(poreps[3].poll())
        self.assertTrue(self.tool("verify", "--c1", C1, "--vk", self.vk, "--proof", self.folder / "porep-0")["valid"], "it stood still at times")
        process.kill()


class Machines(Programs):
    def test_case_32_without_huge_and_locked_pages(self):
        # For this process and those that it starts, until the test ends.
        disable_huge_pages = lambda value: self.assertEqual(ctypes.CDLL(None).prctl(41, value, 0, 0, 0), 0)
        disable_huge_pages(1)
        self.addCleanup(disable_huge_pages, 0)
        locked = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (64 << 10, locked[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_MEMLOCK, locked)

        params, _ = development_params("winning")
        process, address = self.daemon(f'[srs]\nparam_cache = "{self.folder}"\n[srs.files]\n"winning-2KiB" = "{params}"\n')
        made = self.tool("prove", "--daemon", address, "--post", DATA / "sectors/2KiB/winning.json", "--out", self.folder / "proof")
        self.assertEqual(made["status"], "COMPLETED")
        self.assertRegex(pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text(), r"AnonHugePages: +0 kB")
        self.assertRegex(pathlib.Path(f"/proc/{process.pid}/limits").read_text(), r"Max locked memory +65536 ")
        self.assertNotRegex(self.stop(process), r"\b(warning|error)\b")

    def test_case_44_processors_without_adx_and_bmi2(self):
        """Without the instructions that kernels are written for, proofs are the reference's and none is illegal."""
        proof = self.write("proof", bytes.fromhex(reference("proof")["proof"]))
        verify = [BIN / "cuzk", "verify", "--c1", C1, "--vk", DATA / "reference/porep-2KiB.vk", "--proof", proof]
        make = [BIN / "cuzk", "vanilla", "porep", "--sector-size", "2KiB", "--seed", "1", "--out"]
        here, there = self.folder / "here.json", self.folder / "there.json"
        subprocess.run([*make, here], check=True, capture_output=True)
        prove = [BIN / "groth16_test", "--gtest_filter=*TinyProof*/odd:*TinyProof*/inputs"]
        emulated = lambda cpu, *command: subprocess.run(["qemu-x86_64", "-cpu", cpu, *command], capture_output=True, text=True, timeout=600)
        self.assertIn("adx kernels", emulated("max", BIN / "cuzk", "--version").stdout, "what is missed below can be had")
        for cpu in "Nehalem", "Haswell":
            self.assertIn("portable kernels", emulated(cpu, BIN / "cuzk", "--version").stdout)
            for command in verify, [*make, there], prove:
                done = emulated(cpu, *command)
                self.assertEqual(done.returncode, 0, f"{cpu}: {command}: {done.stderr}")
            self.assertIn("[  PASSED  ] 2 tests", done.stdout)
            self.assertEqual(there.read_bytes(), here.read_bytes())


if __name__ == "__main__":
    unittest.main(verbosity=2)
