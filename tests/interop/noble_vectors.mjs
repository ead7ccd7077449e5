// Writes tests/data/noble_bls12_381.json: points and pairing values of BLS12-381 by @noble/curves, an implementation
// independent of this one. Usage, in this folder: npm ci && node noble_vectors.mjs [--check]
// --check writes nothing and fails where the file is not what would be written.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { bls12_381 } from '@noble/curves/bls12-381.js';

const r = bls12_381.fields.Fr.ORDER;
const hex = (value, bytes) => value.toString(16).padStart(2 * bytes, '0');
const scalar = (text) => BigInt('0x' + createHash('sha256').update(text).digest('hex')) % r;
const scalars = [1n, 2n, 3n, r - 1n, r - 2n, (1n << 64n) - 1n, ...['a', 'b', 'c', 'd', 'e', 'f'].map(scalar)];

const points = (Point) =>
  scalars.map((k) => {
    const point = Point.BASE.multiply(k);
    return { scalar: hex(k, 32), compressed: point.toHex(true), uncompressed: point.toHex(false) };
  });

// Coefficients in the order c0.c0.c0, c0.c0.c1, c0.c1.c0, ... c1.c2.c1, each 48 bytes, big-endian.
const coefficients = (value) =>
  [value.c0, value.c1].flatMap((six) => [six.c0, six.c1, six.c2].flatMap((two) => [hex(two.c0, 48), hex(two.c1, 48)]));
const pairings = [[1n, 1n], [1n, r - 1n], [2n, 3n], [scalar('a'), scalar('b')], [scalar('c'), scalar('d')]].map(([a, b]) => ({
  a: hex(a, 32),
  b: hex(b, 32),
  value: coefficients(bls12_381.pairing(bls12_381.G1.Point.BASE.multiply(a), bls12_381.G2.Point.BASE.multiply(b))),
}));

const version = JSON.parse(readFileSync(new URL('./package.json', import.meta.url))).dependencies['@noble/curves'];
const out = {
  provenance: `made by tests/interop/noble_vectors.mjs with the npm package @noble/curves ${version}`,
  g1: points(bls12_381.G1.Point),
  g2: points(bls12_381.G2.Point),
  pairing: pairings,
};
const file = new URL('../data/noble_bls12_381.json', import.meta.url);
const text = JSON.stringify(out, null, 1) + '\n';
if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  console.error('tests/data/noble_bls12_381.json is not what noble_vectors.mjs makes');
  process.exit(1);
}
