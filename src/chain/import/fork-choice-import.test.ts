import { type BeaconBlock, type phase0, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { addBlock, makeForkChoice, root } from "../../../test/support/chain/fork-choice/blocks.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { applyBlockAttestations } from "./fork-choice-import.ts";

const NO_SLASHINGS: BeaconBlock = ssz.phase0.BeaconBlock.defaultValue();

/** Genesis is block 1, with children 2 and 3 at slot 1; four validators attest. */
function twoBranches(): ForkChoice {
  const forkChoice = makeForkChoice();
  addBlock(forkChoice, 2, 1, 1);
  addBlock(forkChoice, 3, 1, 1);
  forkChoice.onTick(3);
  return forkChoice;
}

function vote(block: number, attestingIndices: number[], target = 1): phase0.IndexedAttestation {
  const attestation = ssz.phase0.IndexedAttestation.defaultValue();
  attestation.attestingIndices = attestingIndices;
  attestation.data.slot = 1;
  attestation.data.beaconBlockRoot = fromHex(root(block));
  attestation.data.target.root = fromHex(root(target));
  return attestation;
}

it("counts the attestations of a block", () => {
  for (const [favourite, other] of [
    [2, 3],
    [3, 2],
  ] as const) {
    const forkChoice = twoBranches();
    applyBlockAttestations(forkChoice, NO_SLASHINGS, [vote(favourite, [0, 1]), vote(other, [2])]);
    expect(forkChoice.updateHead().root).toBe(root(favourite));
  }
});

it("ignores attestations with a wrong target or for an unknown block", () => {
  const forkChoice = twoBranches();
  applyBlockAttestations(forkChoice, NO_SLASHINGS, [vote(2, [0]), vote(3, [1, 2, 3], 2), vote(9, [1, 2, 3])]);
  expect(forkChoice.updateHead().root).toBe(root(2));
});

it("ignores an attestation for a block after its own slot", () => {
  const forkChoice = twoBranches();
  addBlock(forkChoice, 4, 3, 3);
  forkChoice.onTick(4);
  applyBlockAttestations(forkChoice, NO_SLASHINGS, [vote(2, [0]), vote(4, [1, 2, 3])]);
  expect(forkChoice.updateHead().root).toBe(root(2));
});

it("discounts validators proven to be equivocating", () => {
  const forkChoice = twoBranches();
  applyBlockAttestations(forkChoice, NO_SLASHINGS, [vote(2, [0, 1]), vote(3, [2])]);
  expect(forkChoice.updateHead().root).toBe(root(2));

  const slashing = ssz.phase0.AttesterSlashing.defaultValue();
  slashing.attestation1.attestingIndices = [0, 1];
  slashing.attestation2.attestingIndices = [0, 1, 2];
  const block = { ...NO_SLASHINGS, body: { ...NO_SLASHINGS.body, attesterSlashings: [slashing] } } as BeaconBlock;
  applyBlockAttestations(forkChoice, block, []);

  expect(forkChoice.updateHead().root).toBe(root(3));
});
