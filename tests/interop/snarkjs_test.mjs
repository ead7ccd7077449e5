// snarkjs verifies the proofs in CUZK_EXPORTED, one folder each, and refuses them for other public inputs, with another
// point in the proof, and under another key.
import assert from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { groth16 } from 'snarkjs';

const folder = process.env.CUZK_EXPORTED;
const load = (name) =>
  ['verification_key', 'public', 'proof'].map((file) => JSON.parse(readFileSync(`${folder}/${name}/${file}.json`)));
const names = readdirSync(folder);

test('something was exported', () => assert(names.length > 1));
for (const [index, name] of names.entries()) {
  const [key, inputs, proof] = load(name);
  test(`${name}: accepted`, async () => assert.equal(await groth16.verify(key, inputs, proof), true));
  test(`${name}: refused for other inputs`, async () => {
    for (const position of inputs.keys()) {
      const wrong = inputs.with(position, (BigInt(inputs[position]) ^ 1n).toString());
      assert.equal(await groth16.verify(key, wrong, proof), false);
    }
  });
  test(`${name}: refused with A in place of C`, async () =>
    assert.equal(await groth16.verify(key, inputs, { ...proof, pi_c: proof.pi_a }), false));
  test(`${name}: refused under another key`, async () => {
    const [other] = load(names[(index + 1) % names.length]);
    assert.equal(await groth16.verify({ ...key, vk_delta_2: other.vk_delta_2 }, inputs, proof), false);
  });
}
after(() => globalThis.curve_bls12381.terminate());
