#!/usr/bin/env python3
"""Each check of tools/ finds the fault planted for it, and passes what is right."""
import importlib.machinery
import importlib.util
import pathlib
import struct
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


check, layers, kernel_report = load("check"), load("layers"), load("kernel-report")


class Text(unittest.TestCase):
    def test_planted(self):
        for line in ["#if 0", "  # if 0  // off", "// TODO: later", "// FIXME", "int x; ", "x" * 121]:
            self.assertTrue(list(check.faults_of_line(line)), line)

    def test_right(self):
        for line in ["#if 01", "// TODO(#12): later", "int todo;", "x" * 120, ""]:
            self.assertEqual(list(check.faults_of_line(line)), [], line)


class Cases(unittest.TestCase):
    SOURCES = "TEST(Acceptance, Case7_Word) {\nTEST_F(Fixture,\n       Case08_Words) {\nTEST(Other, Word)\n    def test_3_case_9_and_11_words(self):"
    PAGE = "| 7 | `Acceptance.Case7_Word`, `Other.Word` |\n| 8 | `Fixture.Case08_Words` |\n| 9 | `test_3_case_9_and_11_words` |\n| 10 | left out: `srs.files` |\n| 11 | `test_3_case_9_and_11_words` |\n"

    def faults(self, old="", new=""):
        return list(check.faults_of_cases(self.PAGE.replace(old, new, 1), self.SOURCES))

    def test_planted(self):
        for old, new, number in [("`Other.Word`", "`Other.Words`", 7), ("`Acceptance.Case7_Word`, ", "", 7), ("| 8 |", "| 12 |", 8),
                                 ("`test_3_case_9_and_11_words`", "left out", 9), ("left out", "`test_case_10`", 10)]:
            faults = self.faults(old, new)
            self.assertEqual(len(faults), 1, new)
            self.assertIn(f"case {number}: ", faults[0])

    def test_right(self):
        self.assertEqual(self.faults(), [])


class Isa(unittest.TestCase):
    LISTING = "0000000000000000 <{}>:\n   0:\tmov    %rsp,%rbp\n   4:\t{}\n   8:\tret"

    def faults(self, symbol, instruction):
        return list(check.faults_of_listing(self.LISTING.format(symbol, instruction).splitlines()))

    def test_planted(self):
        for instruction in ["vpaddq %zmm0,%zmm1,%zmm2", "mulx   %rax,%rbx,%rcx", "adox   %rax,%rbx", "vzeroupper "]:
            self.assertEqual(len(self.faults("cuzk::Fr::operator*(cuzk::Fr const&)", instruction)), 1, instruction)

        self.assertEqual(len(self.faults("cuzk::Fr::add(cuzk::ifma::Vector)", "vpaddq %zmm0,%zmm1,%zmm2")), 1, "a kernel's type")

    def test_right(self):
        self.assertEqual(self.faults("void cuzk::(anonymous namespace)::ifma::f<cuzk::Fr>(int)", "vpaddq %zmm0,%zmm1,%zmm2"), [])
        self.assertEqual(self.faults("cuzk::kernels::adx::fr_mul(cuzk::Fr*)", "mulx   %rax,%rbx,%rcx"), [])
        self.assertEqual(self.faults("cuzk::Fr::square() const", "mul    %rcx"), [])


class Layers(unittest.TestCase):
    def faults(self, path, text):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "src" / path
            file.parent.mkdir(parents=True)
            file.write_text(text)
            return list(layers.faults(pathlib.Path(folder)))

    def test_planted(self):
        self.assertTrue(self.faults("field/a.h", '#include "curve/point.h"'), "upward")
        self.assertTrue(self.faults("ntt/a.h", '#include "msm/msm.h"'), "sideways")
        self.assertTrue(self.faults("engine/a.cpp", "#include <grpcpp/grpcpp.h>"), "a heavy header outside its folder")
        self.assertTrue(self.faults("other/a.h", ""), "a folder without a layer")
        self.assertTrue(self.faults("ntt/CMakeLists.txt", "cuzk_library(NAME ntt LAYER 6)"), "a layer of its own")

    def test_right(self):
        self.assertEqual(self.faults("curve/a.h", '#include "field/fields.h"\n#include "curve/point.h"\n#include <vector>'), [])


class KernelReport(unittest.TestCase):
    MANGLED = "_ZN4cuzk3msm38_GLOBAL__N__9acc2209_6_msm_cu_d3aa08c13addIjEEvPT_"

    def cubin(self, registers, stack, shared, architecture=90):
        """An ELF file of one kernel (symbol 1), and an attribute of each other form before those that count."""
        info = struct.pack("<BBH BBHI BBHII BBHII", 3, 0x1B, 255, 4, 0x37, 4, 1, 4, 0x2F, 8, 1, registers, 4, 0x12, 8, 1, stack)
        parts = [(".strtab", b"\0" + self.MANGLED.encode() + b"\0", 0), (".symtab", bytes(24) + struct.pack("<IBBHQQ", 1, 2, 16, 0, 0, 0), 1),
                 (".nv.info", info, 2)]
        sections = [(name, len(body), body, link) for name, body, link in parts] + [(".nv.shared." + self.MANGLED, shared + 1024, b"", 0)]
        names = b"\0".join(name.encode() for name, *_ in sections) + b"\0"
        bodies = b"".join(body for _, _, body, _ in sections) + names
        headers, name, at = bytes(64), 0, 64
        for text, size, body, link in [*sections, ("", len(names), names, 0)]:
            headers += struct.pack("<IIQQQQIIQQ", name, 0, 0, 0, at, size, link, 0, 0, 0)
            name, at = name + len(text) + 1, at + len(body)
        flags = 0x06000004 | architecture << 8
        start = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1A\x08", 2, 190, 1, 0, 0, 64 + len(bodies), flags, 64, 0, 0, 64, 6, 5)
        return start + bodies + headers

    def test_parsed(self):
        data = b"\x7fELF of the host" + bytes(60) + self.cubin(1, 2, 3, architecture=80) + self.cubin(128, 48, 12288)
        cubins = list(kernel_report.cubins(data))
        self.assertEqual(len(cubins), 1)
        kernels = list(kernel_report.kernels_of(cubins[0]))
        self.assertEqual(kernels, [(self.MANGLED, 128, 48, 12288)])
        self.assertEqual(list(kernel_report.lines_of(kernels)), ["      128    48  12288  msm::add<unsigned int>\n"])

    def test_names(self):
        for demangled, name in [
            ("void cuzk::(anonymous namespace)::f<(cuzk::S)1, 2u>(int)", "f<(S)1, 2u>"),
            ("cuzk::msm::g(cuzk::Affine<cuzk::Fp>*)", "msm::g"),
            ("void f<cuzk::Quadratic<cuzk::device::Element<cuzk::Montgomery<cuzk::FpParams> > > >(int)", "f<Quadratic<Fp>>"),
        ]:
            self.assertEqual(kernel_report.short_name(demangled)[0], name)

    def test_check(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            with self.assertRaisesRegex(check.Skipped, "without CUDA"):
                check.check_kernels(build)
            language = build / "CMakeFiles/3.25.1/CMakeCUDACompiler.cmake"
            language.parent.mkdir(parents=True)
            language.write_text('set(CMAKE_CUDA_COMPILER_VERSION "1.2.3")')
            with self.assertRaisesRegex(check.Skipped, "the build of CUDA 1.2.3"):
                check.check_kernels(build)
            release = kernel_report.REPORT.read_text().split()[2].rstrip(",")
            language.write_text(f'set(CMAKE_CUDA_COMPILER_VERSION "{release}")')
            (build / "compile_commands.json").write_text("[]")
            faults = check.check_kernels(build)
            self.assertIn("tools/kernel-report", faults[0], "what to do comes first")
            self.assertIn("-src/msm/cuda/msm.cu", faults)


if __name__ == "__main__":
    unittest.main()
