#!/usr/bin/env python3
"""The programs from outside: usage, exit codes, JSON, bad files, a daemon's life. Slow work is in programs_slow_test.py."""
import json
import pathlib
import signal
import socket
import subprocess
import time
import unittest
import urllib.request

from harness import BIN, C1, DATA, Programs, reference


class Usage(Programs):
    def test_help_and_version(self):
        for program in ("cuzk", "cuzk-daemon"):
            for flag in ("--help", "--version"):
                done = self.run_tool(flag, program=program)
                self.assertEqual(done.returncode, 0)
                self.assertIn(program, done.stdout.lower())
            self.assertRegex(self.run_tool("--version", program=program, CUZK_KERNELS="portable").stdout, r"^\S+ \d+\.\d+\.\d+, portable kernels$")
        for command in ("digest", "witness", "setup", "prove", "verify", "vanilla", "inspect", "bench", "simulate", "plan", "status"):
            self.assertIn(command, self.run_tool("--help").stdout)
            self.assertEqual(self.run_tool(command, "--help").returncode, 0)

    def test_bad_usage_is_2(self):
        self.fault(2)
        self.fault(2, "nonsense")
        self.fault(2, "digest", "porep")
        self.fault(2, "digest", "porep", "--sector-size", "2KB")
        self.fault(2, "digest", "other", "--sector-size", "2KiB")
        self.fault(2, "witness", "--c1", C1)
        self.fault(2, "setup", "porep", "--sector-size", "2KiB", "--out", "p", "--vk", "v")
        self.fault(2, "setup", "porep", "--sector-size", "2KiB", "--seed", 1, "--secrets", "f", "--out", "p", "--vk", "v")
        self.fault(2, "prove", "--c1", C1, "--out", "p")
        self.fault(2, "prove", "--c1", C1, "--params", "p", "--r", "1", "--out", "p")
        self.fault(2, "status", "--daemon", "nowhere")
        self.fault(2, "bench", "--c1", C1)
        self.fault(2, "bench", "--daemon", "localhost:1")
        self.fault(2, "bench", "--daemon", "localhost:1", "--c1", C1, "--sweep", "scheduler.max_queue=1")
        self.fault(2, "bench", "--full-scale", "porep-2k", "--c1", C1)
        self.fault(2, "bench", "--daemon", "localhost:1", "--c1", C1, "--proofs", 1)
        for sweep in ("scheduler", "scheduler.nonsense=1", "scheduler.max_queue=many"):
            self.fault(2, "bench", "--config", self.write("empty.toml", ""), "--c1", C1, "--sweep", sweep)
        self.fault(2, "--unknown", program="cuzk-daemon")
        self.fault(2, "plan", "--circuit", "porep")
        self.fault(2, "simulate", "--memory", "lots")
        self.assertIn("circuits[0].withness: unknown key",
                      self.fault(2, "simulate", "--profile", self.write("profile", '{"circuits": [{"withness": "1GiB"}]}')))

    def test_wrong_kernels_are_told(self):
        for program, arguments in ("cuzk", ["plan", "--circuit", "porep-2KiB"]), ("cuzk-daemon", []):
            self.assertIn("fast", self.fault(2, *arguments, program=program, CUZK_KERNELS="fast"))

    def test_devices_that_are_not_there(self):
        self.assertIn("porep-32g", self.fault(2, "bench", "--full-scale", "snap-32g"))
        if pathlib.Path("/dev/nvidia0").exists():
            self.skipTest("there is a CUDA device")
        out, vk = self.folder / "p", self.folder / "v"
        for command in (["bench", "--full-scale", "porep-2k"],
                        ["setup", "porep", "--sector-size", "2KiB", "--seed", 1, "--device", 0, "--out", out, "--vk", vk]):
            self.assertIn("CUDA", self.fault(4, *command))
        self.assertFalse(out.exists())
        config = self.folder / "cuzk.toml"
        config.write_text('[daemon]\nlisten = ["localhost:0"]\n[gpus]\ndevices = [0]\n')
        self.assertIn("gpus.devices", self.fault(4, "--config", config, program="cuzk-daemon"))

    def test_bad_input_is_3(self):
        self.fault(3, "digest", "porep", "--sector-size", "3KiB")
        self.fault(3, "witness", "--c1", self.folder / "absent", "--partition", 0)
        self.fault(3, "inspect", self.folder / "absent")
        self.fault(3, "inspect", self.write("noise", bytes(range(256)) * 3))
        self.fault(3, "inspect", self.write("empty", ""))
        self.fault(3, "setup", "porep", "--sector-size", "2KiB", "--secrets", self.write("s", "{}"), "--out", "p", "--vk", "v")

    def test_bad_c1_is_3_and_named(self):
        good = json.loads(C1.read_text())
        bad = {
            "empty": "",
            "truncated": C1.read_text()[:1000],
            "bad base64": json.dumps({**good, "Phase1Out": "!" + good["Phase1Out"][1:]}),
            "wrong size": json.dumps({**good, "SectorSize": 4096}),
            "nested": "[" * 200 + "]" * 200,
        }
        for name, text in bad.items():
            path = self.write("c1", text)
            for command in (["witness", "--partition", 0], ["verify", "--vk", DATA / "reference/porep-2KiB.vk", "--proof", path]):
                self.assertIn("invalid_input", self.fault(3, *command, "--c1", path), name)
        self.assertIn("partition", self.fault(3, "witness", "--c1", C1, "--partition", 1))


    def test_case_47_needs_no_library_of_cuda(self):
        for program in ("cuzk", "cuzk-daemon"):
            needed = subprocess.run(["ldd", BIN / program], capture_output=True, text=True, check=True).stdout
            self.assertIn("libc.so", needed)
            self.assertNotRegex(needed, "libcuda|libcudart|libnv|not found")


class Answers(Programs):
    def test_digest(self):
        wanted = reference("r1cs")
        got = self.tool("digest", "porep", "--sector-size", "2KiB")
        for key in ("num_inputs", "num_aux", "num_constraints", "nnz_a", "nnz_b", "nnz_c", "density", "sha256"):
            self.assertEqual(got[key], wanted[key], key)
        self.assertLessEqual({"blake2s", "templates", "instances", "circuit_bytes", "seconds"}, got.keys())

    def test_witness(self):
        wanted = reference("witness")
        got = self.tool("witness", "--c1", C1, "--partition", 0)
        for key in ("num_aux", "inputs", "aux_sha256", "a_sha256", "b_sha256", "c_sha256", "satisfied", "first_failure"):
            self.assertEqual(got[key], wanted[key], key)
        self.assertLessEqual({"witness_bytes", "seconds"}, got.keys())

    def test_simulate(self):
        got = self.tool("simulate", "--partition-workers", 12, "--gpu-workers", 2, "--proofs", 20, "--concurrent", 15, "--rows", 5)
        self.assertEqual((got["proofs"], got["failed"], got["out_of_memory_seconds"], len(got["timeline"])), (20, 0, None, 5))
        self.assertAlmostEqual(got["seconds_per_proof"], 37.7, delta=0.15 * 37.7)
        self.assertLessEqual({"witness", "evaluations", "params", "circuit", "c1", "pending"}, got["peak_bytes_by_class"].keys())
        accident = self.tool("simulate", "--old-policy", "--partition-workers", 15, "--proofs", 15, code=1)
        self.assertGreater(accident["out_of_memory_seconds"], 0)
        self.assertIn("OUT OF MEMORY", self.run_tool("simulate", "--old-policy", "--partition-workers", 15, "--proofs", 15).stdout)
        # The example of the page about the format.
        page = (DATA.parent.parent / "docs/formats/profile.md").read_text()
        example = self.write("profile.json", page.split("```json")[1].split("```")[0])
        got = self.tool("simulate", "--profile", example, "--proofs", 4, "--concurrent", 2)
        self.assertEqual((got["profile"], got["proofs"]), ("h200", 4))
        self.assertEqual(got["peak_device_bytes"], [(45 + 2 * 30) << 30])

    def test_plan(self):
        got = self.tool("plan", "--circuit", "winning-2KiB", "--circuit", "porep-2KiB", "--memory", "256MiB", code=1)
        winning, porep = got["circuits"]
        self.assertEqual((winning["fits"], porep["fits"], porep["partitions_at_once"]), (True, False, 0))
        self.assertIn("the limit is", porep["reason"])
        self.assertLessEqual(got["host_bytes"] + got["request_bytes"], 256 << 20)
        self.assertTrue(self.tool("plan", "--circuit", "winning-2KiB")["circuits"][0]["fits"])

    def test_verify(self):
        vk = DATA / "reference/porep-2KiB.vk"
        proof = bytes.fromhex(reference("proof")["proof"])
        answer = lambda content, code: self.tool("verify", "--c1", C1, "--vk", vk, "--proof", self.write("proof", content), code=code)
        self.assertEqual(answer(proof, 0)["valid"], True)
        for bit in (0, 3, 383, 400, 1000, 1200, 1535):
            flipped = bytearray(proof)
            flipped[bit // 8] ^= 1 << bit % 8
            self.assertEqual(answer(bytes(flipped), 1)["valid"], False, bit)
        self.fault(3, "verify", "--c1", C1, "--vk", vk, "--proof", self.write("short", proof[:-1]))
        self.fault(3, "verify", "--c1", C1, "--vk", C1, "--proof", self.write("proof", proof))

    def test_vanilla_and_inspect(self):
        c1 = self.folder / "c1.json"
        made = self.tool("vanilla", "porep", "--sector-size", "2KiB", "--seed", 5, "--out", c1)
        self.assertEqual(made["registered_proof"], "StackedDrg2KiBV1_1")
        seen = self.tool("inspect", c1)
        self.assertEqual((seen["type"], seen["comm_r"], seen["wrapped"]), ("c1", made["comm_r"], True))
        witness = self.tool("witness", "--c1", c1, "--partition", 0)
        self.assertTrue(witness["satisfied"])

        again = self.folder / "again.json"
        self.tool("vanilla", "porep", "--sector-size", "2KiB", "--seed", 5, "--out", again)
        self.assertEqual(c1.read_bytes(), again.read_bytes())
        self.tool("vanilla", "porep", "--sector-size", "2KiB", "--seed", 6, "--bare", "--out", again)
        self.assertFalse(self.tool("inspect", again)["wrapped"])
        self.fault(2, "vanilla", "porep", "--sector-size", "8MiB", "--registered-proof", "StackedDrg2KiBV1", "--seed", 1, "--out", again)

    def test_a_false_c1_names_its_row(self):
        inner = json.loads(__import__("base64").b64decode(json.loads(C1.read_text())["Phase1Out"]))
        inner["comm_r"][0] ^= 1
        answer = self.tool("witness", "--c1", self.write("c1", json.dumps(inner)), "--partition", 0, code=1)
        self.assertFalse(answer["satisfied"])
        self.assertIsInstance(answer["first_failure"], int)

    def test_inspect(self):
        tiny = DATA / "groth16/odd"
        self.assertEqual(self.tool("inspect", C1)["sector_number"], 283691)
        self.assertEqual(self.tool("inspect", tiny / "circuit.params")["type"], "params")
        self.assertEqual(self.tool("inspect", tiny / "circuit.vk")["type"], "vk")
        self.assertEqual(self.tool("inspect", tiny / "proof.bin"), {"type": "proof", "partitions": 1, "bytes": 192})

    def test_text_output(self):
        done = self.run_tool("inspect", C1)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?m)^registered_proof +StackedDrg2KiBV1_1$")
        self.assertEqual(done.stderr, "", "no progress where stderr is no terminal")


class Daemon(Programs):
    def test_configuration(self):
        good = self.write("good.toml", '[daemon]\nlisten = "localhost:0"\n')
        self.assertEqual(self.run_tool("--config", good, "--check-config", program="cuzk-daemon").returncode, 0)
        bad = self.write("bad.toml", '[daemon]\n\nlisten = "localhost:0"\nlog = 3\n')
        for extra in ([], ["--check-config"]):
            self.assertIn(f"{bad}:4: unknown key 'daemon.log'", self.fault(2, "--config", bad, *extra, program="cuzk-daemon"))
        self.fault(3, "--config", self.folder / "absent", program="cuzk-daemon")
        early = self.write("early.toml", f'[srs]\npreload = ["winning-2KiB"]\nfiles = {{ "winning-2KiB" = "{self.folder}/absent" }}\n')
        self.assertIn(f"srs.preload: the parameters of winning-2KiB are not there: {self.folder}/absent", self.fault(3, "--config", early, program="cuzk-daemon"))

    def test_life(self):
        process, address = self.daemon()
        sock = self.folder / "cuzk.sock"
        status = self.tool("status", "--daemon", address)
        self.assertEqual([queue["proof_kind"] for queue in status["queues"]], ["porep-c2", "snap-update", "window-post", "winning-post"])

        # A bad payload is an answer in band, and the daemon lives on; so it does without the parameters.
        for content, message in ((b"", "invalid_input: C1 parse failed"), (b"{", "invalid_input: C1 parse failed"),
                                 (C1.read_bytes(), "not_found: ")):
            done = self.run_tool("prove", "--daemon", address, "--c1", self.write("c1", content), "--out", self.folder / "proof")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stdout)
            self.assertFalse((self.folder / "proof").exists())

        second = subprocess.run([BIN / "cuzk-daemon", "--listen", address], capture_output=True, text=True, timeout=60)
        self.assertNotEqual(second.returncode, 0)
        self.assertIn("another process serves", second.stderr)
        self.assertTrue(self.tool("status", "--daemon", address))

        self.stop(process)
        self.assertFalse(sock.exists())
        self.fault(4, "status", "--daemon", address)

    def test_case_46_a_driver_older_than_the_runtime(self):
        old = BIN.parent / "old_driver"
        message = r"the driver is of CUDA 11\.4, this build of (\d+)\.\d+: install a driver of CUDA \1\.0 or newer"
        if not (old / "libcuda.so.1").exists():
            message = "this build has no CUDA"
        # A card that is wanted is missed; else the processor will do.
        config = self.write("wanted.toml", '[daemon]\nlisten = "localhost:0"\n[gpus]\ndevices = [0]\n')
        self.assertRegex(self.fault(4, "--config", config, program="cuzk-daemon", LD_LIBRARY_PATH=str(old)), message)
        process, _ = self.daemon(LD_LIBRARY_PATH=str(old))
        self.assertRegex(self.stop(process), f"no CUDA device: {message}")

    def test_case_71_an_empty_parameter_folder(self):
        params = self.folder / "params"
        params.mkdir()
        process, address = self.daemon(f'[srs]\nparam_cache = "{params}"\n')
        begin = time.monotonic()
        done = self.run_tool("prove", "--daemon", address, "--c1", C1, "--out", self.folder / "proof")
        self.assertLess(time.monotonic() - begin, 8, "1 s where nothing else runs; to make parameters takes longer")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"not_found: the parameters of porep-2KiB are not there: {params}/v28-stacked-proof-of-replication-", done.stdout)
        self.stop(process)
        self.assertEqual(list(params.iterdir()), [])

    def test_case_22_one_error_page_in_many_places(self):
        pages = [self.write(f"{name}.params", "<html>".ljust(300)) for name in "abc"]
        config = self.write("pages.toml", f'[daemon]\nlisten = "localhost:0"\n[srs]\nparam_cache = "{self.folder}"\n')
        fault = self.fault(3, "--config", config, "--check-config", program="cuzk-daemon")
        self.assertIn(f"{', '.join(map(str, pages))} hold the same: not parameters but HTML, 300 bytes", fault)
        self.assertEqual(len(fault.splitlines()), 1)

    def test_journals_that_cannot_be_used(self):
        def config(journal):
            return self.write("other.toml", f'[daemon]\nlisten = "localhost:0"\n[journal]\n{journal}\n')

        damaged = self.write("damaged.db", "x" * 20000)
        message = self.fault(3, "--config", config(f'path = "{damaged}"'), program="cuzk-daemon")
        self.assertIn(f"journal '{damaged}': file is not a database; move the file away", message)
        self.assertEqual(damaged.read_bytes(), b"x" * 20000, "it is evidence")
        process, _ = self.daemon()
        self.assertIn("another process uses it", self.fault(4, "--config", config(f'path = "{self.folder}/cuzk.db"'), program="cuzk-daemon"))
        self.stop(process)
        process, _ = self.daemon(f'[journal]\nenabled = false\npath = "{damaged}"\n')
        self.stop(process)

    def test_stale_socket_and_interrupt(self):
        stale = socket.socket(socket.AF_UNIX)
        stale.bind(str(self.folder / "cuzk.sock"))
        stale.close()
        process, _ = self.daemon()
        self.stop(process, signal.SIGINT)
        self.assertFalse((self.folder / "cuzk.sock").exists())

    def test_printed_configuration(self):
        given = self.write("given.toml", '[scheduler]\nmax_queue = 7\n[srs.files]\n"porep-2KiB" = "/x"\n')
        printed = self.run_tool("--config", given, "--listen", "localhost:1", "--print-config", program="cuzk-daemon")
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertIn('listen = ["localhost:1"]', printed.stdout)
        self.assertIn("max_queue = 7", printed.stdout)
        again = self.run_tool("--config", self.write("again.toml", printed.stdout), "--print-config", program="cuzk-daemon")
        self.assertEqual(again.stdout, printed.stdout)
        secret = self.write("no.toml", '[daemon]\ntls_cert = "/nonexistent"\ntls_key = "/nonexistent"\n')
        self.assertIn("daemon.tls_cert", self.fault(3, "--config", secret, "--check-config", program="cuzk-daemon"))

    def test_pages(self):
        process, _ = self.daemon('status_listen = "127.0.0.1:0"\n[logging]\nformat = "json"\n')
        line = next(line for line in map(json.loads, process.stderr) if "pages on" in line["message"])
        url = line["message"].split()[-1]
        read = lambda page: urllib.request.urlopen(url + page, timeout=30).read().decode()
        self.assertIn("<title>cuzk</title>", read(""))
        status = json.loads(read("status"))
        self.assertEqual(status["counters"]["queue_depth"], 0)
        self.assertIn("\ncuzk_proofs_completed_total 0\n", read("metrics"))
        self.stop(process)

    def test_reload(self):
        process, address = self.daemon('drain_timeout = "1m"\n[logging]\nlevel = "info"\nformat = "json"\n')
        config = self.folder / "cuzk.toml"
        lines = (json.loads(line) for line in process.stderr)
        until = lambda text: next(line for line in lines if text in line["message"])
        config.write_text(config.read_text().replace('"1m"', '"2m"') + "[synthesis]\nthreads = 1\n")
        process.send_signal(signal.SIGHUP)
        self.assertIn('daemon.drain_timeout: "1m" -> "2m"', until("drain_timeout")["message"])
        self.assertIn("has an effect after a restart only", until("synthesis.threads")["message"])
        until("configuration read again")
        config.write_text(config.read_text() + "[nonsense]\n")
        process.send_signal(signal.SIGHUP)
        fault = until("nothing is changed")
        self.assertEqual(fault["level"], "error")
        self.assertIn("unknown table 'nonsense'", fault["message"])
        self.assertTrue(self.tool("status", "--daemon", address))
        self.assertIn("for at most 2m", self.stop(process))

    def test_tells_its_supervisor(self):
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(str(self.folder / "notify"))
        manager.settimeout(60)
        told = lambda: manager.recv(4096).decode()
        process, _ = self.daemon(NOTIFY_SOCKET=str(self.folder / "notify"), WATCHDOG_USEC="20000")
        self.assertEqual(told(), "READY=1")
        for _ in range(3):
            self.assertEqual(told(), "WATCHDOG=1")
        process.send_signal(signal.SIGHUP)
        while (word := told()) == "WATCHDOG=1":
            pass
        self.assertRegex(word, r"RELOADING=1\nMONOTONIC_USEC=\d+")
        self.assertEqual(told(), "READY=1")
        self.stop(process)
        while (word := told()) == "WATCHDOG=1":
            pass
        self.assertRegex(word, r"STOPPING=1\nEXTEND_TIMEOUT_USEC=\d+")

    def test_log_names_the_job(self):
        process, address = self.daemon('[logging]\nformat = "json"\n')
        self.run_tool("prove", "--daemon", address, "--c1", self.write("c1", b"{"), "--request-id", "a [1 2]", "--out", self.folder / "p")
        lines = [json.loads(line) for line in self.stop(process).splitlines()]
        line = next(line for line in lines if line.get("job") == "a [1 2]")
        self.assertEqual((line["level"], line["kind"], line["code"]), ("warning", "porep-c2", "invalid_input"))

    def test_forced_kernels(self):
        done = subprocess.run([BIN / "cuzk-daemon", "--listen", "localhost:0"], capture_output=True, text=True, timeout=60,
                              env={"CUZK_KERNELS": "abacus"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("abacus", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
