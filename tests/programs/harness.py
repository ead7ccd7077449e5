"""What the tests of the programs share: how to run them, and the reference data in tests/data."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["CUZK_BIN_DIR"])
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
C1 = DATA / "sectors/2KiB/c1-wrapped.json"


def reference(name):
    return json.loads((DATA / "reference" / f"{name}-porep-2KiB.json").read_text())


def development_params(kind):
    """Parameters and verifying key at 2 KiB from seed 1, made once and kept beside the build: good for nothing but tests."""
    folder = BIN.parent / "development_params"
    folder.mkdir(exist_ok=True)
    params, vk = (folder / f"{kind}-2KiB.{suffix}" for suffix in ("params", "vk"))
    if not params.exists():
        made = [path.with_suffix(f"{path.suffix}.{os.getpid()}") for path in (vk, params)]
        subprocess.run([BIN / "cuzk", "setup", kind, "--sector-size", "2KiB", "--seed", "1", "--vk", made[0], "--out", made[1]],
                       check=True, capture_output=True)
        made[0].rename(vk)
        made[1].rename(params)
    return params, vk


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments, program="cuzk", **environment):
        return subprocess.run([BIN / program, *map(str, arguments)], capture_output=True, text=True, timeout=1200,
                              env={**os.environ, **environment})

    def tool(self, *arguments, code=0):
        """What a command prints with --json; fails where its exit code is another one."""
        done = self.run_tool("--json", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout) if done.stdout else None

    def fault(self, code, *arguments, program="cuzk", **environment):
        """The message of a command that must end with this exit code and print nothing on stdout."""
        done = self.run_tool(*arguments, program=program, **environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertNotEqual(done.stderr, "")
        return done.stderr

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def daemon(self, config="", socket="cuzk.sock", **environment):
        """Starts a daemon on a socket of its own and returns it and its address, when it answers. `config` begins in [daemon]."""
        address = f"unix://{self.folder / socket}"
        if "[journal]" not in config:
            config += f'\n[journal]\npath = "{self.folder / "journal.db"}"\n'
        path = self.write("cuzk.toml", f'[daemon]\nlisten = "{address}"\n{config}')
        process = subprocess.Popen([BIN / "cuzk-daemon", "--config", path], stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.wait(), process.stderr.close()))
        self.tool("status", "--daemon", address, "--wait", 60)
        return process, address

    def stop(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        _, log = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, log)
        return log
