"""Points of BLS12-381 in their compressed encoding, by arithmetic that shares nothing with the programs.

A coordinate is a0 + a1 i with i^2 = -1; those of G1 have a1 = 0. Three flags stand before the big-endian x: compressed,
infinity, and whether y is the larger of the two.
"""
P = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab


def times(a, b):
    return (a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P


def root_of_number(a):
    root = pow(a, (P + 1) // 4, P)
    return root if root * root % P == a % P else None


def root(a):
    """None where there is none. (x + y i)^2 = a has x^2 = (a0 + |a|) / 2 for one of the two |a|."""
    if a[1] == 0:
        real = root_of_number(a[0])
        return (0, root_of_number(-a[0])) if real is None else (real, 0)
    length = root_of_number(a[0] ** 2 + a[1] ** 2)
    for signed in () if length is None else (length, -length):
        x = root_of_number((a[0] + signed) * pow(2, -1, P))
        if x:
            return x, a[1] * pow(2 * x, -1, P) % P
    return None


def is_larger(y):
    return (y[1] or y[0]) > P // 2


def decoded(data):
    """(x, y) of 48 bytes (G1) or 96 (G2)."""
    numbers = [int.from_bytes(data[i:i + 48], "big") for i in range(0, len(data), 48)]
    flags = numbers[0] >> 381
    numbers[0] &= (1 << 381) - 1
    assert flags & 0b110 == 0b100 and max(numbers) < P, "compressed, not infinity, canonical"
    x = numbers[-1], numbers[0] if len(data) == 96 else 0
    b = 4, 4 if len(data) == 96 else 0
    y = root([(u + v) % P for u, v in zip(times(x, times(x, x)), b)])
    assert y and (len(data) == 96 or y[1] == 0), "on the curve"
    return x, y if is_larger(y) == flags & 1 else tuple(-v % P for v in y)


def encoded(point, size):
    x, y = point
    number = (x[1] << 384 | x[0] if size == 96 else x[0]) | (0b100 | is_larger(y)) << 8 * size - 3
    return number.to_bytes(size, "big")


def check_proof(test, proof, partitions):
    """192 bytes a partition, A in G1, B in G2, C in G1, and no other way to write them."""
    test.assertEqual(len(proof), 192 * partitions)
    for begin in range(0, len(proof), 192):
        for at, size in (0, 48), (48, 96), (144, 48):
            point = proof[begin + at:begin + at + size]
            test.assertEqual(encoded(decoded(point), size), point)
