"""What the tests of the programs share: how to run them, and the reference data in tests/data."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["CUZK_BIN_DIR"])
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
C1 = DATA / "sectors/2KiB/c1-wrapped.json"
STATEMENTS = {
    "porep": ("--c1", C1),
    "winning": ("--post", DATA / "sectors/2KiB/winning.json"),
    "window": ("--post", DATA / "sectors/2KiB-v1.0/window.json"),
    "update": ("--update", DATA / "sectors/2KiB/update.json"),
}


def reference(name):
    return json.loads((DATA / "reference" / f"{name}-porep-2KiB.json").read_text())


def development_params(kind, anew=False):
    """Parameters and verifying key at 2 KiB, made once and kept beside the build: good for nothing but tests.

    Those of PoRep are the reference's.
    """
    folder = BIN.parent / "development_params"
    folder.mkdir(exist_ok=True)
    params, vk = (folder / f"{kind}-2KiB.{suffix}" for suffix in ("params", "vk"))
    secret = ("--secrets", DATA / "reference/params-porep-2KiB.json") if kind == "porep" else ("--seed", "1")
    if anew or not params.exists():
        made = [path.with_suffix(f"{path.suffix}.{os.getpid()}") for path in (vk, params)]
        subprocess.run([BIN / "cuzk", "setup", kind, "--sector-size", "2KiB", *secret, "--vk", made[0], "--out", made[1]], check=True,
                       capture_output=True)
        made[0].rename(vk)
        made[1].rename(params)
    return params, vk


def memory_cap(size):
    """Words before a command that give it so much memory at most, and whether they make a cgroup.

    Without systemd it is anonymous memory that is capped; what is read from files is not, as the system can drop it.
    """
    scope = ["systemd-run", "--scope", "--quiet", *["--user"] * (os.geteuid() != 0), "-p", f"MemoryMax={size}", "-p", "MemorySwapMax=0"]
    if shutil.which(scope[0]) and subprocess.run([*scope, "true"], capture_output=True).returncode == 0:
        return scope, True
    return ["prlimit", f"--data={size}"], False


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

    def daemon(self, config="", name="cuzk", address=None, before=(), program="cuzk-daemon", **environment):
        """Starts a daemon on a socket of its own and returns it and its address, when it answers.

        `config` begins in [daemon]; `before` are words before its command.
        """
        address = address or f"unix://{self.folder}/{name}.sock"
        if "[journal]" not in config:
            config += f'\n[journal]\npath = "{self.folder}/{name}.db"\n'
        path = self.write(f"{name}.toml", f'[daemon]\nlisten = "{address}"\n{config}')
        process = subprocess.Popen([*before, BIN / program, "--config", path], stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **environment})
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.wait(), process.stderr.close()))
        self.tool("status", "--daemon", address, "--wait", 60)
        return process, address

    def stop(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        _, log = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, log)
        return log
