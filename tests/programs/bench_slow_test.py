#!/usr/bin/env python3
"""`cuzk bench` against daemons that run, that it starts, and that die."""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from harness import BIN, DATA, Programs, development_params

WINDOW = ("--post", DATA / "sectors/2KiB-v1.0/window.json")
WINNING = ("--post", DATA / "sectors/2KiB/winning.json")
SPREAD = ("min", "median", "p90", "max")


class Bench(Programs):
    def setUp(self):
        super().setUp()
        made = {kind: development_params(kind) for kind in ("window", "winning")}
        self.vk = {kind: vk for kind, (_, vk) in made.items()}
        self.config = (f'[gpus]\ndevices = ["none"]\n[srs]\nparam_cache = "{self.folder}"\n[srs.files]\n' +
                       "".join(f'"{kind}-2KiB" = "{params}"\n' for kind, (params, _) in made.items()))

    def expect_spread(self, times):
        values = [times[name] for name in SPREAD]
        self.assertEqual(values, sorted(values))
        self.assertGreater(values[-1], 0)

    def start(self, *arguments):
        """A bench that would take long, and what it prints."""
        bench = subprocess.Popen([BIN / "cuzk", "--json", "bench", *map(str, arguments), *WINDOW, "-c", "100000", "-j", "2"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (bench.kill(), bench.communicate()))
        return bench

    def wait_for_a_proof(self, address, bench):
        deadline = time.monotonic() + 120
        while self.tool("status", "--daemon", address, "--wait", 60)["total_proofs_completed"] == "0":
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(bench.poll())

    def end(self, bench):
        out, err = bench.communicate(timeout=60)
        self.assertEqual(bench.returncode, 4, err)
        return json.loads(out)["runs"], err

    def test_a_daemon_that_runs(self):
        process, address = self.daemon(self.config)
        run, = self.tool("bench", "--daemon", address, *WINDOW, "-j", 2, "--warm-up", 1, "--vk", self.vk["window"])["runs"]
        self.assertEqual((run["count"], run["completed"], run["failed"], run["concurrency"]), (3, 3, 0, 2))
        self.expect_spread(run["wall_seconds"])
        self.expect_spread(run["stage_seconds"]["gpu_compute"])
        self.assertEqual(run["stage_seconds"].keys(), {"queue_wait", "srs_load", "synthesis", "gpu_compute", "total"})
        self.assertLessEqual(run["stage_seconds"]["total"]["max"], run["wall_seconds"]["max"] + 0.001)
        self.assertAlmostEqual(run["seconds_per_proof"] * 3, run["seconds"], places=4)
        self.assertEqual(run["ledger_peak_bytes"], sum(run["ledger_peak_by_class"].values()))
        self.assertGreater(run["resident_peak_bytes"], run["ledger_peak_by_class"]["evaluations"])
        self.assertIn("window-2KiB.vk", run["verified"])

        done = self.run_tool("bench", "--daemon", address, *WINNING, "-c", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^wall_seconds +min [\d.]+, median [\d.]+, p90 [\d.]+, max [\d.]+$")
        self.assertRegex(done.stdout, r"(?m)^verified +by the daemon$")
        self.assertEqual(self.tool("status", "--daemon", address)["total_proofs_completed"], "5")
        # A key of another circuit: what the daemon found good is not good here.
        self.fault(3, "bench", "--daemon", address, *WINDOW, "-c", 1, "--vk", self.vk["winning"])
        self.stop(process)

    def test_a_sweep_over_settings(self):
        config = self.write("swept.toml", self.config)
        runs = self.tool("bench", "--config", config, *WINDOW, "-c", 1, "--sweep", "synthesis.partition_workers=1,2",
                         "--sweep", "memory.total_budget=16MiB,1GiB", code=1)["runs"]
        self.assertEqual([tuple(run["settings"].values()) for run in runs], [("1", "16MiB"), ("1", "1GiB"), ("2", "16MiB"), ("2", "1GiB")])
        for run in runs:
            small = run["settings"]["memory.total_budget"] == "16MiB"
            self.assertEqual((run["completed"], run["failed"]), (0, 1) if small else (1, 0))
            self.assertEqual(run.get("first_failure", "").startswith("too_large: "), small)

    def test_case_14_a_killed_daemon_is_told_with_its_signal(self):
        bench = self.start("--config", self.write("own.toml", self.config))
        children = pathlib.Path(f"/proc/{bench.pid}/task/{bench.pid}/children")
        while not (child := children.read_text().split()):
            self.assertIsNone(bench.poll())
        command = lambda: pathlib.Path(f"/proc/{child[0]}/cmdline").read_bytes().decode().split("\0")
        while not command()[0].endswith("/cuzk-daemon"):  # before that it is a copy of the bench
            self.assertIsNone(bench.poll())
        folder = pathlib.Path(command()[2]).parent
        self.wait_for_a_proof(f"unix://{folder}/cuzk.sock", bench)
        os.kill(int(child[0]), signal.SIGKILL)
        (run,), message = self.end(bench)
        for text in (run["error"], message):
            self.assertIn("the daemon was killed by signal 9 (SIGKILL)", text)
        self.assertFalse(folder.exists())

    def test_a_daemon_that_does_not_start(self):
        config = self.write("own.toml", self.config)
        run, = self.tool("bench", "--config", config, *WINDOW, "--sweep", "daemon.tls_cert=/absent", "--sweep", "daemon.tls_key=/absent", code=4)["runs"]
        self.assertRegex(run["error"], "the daemon ended with exit code 3; it said last: .*daemon.tls_cert: '/absent' cannot be read")

    def test_a_daemon_that_goes_away(self):
        process, address = self.daemon(self.config)
        bench = self.start("--daemon", address)
        self.wait_for_a_proof(address, bench)
        process.kill()
        (run,), message = self.end(bench)
        self.assertIn("the daemon does not answer", run["error"])
        self.assertIn(address, message)


if __name__ == "__main__":
    unittest.main(verbosity=2)
