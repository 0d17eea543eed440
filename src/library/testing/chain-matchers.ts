import type { BlockId, ValidatorId, ValidatorStatus } from "../../client/chain-types.ts";
import type { DevChain } from "../dev-chain.ts";

/** Matcher result, in the format of vitest and jest. */
export interface MatcherResult {
  pass: boolean;
  message(): string;
  actual?: unknown;
  expected?: unknown;
}

/** Assertions about the head of a chain. */
export interface ChainMatchers {
  /** Expects the finalized checkpoint to have exactly this epoch. */
  toBeFinalizedAt(epoch: number | bigint): Promise<void>;
  /** Expects the justified checkpoint to have exactly this epoch. */
  toBeJustifiedAt(epoch: number | bigint): Promise<void>;
  /** Expects the head block to have exactly this slot. */
  toHaveHeadAt(slot: number | bigint): Promise<void>;
  /** Expects a block since gloas, the head by default, to have its payload on the chain. */
  toHavePayload(block?: BlockId): Promise<void>;
  /** Expects all these validators to be slashed. */
  toHaveSlashed(...validators: ValidatorId[]): Promise<void>;
  /** Expects the validator to have this status. */
  toHaveValidatorStatus(validator: ValidatorId, status: ValidatorStatus): Promise<void>;
}

type Matcher<Name extends keyof ChainMatchers> = (
  received: unknown,
  ...expected: Parameters<ChainMatchers[Name]>
) => Promise<MatcherResult>;

interface Comparison {
  what: string;
  actual: string;
  expected: number | bigint | string;
  position: string;
}

export const chainMatchers: { readonly [Name in keyof ChainMatchers]: Matcher<Name> } = {
  toBeFinalizedAt: async (received, expected) => {
    const { finalized, position } = await readPosition(asChain(received));
    return compare({ what: "the finalized epoch", actual: finalized, expected, position });
  },
  toBeJustifiedAt: async (received, expected) => {
    const { justified, position } = await readPosition(asChain(received));
    return compare({ what: "the justified epoch", actual: justified, expected, position });
  },
  toHaveHeadAt: async (received, expected) => {
    const { head, position } = await readPosition(asChain(received));
    return compare({ what: "the head slot", actual: head, expected, position });
  },
  toHavePayload: async (received, block) => {
    const chain = asChain(received);
    const { position } = await readPosition(chain);
    const { slot, payload_status: status, is_imported: isImported } = await chain.payload.get(block);
    const pass = status === "full";
    const hint = !pass && isImported ? "\nThe payload was revealed, but it is not on the chain." : "";
    const message = () =>
      `Expected the block of slot ${slot} ${pass ? "to be empty, got its payload" : "to have its payload, got none"}.\n` +
      `${position}${hint}`;
    return { pass, message, actual: status, expected: "full" };
  },
  toHaveSlashed: async (received, ...validators) => {
    const chain = asChain(received);
    const { position } = await readPosition(chain);
    const found = await Promise.all(validators.map((id) => chain.validator(id).get()));
    const isPending = await pendingSlashings(chain);
    const pass = found.every(({ validator }) => validator.slashed);
    const waiting = found.filter(({ index, validator }) => !validator.slashed && isPending.has(index));
    const names = `validator${found.length === 1 ? "" : "s"} ${found.map(({ index }) => index).join(", ")}`;
    const lines = [
      `Expected ${names} ${pass ? "not to be" : "to be"} slashed.`,
      ...found.map(({ index, status }) => `  validator ${index}: ${status}`),
      position,
      ...waiting.map(({ index }) => `A slashing of validator ${index} is in the pool. chain.advance() includes it.`),
    ];
    return { pass, message: () => lines.join("\n") };
  },
  toHaveValidatorStatus: async (received, validator, expected) => {
    const chain = asChain(received);
    const { position } = await readPosition(chain);
    const { index, status } = await chain.validator(validator).get();
    return compare({ what: `the status of validator ${index}`, actual: status, expected, position });
  },
};

function compare({ what, actual, expected, position }: Comparison): MatcherResult {
  const expectedText = String(expected);
  const pass = actual === expectedText;
  return {
    pass,
    message: () =>
      `Expected ${what} ${pass ? `not to be ${expectedText}` : `to be ${expectedText}, got ${actual}`}.\n${position}`,
    actual,
    expected: expectedText,
  };
}

/** Reads the head and its checkpoints, and summarizes them for messages. */
async function readPosition({ client }: DevChain) {
  const [{ head_slot: head }, { slot }, checkpoints] = await Promise.all([
    client.getChainHead(),
    client.getChainTime(),
    client.get_v1_beacon_states_finality_checkpoints({ state_id: "head" }),
  ]);
  const [justified, finalized] = [checkpoints.current_justified.epoch, checkpoints.finalized.epoch];
  const position = `At slot ${slot}: head slot ${head}, justified epoch ${justified}, finalized epoch ${finalized}.`;
  return { head, justified, finalized, position };
}

/** Returns the validators with a slashing in the pool. */
async function pendingSlashings({ client }: DevChain): Promise<Set<string>> {
  const [byProposers, byAttesters] = await Promise.all([
    client.get_v1_beacon_pool_proposer_slashings(),
    client.get_v2_beacon_pool_attester_slashings(),
  ]);
  const attesters = byAttesters.flatMap(({ attestation_1, attestation_2 }) => {
    const others = new Set<string>(attestation_2.attesting_indices);
    return attestation_1.attesting_indices.filter((index) => others.has(index));
  });
  return new Set([...byProposers.map(({ signed_header_1 }) => signed_header_1.message.proposer_index), ...attesters]);
}

function asChain(received: unknown): DevChain {
  if (typeof received === "object" && received !== null && "client" in received && "validator" in received) {
    return received as DevChain;
  }
  const type = received === null ? "null" : typeof received;
  throw new TypeError(`Expected a chain of startDevChain or attachDevChain, got ${type}. Pass the chain itself.`);
}
