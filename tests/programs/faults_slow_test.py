#!/usr/bin/env python3
"""A daemon whose devices, random source or disk fail: cuzk-daemon-faults does what CUZK_FAULTS says (src/engine/faults_testing.h).

Tests are named after the cases of what hurts operators of provers.
"""
import json
import re
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

from harness import BIN, DATA, Programs, development_params

WINDOW = ("--post", DATA / "sectors/2KiB-v1.0/window.json")


class Faults(Programs):
    def start(self, faults, scheduler="", program="cuzk-daemon-faults", **options):
        """The daemon, its address, its pages and what it logged until then."""
        params, self.vk = development_params("window")
        process, address = self.daemon(f'status_listen = "127.0.0.1:0"\n[logging]\nformat = "json"\n[scheduler]\n{scheduler}\n'
                                       f'[srs]\nparam_cache = "{self.folder}"\n[srs.files]\n"window-2KiB" = "{params}"\n',
                                       program=program, CUZK_FAULTS=faults, **options)
        told = []
        while not told or "pages on" not in told[-1]:
            told.append(json.loads(process.stderr.readline())["message"])
        return process, address, told[-1].split()[-1].removesuffix("status"), told

    def prove(self, address, name):
        done = self.run_tool("--json", "prove", "--daemon", address, *WINDOW, "--request-id", name, "--out", self.folder / "proof")
        return json.loads(done.stdout)

    def expect_proof(self, answer):
        self.assertEqual(answer["status"], "COMPLETED", answer)
        self.assertTrue(self.tool("verify", *WINDOW, "--vk", self.vk, "--proof", self.folder / "proof")["valid"])

    def page(self, url):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def test_case_16_a_flipped_bit_never_leaves(self):
        process, address, pages, _ = self.start("start 1 flip")
        self.expect_proof(self.prove(address, "id"))
        self.assertIn('\ncuzk_device_failures_total{device="cpu",code="verify_failed"} 1\n', self.page(pages + "metrics")[1])
        self.stop(process)

    def test_case_16_a_flipped_bit_of_the_parameters_is_mended(self):
        process, address, pages, _ = self.start("load 1 flip")
        self.expect_proof(self.prove(address, "id"))
        metrics = self.page(pages + "metrics")[1]
        self.assertIn('\ncuzk_device_failures_total{device="cpu",code="verify_failed"} 1\n', metrics)
        self.assertRegex(metrics, r'\ncuzk_srs_doubted_total\{circuit_id="[^"]*",device="cpu"\} 1\n')
        self.expect_proof(self.prove(address, "next"))
        self.stop(process)

    def test_case_28_and_53_a_sick_daemon_says_so_and_leaves_and_the_next_one_goes_on(self):
        process, address, pages, _ = self.start("start 1+ fail unavailable", 'quarantine = "5s"\nmax_quarantines = 2')
        self.assertEqual(self.page(pages + "readyz")[0], 200)
        failed = self.prove(address, "first")
        self.assertEqual(self.page(pages + "readyz")[0], 503)
        self.assertEqual(self.page(pages + "healthz")[0], 200)
        self.assertEqual(failed["status"], "FAILED")
        host = socket.gethostname()
        self.assertRegex(failed["error_message"], "^unavailable: .*" + re.escape("[stage=start partition=0 attempt=2 device=cpu host=" + host))

        second = self.prove(address, "second")  # tried once more after the quarantine
        self.assertRegex(second["error_message"], "^unavailable: ")
        log = [json.loads(line) for line in process.communicate(timeout=120)[1].splitlines()]
        self.assertEqual(process.returncode, 5)
        line = next(line for line in log if line.get("job") == "first" and "job failed" in line["message"])
        wanted = {"host": host, "device": "cpu", "attempt": 2, "stage": "start", "code": "unavailable", "partition": 0}
        self.assertEqual({name: line.get(name) for name in wanted}, wanted)
        self.assertRegex(line["version"], r"^\d+\.\d+")

        process, address, _, told = self.start("", program="cuzk-daemon")
        self.assertIn("journal: 1 jobs go on, 1 results are kept", told)
        self.expect_proof(self.prove(address, "second"))
        self.stop(process)

    def test_case_65_what_is_installed_cannot_be_made_to_fail(self):
        for program in ("cuzk", "cuzk-daemon"):
            content = (BIN / program).read_bytes()
            for hook in (b"CUZK_FAULTS", b"made to fail", b"__wrap_"):
                self.assertNotIn(hook, content)
        self.assertIn(b"CUZK_FAULTS", (BIN / "cuzk-daemon-faults").read_bytes())
        usage = self.run_tool("--help", program="cuzk-daemon").stdout
        self.assertNotIn("seed", usage.lower())
        refused = self.run_tool("--seed", 1, program="cuzk-daemon")
        self.assertEqual(refused.returncode, 2)
        self.assertNotIn(b"--seed", (BIN / "cuzk-daemon").read_bytes())

    def test_a_full_disk_harms_no_answer(self):
        process, address, pages, _ = self.start("", before=("prlimit", "--fsize=400000"))
        bad = self.write("c1", "{")
        lost = 0
        for i in range(100):
            done = self.run_tool("prove", "--daemon", address, "--c1", bad, "--request-id", f"{i}", "--out", self.folder / "p")
            self.assertIn("invalid_input: ", done.stdout)
            lost = int(re.search(r"\ncuzk_journal_lost_total (\d+)\n", self.page(pages + "metrics")[1])[1])
            if lost:
                break
        self.assertGreater(lost, 0)
        self.assertIn("until it is written again", self.stop(process))


if __name__ == "__main__":
    unittest.main(verbosity=2)
