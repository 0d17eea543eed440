import { ETH1_ADDRESS_WITHDRAWAL_PREFIX, FAR_FUTURE_EPOCH, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type BeaconBlockBody, type capella, getValidatorStatus } from "@lodestar/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import type { DevFork } from "../../src/dev/forks.ts";
import { Failure } from "../../src/errors/failure.ts";
import { advance, type OpenedDevChain, openDevChain, startQuietDevChain } from "../support/chain/dev-chain.ts";
import { SignedOperations } from "../support/chain/signed-operations.ts";
import { variants } from "../support/suite/tier.ts";

/** Slots after which a dev chain validator may exit. */
const OLD_ENOUGH = 4 * SLOTS_PER_EPOCH;
const LEAVING = 1;
const DOUBLE_PROPOSER = 2;
const DOUBLE_VOTERS = [3, 4];
const RICH = 5;
const ADDRESS = new Uint8Array(20).fill(0xad);

const startsIn = (fork: DevFork) => (fork === "phase0" ? [] : [{ fork, epoch: 0 }]);

function pooled({ chain: { pools } }: DevChain) {
  return {
    exits: pools.operations.listVoluntaryExits().length,
    proposerSlashings: pools.operations.listProposerSlashings().length,
    attesterSlashings: pools.operations.listAttesterSlashings().length,
    credentialsChanges: pools.operations.listBlsToExecutionChanges().length,
  };
}

async function bodyOfHead({ chain }: DevChain): Promise<BeaconBlockBody> {
  return (await chain.blocks.byRoot(chain.head.root))!.signed.message.body;
}

/** The slot of a slashed proposer stays empty. */
async function untilNextBlock({ chain, clock }: DevChain): Promise<void> {
  const { root } = chain.head;
  while (chain.head.root === root) await clock.advanceTo(clock.currentSlot + 1);
}

function statusOf({ chain }: DevChain, index: number) {
  return getValidatorStatus(chain.headState.validators.getReadonly(index), chain.headState.epochCtx.epoch);
}

async function failureOf(submission: Promise<unknown>): Promise<Failure> {
  const error = await submission.then(
    () => new Error("It was accepted."),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw error;
  return error;
}

describe.each(variants({ fast: ["fulu"], full: ["phase0", "capella"] } as const))("on a chain of %s", (fork) => {
  it("submitted operations are pooled, included in the next block, applied, and pruned at finality", async () => {
    const { devChain } = await openDevChain({ forks: startsIn(fork) });
    const { api, chain } = devChain;
    await advance(devChain, OLD_ENOUGH);
    const signed = new SignedOperations(devChain);
    const change = fork === "phase0" ? [] : [signed.credentialsChange(RICH, ADDRESS)];
    const submitAll = async () => {
      await api.beacon.submitPoolVoluntaryExit({ signedVoluntaryExit: signed.exit(LEAVING) });
      await api.beacon.submitPoolProposerSlashings({ proposerSlashing: signed.doubleProposal(DOUBLE_PROPOSER, 5) });
      await api.beacon.submitPoolAttesterSlashingsV2({ attesterSlashing: signed.doubleVote(DOUBLE_VOTERS, 1) });
      if (change.length > 0) await api.beacon.submitPoolBLSToExecutionChange({ blsToExecutionChanges: change });
    };
    const allOnce = { exits: 1, proposerSlashings: 1, attesterSlashings: 1, credentialsChanges: change.length };

    await submitAll();
    expect(pooled(devChain)).toEqual(allOnce);
    // A resubmission succeeds without an effect.
    await submitAll();
    expect(pooled(devChain)).toEqual(allOnce);

    await advance(devChain, OLD_ENOUGH + 1);
    const body = await bodyOfHead(devChain);
    expect(body.voluntaryExits.map(({ message }) => message.validatorIndex)).toEqual([LEAVING]);
    expect(body.proposerSlashings.map((slashing) => slashing.signedHeader1.message.proposerIndex)).toEqual([
      DOUBLE_PROPOSER,
    ]);
    expect(body.attesterSlashings.map((slashing) => [...slashing.attestation1.attestingIndices])).toEqual([
      DOUBLE_VOTERS,
    ]);
    if (fork !== "phase0") {
      const changes = (body as capella.BeaconBlockBody).blsToExecutionChanges;
      expect(changes.map(({ message }) => message.validatorIndex)).toEqual([RICH]);
      const credentials = chain.headState.validators.getReadonly(RICH).withdrawalCredentials;
      expect(credentials[0]).toBe(ETH1_ADDRESS_WITHDRAWAL_PREFIX);
      expect(credentials.slice(12)).toEqual(ADDRESS);
    }
    expect(statusOf(devChain, LEAVING)).toBe("active_exiting");
    expect(statusOf(devChain, DOUBLE_PROPOSER)).toBe("active_slashed");
    for (const index of DOUBLE_VOTERS) expect(statusOf(devChain, index)).toBe("active_slashed");
    expect(chain.headState.validators.getReadonly(RICH).exitEpoch).toBe(FAR_FUTURE_EPOCH);

    // The block might be reorged until it is finalized, so the pools keep its operations. No block includes them twice.
    await untilNextBlock(devChain);
    expect(pooled(devChain)).toEqual(allOnce);
    expect(await bodyOfHead(devChain)).toMatchObject({
      voluntaryExits: [],
      proposerSlashings: [],
      attesterSlashings: [],
    });

    await advance(devChain, 8 * SLOTS_PER_EPOCH);
    expect(chain.forkChoice.finalized.epoch).toBeGreaterThan(4);
    expect(pooled(devChain)).toEqual({ exits: 0, proposerSlashings: 0, attesterSlashings: 0, credentialsChanges: 0 });
    expect(statusOf(devChain, LEAVING)).toMatch(/^(active_exiting|exited_unslashed)$/);
  });
});

describe("invalid operations are rejected", () => {
  let opened: OpenedDevChain;
  let signed: SignedOperations;

  beforeAll(async () => {
    opened = await startQuietDevChain(OLD_ENOUGH, { forks: startsIn("fulu") });
    signed = new SignedOperations(opened.devChain);
  });

  afterAll(() => opened?.close());

  const refused: [name: string, submit: (api: DevChain["api"]["beacon"]) => unknown, complaint: RegExp][] = [
    [
      "an exit signed by somebody else",
      (api) => api.submitPoolVoluntaryExit({ signedVoluntaryExit: signed.exit(1, { by: 2 }) }),
      /not signed by that validator/,
    ],
    [
      "an exit of nobody",
      (api) => api.submitPoolVoluntaryExit({ signedVoluntaryExit: signed.exit(99, { by: 2 }) }),
      /Unknown validator 99/,
    ],
    [
      "an exit of an epoch to come",
      (api) => api.submitPoolVoluntaryExit({ signedVoluntaryExit: signed.exit(1, { epoch: 9 }) }),
      /for epoch 9/,
    ],
    [
      "a proposer slashing with the same block twice",
      (api) => api.submitPoolProposerSlashings({ proposerSlashing: signed.doubleProposal(2, 5, { differ: false }) }),
      /do not prove a double proposal/,
    ],
    [
      "a proposer slashing that the proposer did not sign",
      (api) => api.submitPoolProposerSlashings({ proposerSlashing: signed.doubleProposal(2, 5, { by: 3 }) }),
      /not both signed by proposer 2/,
    ],
    [
      "an attester slashing with the same vote twice",
      (api) => api.submitPoolAttesterSlashingsV2({ attesterSlashing: signed.doubleVote([3, 4], 1, { differ: false }) }),
      /neither a double vote/,
    ],
    [
      "an attester slashing that the attesters did not sign",
      (api) => api.submitPoolAttesterSlashingsV2({ attesterSlashing: signed.doubleVote([3, 4], 1, { by: [5, 6] }) }),
      /not both signed/,
    ],
    [
      "an attester slashing whose attesters are not in order",
      (api) => api.submitPoolAttesterSlashingsV2({ attesterSlashing: signed.doubleVote([4, 3], 1) }),
      /sorted/,
    ],
    [
      "a change of credentials by another key",
      (api) =>
        api.submitPoolBLSToExecutionChange({
          blsToExecutionChanges: [signed.credentialsChange(5, ADDRESS, { key: 6, by: 6 })],
        }),
      /does not match the withdrawal credentials/,
    ],
    [
      "a change of credentials that is not signed with the key",
      (api) =>
        api.submitPoolBLSToExecutionChange({
          blsToExecutionChanges: [signed.credentialsChange(5, ADDRESS, { by: 6 })],
        }),
      /not signed/,
    ],
  ];

  it.each(refused)("%s", async (_, submit, complaint) => {
    const { devChain } = opened;
    const before = pooled(devChain);

    const failure = await failureOf(Promise.resolve(submit(devChain.api.beacon)));

    expect(failure.kind).toBe("rejected");
    expect(failure.message).toMatch(complaint);
    expect(pooled(devChain)).toEqual(before);
  });

  it("an invalid credential change does not affect the others", async () => {
    const { devChain } = opened;
    const blsToExecutionChanges = [
      signed.credentialsChange(7, ADDRESS),
      signed.credentialsChange(8, ADDRESS, { by: 7 }),
      signed.credentialsChange(9, ADDRESS),
    ];

    const failure = await failureOf(
      Promise.resolve(devChain.api.beacon.submitPoolBLSToExecutionChange({ blsToExecutionChanges })),
    );

    expect(failure.kind).toBe("rejected");
    expect(failure.failures).toMatchObject([{ index: 1 }]);
    const held = devChain.chain.pools.operations.listBlsToExecutionChanges();
    expect(held.map(({ message }) => message.validatorIndex)).toEqual([7, 9]);
  });
});

it("premature operations are rejected", async () => {
  const { devChain } = await openDevChain({ forks: [{ fork: "capella", epoch: 9 }] });
  await devChain.clock.advanceTo(1);
  const signed = new SignedOperations(devChain);
  const { beacon } = devChain.api;

  const exit = beacon.submitPoolVoluntaryExit({ signedVoluntaryExit: signed.exit(LEAVING) });
  expect(await failureOf(Promise.resolve(exit))).toMatchObject({
    kind: "rejected",
    message: expect.stringMatching(/can exit after 4 epochs/),
  });
  const change = beacon.submitPoolBLSToExecutionChange({
    blsToExecutionChanges: [signed.credentialsChange(RICH, ADDRESS)],
  });
  expect(await failureOf(Promise.resolve(change))).toMatchObject({
    kind: "rejected",
    message: expect.stringMatching(/from Capella on/),
  });
});

it("block production for a slashed proposer is rejected", async () => {
  const { devChain } = await openDevChain();
  const { api, chain, clock } = devChain;
  await clock.advanceTo(2);
  const signed = new SignedOperations(devChain);
  const proposer = chain.headState.epochCtx.getBeaconProposer(4);
  await api.beacon.submitPoolProposerSlashings({ proposerSlashing: signed.doubleProposal(proposer, 1) });
  await clock.advanceTo(3);
  expect(chain.headState.validators.getReadonly(proposer).slashed).toBe(true);

  const randaoReveal = Uint8Array.from({ length: 96 }, (_, i) => (i === 0 ? 0xc0 : 0));
  const failure = await failureOf(
    api.validator.produceBlockV3({ slot: 4, randaoReveal, skipRandaoVerification: true }),
  );
  expect(failure.kind).toBe("invalid-params");
  expect(failure.message).toBe(`Slot 4 cannot have a block: its proposer, validator ${proposer}, is slashed.`);
});

it("a block that could not be encoded is not produced, so it is never signed", async () => {
  const { devChain } = await openDevChain();
  const { chain, clock } = devChain;
  await clock.advanceTo(1);
  const request = {
    slot: 2,
    parentRoot: chain.head.root,
    randaoReveal: new Uint8Array(96),
    graffiti: new Uint8Array(31),
    feeRecipient: new Uint8Array(20),
  };
  await expect(chain.producer.produce(request)).rejects.toThrow(
    "The block produced for slot 2 cannot be encoded: body.graffiti has 31 bytes, expected 32.",
  );
});
