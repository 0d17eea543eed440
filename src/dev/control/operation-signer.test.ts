import { PublicKey, Signature, verify } from "@chainsafe/blst";
import { DOMAIN_VOLUNTARY_EXIT, ForkName, ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  assertValidAttesterSlashing,
  assertValidProposerSlashing,
  computeSigningRoot,
  getAttesterSlashableIndices,
  isValidBlsToExecutionChange,
  processSlots,
} from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { devChainConfig } from "../chain-config.ts";
import type { ScheduledFork } from "../forks.ts";
import { createDevGenesis } from "../genesis.ts";
import { OperationSigner } from "./operation-signer.ts";

/** Creates a signer and a state in the middle of epoch 2. */
function scene(forks: readonly ScheduledFork[]) {
  const chainConfig = devChainConfig({ forks, slotSeconds: 2, genesisTime: 0 });
  const { state, config, keys, pubkeyCache } = createDevGenesis({ chainConfig, validatorCount: 4, genesisTime: 0 });
  const later = processSlots(state, 2 * SLOTS_PER_EPOCH + 3);
  return { state: later, config, keys, pubkeyCache, signer: new OperationSigner(config, keys) };
}

const FORKS: [string, ScheduledFork[]][] = [
  ["phase0", []],
  ["a fork in this epoch", [{ fork: "altair", epoch: 2 }]],
  ["electra", [{ fork: "electra", epoch: 0 }]],
];

it.each(FORKS)("%s: a double proposal is a valid slashing", (_, forks) => {
  const { state, config, pubkeyCache, signer } = scene(forks);
  const slashing = signer.doubleProposal(state, 2);
  const proposer = state.validators.getReadonly(2);
  expect(() => assertValidProposerSlashing(config, pubkeyCache, state.slot, slashing, proposer, true)).not.toThrow();
});

it.each(FORKS)("%s: a double vote slashes exactly its attesters", (_, forks) => {
  const { state, config, pubkeyCache, signer } = scene(forks);
  const slashing = signer.doubleVote(state, [1, 3]);
  const count = state.validators.length;
  expect(() => assertValidAttesterSlashing(config, pubkeyCache, state.slot, count, slashing, true)).not.toThrow();
  expect(getAttesterSlashableIndices(slashing)).toEqual([1, 3]);
});

it.each<[string, ScheduledFork[], ForkName]>([
  ["phase0", [], ForkName.phase0],
  ["capella", [{ fork: "capella", epoch: 1 }], ForkName.capella],
  // EIP-7044: exits remain valid across later forks.
  ["electra", [{ fork: "electra", epoch: 0 }], ForkName.capella],
])("%s: signs an exit of the current epoch", (_, forks, signedFork) => {
  const { state, config, keys, signer } = scene(forks);
  const { message, signature } = signer.exit(state, 2);
  expect(message).toMatchObject({ epoch: 2, validatorIndex: 2 });
  const domain = config.getDomainAtFork(signedFork, DOMAIN_VOLUNTARY_EXIT);
  const signingRoot = computeSigningRoot(ssz.phase0.VoluntaryExit, message, domain);
  expect(verify(signingRoot, PublicKey.fromBytes(keys.publicKey(2)!), Signature.fromBytes(signature))).toBe(true);
});

it("signs a change of credentials that is valid in any fork", () => {
  const { state, config, signer } = scene([{ fork: "electra", epoch: 0 }]);
  expect(config.getForkSeq(state.slot)).toBe(ForkSeq.electra);
  const validator = state.validators.getReadonly(1);
  const change = signer.credentialsChange(1, validator.pubkey, new Uint8Array(20).fill(7));
  expect(isValidBlsToExecutionChange(config, validator, change, true)).toEqual({ valid: true });
  expect(change.message.toExecutionAddress).toEqual(new Uint8Array(20).fill(7));
});
