#!/usr/bin/env python3
"""Each check of tools/ finds the fault planted for it, and passes what is right."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


check, layers = load("check"), load("layers")


class Text(unittest.TestCase):
    def test_planted(self):
        for line in ["#if 0", "  # if 0  // off", "// TODO: later", "// FIXME", "int x; ", "x" * 121]:
            self.assertTrue(list(check.faults_of_line(line)), line)

    def test_right(self):
        for line in ["#if 01", "// TODO(#12): later", "int todo;", "x" * 120, ""]:
            self.assertEqual(list(check.faults_of_line(line)), [], line)


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


if __name__ == "__main__":
    unittest.main()
