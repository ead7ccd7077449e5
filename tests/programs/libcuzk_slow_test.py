#!/usr/bin/env python3
"""libcuzk from outside: what it exports, a C program that proves with it, and the bytes of a proof."""
import json
import subprocess
import unittest

import points
from harness import BIN, DATA, Programs, development_params

SECTOR = DATA / "sectors/2KiB-v1.0"


class Library(Programs):
    def test_exports_its_functions_alone(self):
        listing = subprocess.run(["nm", "-D", "--defined-only", BIN.parent / "lib/libcuzk.so"], check=True, capture_output=True, text=True)
        names = {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines()} - {"CUZK_0"}
        header = (DATA.parent.parent / "src/capi/cuzk.h").read_text()
        self.assertGreater(len(names), 8)
        for name in names:
            self.assertIn(f"{name}(", header)

    def test_case_61_a_proof_has_its_length_and_no_other_form(self):
        params, vk = development_params("window")
        config = self.write("engine.toml", f'[gpus]\ndevices = ["none"]\n[srs]\nparam_cache = "{self.folder}"\n'
                                           f'[srs.files]\n"window-2KiB" = "{params}"\n')
        randomness = bytes.fromhex(json.loads((SECTOR / "window.json").read_text())["randomness"])
        proof = self.folder / "proof"
        done = subprocess.run([BIN / "embedding", config, vk, SECTOR / "window-559289.vanilla", self.write("randomness", randomness), proof],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        points.check_proof(self, proof.read_bytes(), partitions=1)
        statement = ("--kind", "window", "--vanilla", SECTOR / "window-559289.vanilla", "--randomness", randomness.hex(),
                     "--registered-proof", 10, "--miner", 1000)
        self.assertTrue(self.tool("verify", *statement, "--vk", vk, "--proof", proof)["valid"])

        process, address = self.daemon(config.read_text())
        self.tool("prove", "--daemon", address, *statement, "--out", proof)
        points.check_proof(self, proof.read_bytes(), partitions=1)
        self.stop(process)


if __name__ == "__main__":
    unittest.main(verbosity=2)
