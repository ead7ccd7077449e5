#!/usr/bin/env python3
"""The whole path at 2 KiB, through the programs: setup, prove, verify, and the daemon, against the reference."""
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
from harness import BIN, C1, DATA, Programs, development_params, reference


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
        cls.params = pathlib.Path(cls.shared.name) / "porep-2KiB.params"
        cls.vk = pathlib.Path(cls.shared.name) / "porep-2KiB.vk"

    def test_1_setup_is_the_reference_byte_for_byte(self):
        secrets = DATA / "reference/params-porep-2KiB.json"
        self.tool("setup", "porep", "--sector-size", "2KiB", "--secrets", secrets, "--out", self.params, "--vk", self.vk)
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

    def test_3_daemon(self):
        process, address = self.daemon(f'[srs]\nparam_cache = "{self.shared.name}"\n[srs.files]\n"porep-2KiB" = "{self.params}"\n')
        proof = self.folder / "proof"
        made = self.tool("prove", "--daemon", address, "--c1", C1, "--request-id", "porep-1000-283691", "--out", proof)
        self.assertEqual((made["status"], made["job_id"]), ("COMPLETED", "porep-1000-283691"))
        self.assertTrue(self.tool("verify", "--c1", C1, "--vk", self.vk, "--proof", proof)["valid"])
        self.assertNotEqual(proof.read_bytes().hex(), reference("proof")["proof"], "blinded anew")
        status = self.tool("status", "--daemon", address)
        self.assertEqual(status["total_proofs_completed"], "1")
        self.assertEqual(status["loaded_srs"][0]["circuit_id"], "porep-2KiB")
        # The same request again is answered from memory.
        self.assertEqual(self.tool("prove", "--daemon", address, "--c1", C1, "--request-id", "porep-1000-283691", "--out", proof)["proof"],
                         made["proof"])
        self.assertTrue((pathlib.Path(self.shared.name) / "porep-2KiB.circuit").exists())
        self.assertRegex(self.stop(process), re.compile("stopped"))

    def test_4_every_kind_through_one_daemon(self):
        statements = {
            "porep": ("--c1", C1),
            "winning": ("--post", DATA / "sectors/2KiB/winning.json"),
            "window": ("--post", DATA / "sectors/2KiB-v1.0/window.json"),
            "update": ("--update", DATA / "sectors/2KiB/update.json"),
        }
        made = {kind: development_params(kind) for kind in ("winning", "window", "update")}
        vks = {"porep": self.vk, **{kind: vk for kind, (_, vk) in made.items()}}
        files = "".join(f'"{kind}-2KiB" = "{params}"\n' for kind, (params, _) in made.items())
        process, address = self.daemon(f'[srs]\nparam_cache = "{self.shared.name}"\n[srs.files]\n"porep-2KiB" = "{self.params}"\n{files}')
        for kind, statement in statements.items():
            proof = self.folder / f"{kind}.proof"
            self.assertEqual(self.tool("prove", "--daemon", address, *statement, "--out", proof)["status"], "COMPLETED", kind)
            self.assertTrue(self.tool("verify", *statement, "--vk", vks[kind], "--proof", proof)["valid"], kind)
            points.check_proof(self, proof.read_bytes(), partitions=1)
        # As requests bring them: raw vanilla proofs and numbers.
        window = json.loads((DATA / "sectors/2KiB-v1.0/window.json").read_text())
        raw = ("--kind", "window", "--vanilla", DATA / "sectors/2KiB-v1.0/window-559289.vanilla", "--randomness",
               window["randomness"], "--registered-proof", 10)
        self.assertTrue(self.tool("verify", *raw, "--vk", vks["window"], "--proof", self.folder / "window.proof")["valid"])
        self.assertEqual(self.tool("status", "--daemon", address)["total_proofs_completed"], "4")
        self.stop(process)

    def test_5_a_winning_post_goes_before_poreps(self):
        winning, _ = development_params("winning")
        process, address = self.daemon(f'[srs]\nparam_cache = "{self.shared.name}"\n[srs.files]\n"porep-2KiB" = "{self.params}"\n'
                                       f'"winning-2KiB" = "{winning}"\n')

        def seconds(name):
            begin = time.monotonic()
            answer = self.tool("prove", "--daemon", address, "--post", DATA / "sectors/2KiB/winning.json", "--request-id", name,
                               "--out", self.folder / "winning.proof")
            self.assertEqual(answer["status"], "COMPLETED")
            return time.monotonic() - begin

        seconds("warm")  # reads the parameters
        alone = min(seconds(f"alone-{i}") for i in range(2))
        poreps = [subprocess.Popen([BIN / "cuzk", "prove", "--daemon", address, "--c1", C1, "--request-id", f"porep-{i}", "--out",
                                    self.folder / f"{i}.proof"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in range(4)]
        self.addCleanup(lambda: [(porep.kill(), porep.wait()) for porep in poreps])

        def under_way():
            queues = self.tool("status", "--daemon", address)["queues"]
            return any(queue["proof_kind"] == "porep-c2" and queue.get("in_progress", 0) for queue in queues)

        deadline = time.monotonic() + 60
        while not under_way():
            self.assertLess(time.monotonic(), deadline)
        busy = [seconds(f"busy-{i}") for i in range(3)]
        print(f"winning PoSt: {alone:.2f} s alone, {', '.join(f'{t:.2f}' for t in busy)} s beside PoReps", flush=True)
        self.assertTrue(under_way(), "the PoReps were there all the time")
        # A piece of work that has begun is finished first.
        self.assertLess(max(busy), max(2, 1.5 * alone + 0.5))
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
