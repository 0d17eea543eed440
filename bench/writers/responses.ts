import type { Type } from "@chainsafe/ssz";
import { routes } from "@lodestar/api";
import { getValidatorStatus, type phase0, ssz } from "@lodestar/types";
import { listBody } from "../../src/api/list-body.ts";
import { encodeJson } from "../../src/json/encode.ts";
import { writeOrStream } from "../../src/json/shared-stream.ts";
import { sszJson } from "../../src/json/ssz-json.ts";
import { ANY_STATUS } from "../../src/json/validator-status.ts";
import { AttesterDutyRows } from "../../src/json/writers/committee-writers.ts";
import { BALANCE_BYTES, VALIDATORS_PER_CHUNK } from "../../src/json/writers/registry-chunks.ts";
import { RewardRows } from "../../src/json/writers/reward-writers.ts";
import { VALIDATOR_BYTES } from "../../src/ssz/validator-layout.ts";

/** Response with both encoders, from the data that the method has. */
export interface BenchedResponse {
  title: string;
  generic(): Buffer;
  special(): Promise<Buffer | AsyncIterable<Buffer>>;
}

const { beacon, validator: duties } = routes;
const EPOCH = 100;

function shared(count: number, recordBytes: number, write: (index: number, chunk: Uint8Array, at: number) => void) {
  const chunks: SharedArrayBuffer[] = [];
  for (let index = 0; index < count; index++) {
    const position = index % VALIDATORS_PER_CHUNK;
    if (position === 0) chunks.push(new SharedArrayBuffer(Math.min(VALIDATORS_PER_CHUNK, count - index) * recordBytes));
    write(index, new Uint8Array(chunks.at(-1)!), position * recordBytes);
  }
  return chunks;
}

/** Responses about all validators of a chain. */
export function responsesFor(count: number): BenchedResponse[] {
  const validators = Array.from({ length: count }, (_, index): phase0.Validator => {
    const pubkey = Buffer.alloc(48, index);
    pubkey.writeUInt32LE(index, 1);
    return {
      ...ssz.phase0.Validator.defaultValue(),
      pubkey,
      withdrawalCredentials: Buffer.alloc(32, index),
      effectiveBalance: 32e9,
      exitEpoch: Number.POSITIVE_INFINITY,
      withdrawableEpoch: Number.POSITIVE_INFINITY,
    };
  });
  const balances = validators.map((_, index) => 32e9 + index * 1001);
  const validatorChunks = shared(count, VALIDATOR_BYTES, (index, chunk, at) =>
    chunk.set(ssz.phase0.Validator.serialize(validators[index]!), at),
  );
  const balanceChunks = shared(count, BALANCE_BYTES, (index, chunk, at) =>
    chunk.set(ssz.UintNum64.serialize(balances[index]!), at),
  );
  const { state } = beacon;
  const input = { validatorChunks, balanceChunks, epoch: EPOCH, statuses: ANY_STATUS };
  return [
    {
      title: "validators",
      generic: () =>
        encodeJson(
          state.ValidatorResponseListType.toJson(
            validators.map((validator, index) => ({
              index,
              balance: balances[index]!,
              status: getValidatorStatus(validator, EPOCH),
              validator,
            })),
          ),
        ),
      special: async () => writeOrStream({ writer: "validators", input }, count),
    },
    {
      title: "balances",
      generic: () =>
        encodeJson(state.ValidatorBalanceListType.toJson(balances.map((balance, index) => ({ index, balance })))),
      special: async () => writeOrStream({ writer: "balances", input }, count),
    },
    {
      title: "identities",
      generic: () =>
        encodeJson(
          state.ValidatorIdentitiesType.toJson(
            validators.map(({ pubkey, activationEpoch }, index) => ({ index, pubkey, activationEpoch })),
          ),
        ),
      special: async () => writeOrStream({ writer: "identities", input }, count),
    },
    committees(count),
    attesterDuties(count, validators),
    attestationRewards(count),
  ];
}

function committees(count: number): BenchedResponse {
  const perSlot = Math.max(1, Math.min(64, Math.floor(count / 32 / 128)));
  const size = Math.floor(count / 32 / perSlot);
  const members = Uint32Array.from({ length: size * perSlot * 32 }, (_, index) => (index * 7919) % count);
  const found = Array.from({ length: perSlot * 32 }, (_, order) => ({
    index: order % perSlot,
    slot: 13_440_000 + Math.floor(order / perSlot),
    members: members.subarray(order * size, (order + 1) * size),
  }));
  return {
    title: "committees",
    generic: () =>
      encodeJson(
        beacon.state.EpochCommitteeResponseListType.toJson(
          found.map(({ members, ...committee }) => ({ ...committee, validators: Array.from(members) })),
        ),
      ),
    special: async () => {
      const all = new Uint32Array(new SharedArrayBuffer(members.byteLength));
      let at = 0;
      const headers = found.map(({ members, ...committee }) => {
        all.set(members, at);
        at += members.length;
        return { ...committee, length: members.length };
      });
      return writeOrStream({ writer: "committees", input: { committees: headers, members: all } }, count / 16);
    },
  };
}

function attesterDuties(count: number, validators: readonly phase0.Validator[]): BenchedResponse {
  const positions = validators.map((_, validatorIndex) => ({
    validatorIndex,
    committeeIndex: validatorIndex % 64,
    committeeLength: 480,
    position: validatorIndex % 480,
    slotInEpoch: validatorIndex % 32,
  }));
  return {
    title: "attester duties",
    generic: () =>
      encodeJson(
        duties.AttesterDutyListType.toJson(
          positions.map(({ position, slotInEpoch, ...duty }) => ({
            ...duty,
            pubkey: validators[duty.validatorIndex]!.pubkey,
            committeesAtSlot: 64,
            validatorCommitteeIndex: position,
            slot: 13_440_000 + slotInEpoch,
          })),
        ),
      ),
    special: async () => {
      const rows = new AttesterDutyRows(count);
      for (const duty of positions) rows.add(validators[duty.validatorIndex]!.pubkey, duty);
      const input = { firstSlot: 13_440_000, committeesAtSlot: 64, ...rows.columns };
      return writeOrStream({ writer: "attesterDuties", input }, count);
    },
  };
}

function attestationRewards(count: number): BenchedResponse {
  const rewardOf = (index: number) => ({ head: 2000 + index, target: 4000, source: -3000, inactivity: 0 });
  const json = (key: string, value: number, { head, target, source, inactivity }: ReturnType<typeof rewardOf>) => ({
    [key]: String(value),
    head: String(head),
    target: String(target),
    source: String(source),
    inactivity: String(inactivity),
  });
  const rowsOf = (length: number) => {
    const rows = new RewardRows(length);
    for (let key = 0; key < length; key++) rows.add({ key, ...rewardOf(key) });
    return rows.rows;
  };
  return {
    title: "attestation rewards",
    generic: () =>
      encodeJson({
        ideal_rewards: Array.from({ length: 33 }, (_, index) => json("effective_balance", index, rewardOf(index))),
        total_rewards: Array.from({ length: count }, (_, index) => json("validator_index", index, rewardOf(index))),
      }),
    special: async () => {
      const input = { ideal: rowsOf(33), total: rowsOf(count), hasInclusionDelays: false };
      return writeOrStream({ writer: "attestationRewards", input }, count);
    },
  };
}

/** Responses whose size does not depend on the number of validators. */
export function otherResponses(): BenchedResponse[] {
  const attestation = {
    ...ssz.electra.Attestation.defaultValue(),
    aggregationBits: ssz.electra.Attestation.fields.aggregationBits.fromJson(`0x${"ab".repeat(4096)}01`),
  };
  const block = ssz.fulu.SignedBeaconBlock.defaultValue();
  block.message.body.attestations = Array.from({ length: 8 }, () => attestation);
  block.message.body.executionPayload.transactions = Array.from({ length: 200 }, () => new Uint8Array(500));
  block.message.body.executionPayload.withdrawals = Array.from({ length: 16 }, () =>
    ssz.capella.Withdrawal.defaultValue(),
  );
  const blob = ssz.deneb.Blob.defaultValue();
  const exit = ssz.phase0.SignedVoluntaryExit.defaultValue();
  const listOf = <T>(title: string, type: Type<T>, elements: readonly T[]): BenchedResponse => ({
    title,
    generic: () => encodeJson(elements.map((element) => type.toJson(element))),
    special: () => listBody(elements, (element) => sszJson(type as Type<unknown>, type.serialize(element))),
  });
  return [
    {
      title: "block with 200 transactions",
      generic: () => encodeJson(ssz.fulu.SignedBeaconBlock.toJson(block)),
      special: async () => sszJson(ssz.fulu.SignedBeaconBlock, ssz.fulu.SignedBeaconBlock.serialize(block)),
    },
    listOf(
      "6 blobs",
      ssz.deneb.Blob,
      Array.from({ length: 6 }, () => blob),
    ),
    listOf(
      "pool of 1,000 attestations",
      ssz.electra.Attestation,
      Array.from({ length: 1000 }, () => attestation),
    ),
    listOf(
      "pool of 8 voluntary exits",
      ssz.phase0.SignedVoluntaryExit,
      Array.from({ length: 8 }, () => exit),
    ),
    listOf(
      "pool of 2,000 voluntary exits",
      ssz.phase0.SignedVoluntaryExit,
      Array.from({ length: 2000 }, () => exit),
    ),
  ];
}
