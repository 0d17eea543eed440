/// <reference lib="esnext.disposable" preserve="true" />
import type {
  BeaconState,
  BlockId,
  BlockProof,
  ChainPosition,
  ForkName,
  Hex,
  Root,
  SignedBeaconBlock,
  StateId,
  StateProof,
  StateValidator,
  Uint64,
  Validator,
  ValidatorId,
} from "../client/chain-types.ts";
import type { CallOptions, Client } from "../client/index.ts";
import type { Methods } from "../client/methods.ts";
import { type BuilderActions, builderActions } from "./builder-actions.ts";
import { type PayloadActions, payloadActions } from "./payload-actions.ts";
import { type ValidatorActions, validatorActions } from "./validator-actions.ts";

type Params<Name extends keyof Methods> = NonNullable<Parameters<Methods[Name]>[0]>;
type Result<Name extends keyof Methods> = ReturnType<Methods[Name]>;

/** Number of slots or epochs. */
export type Duration = Pick<Params<"dev_advance">, "slots" | "epochs">;

export interface AdvanceOptions extends CallOptions {
  /** Maximum duration in real seconds. Slots that have already passed are kept. */
  readonly timeoutSeconds?: number;
}

export interface UntilOptions extends CallOptions {
  /** Maximum duration in real seconds; 50 by default. Slots that have already passed are kept. */
  readonly timeoutSeconds?: number;
  /** Maximum number of slots; 65536 by default. */
  readonly limit?: number | bigint;
}

/** Condition on the chain: a block with or without its payload, a checkpoint, a slot, an epoch, or the status of a validator. */
export type ChainCondition = NonNullable<Params<"dev_advance">["until"]>;

/** Validators by index, range or share, or "all" or "none". */
export type ValidatorSelection = NonNullable<Params<"dev_setValidators">["online"]>;

/** Path of field names and element indices, or a generalized index. */
export type ProofPath = ReadonlyArray<string | number | bigint> | number | bigint;

/** Number of characters in a literal; `number` for other strings. */
type LengthOf<Text extends string, Counted extends readonly unknown[] = []> = string extends Text
  ? number
  : Text extends `${string}${infer Rest}`
    ? LengthOf<Rest, readonly [...Counted, unknown]>
    : Counted["length"];

/** 32 bytes in hex. Rejects a literal of any other length, such as the prefix "0x01" alone. */
export type Credentials<Text extends Hex = Hex> =
  LengthOf<Text> extends infer Length
    ? number extends Length
      ? Text
      : Length extends 66
        ? Text
        : "0x and 64 hex digits: 0x01 or 0x02, 11 zero bytes and the address"
    : never;

export interface NewValidators<Text extends Hex = Hex> {
  /** 1 by default. */
  readonly count?: number | bigint;
  /** Gwei per deposit; 32 ETH by default. */
  readonly amount?: number | bigint | string;
  /** Withdrawal credentials; by default those configured for the chain. */
  readonly credentials?: Credentials<Text>;
  /**
   * False to sign the deposits without making them, so that a contract can. Further calls return the same keys until
   * the deposits are made, so use `count` to sign several at once.
   */
  readonly submit?: boolean;
}

export interface StateProofOptions {
  /** "head" by default. */
  readonly state?: StateId;
  /**
   * Root that the proof is verified against: the root of the state, or of its block. "state" by default. Contracts can
   * read the root of a block only from the next block on, so "block" fails until the block has a child.
   */
  readonly upTo?: "state" | "block";
}

export interface BlockProofOptions {
  /** "head" by default. */
  readonly block?: BlockId;
}

type ForkBeforeDeneb = "phase0" | "altair" | "bellatrix" | "capella";

/**
 * Proof against the root of a block with a child. Before deneb, contracts cannot read such roots, so there is no
 * timestamp.
 */
export type StateProofUpToBlock<F extends ForkName = ForkName> = StateProof & {
  readonly block_root: Root;
  readonly timestamp: F extends ForkBeforeDeneb ? Uint64 | null : Uint64;
};

/** Snapshot of a chain. `await using` reverts the chain to the snapshot at the end of the scope. */
export interface Snapshot extends AsyncDisposable {
  readonly id: `0x${string}`;
  /** Reverts the chain to the snapshot, and discards this and all later snapshots. A second call fails. */
  revert(): Promise<void>;
}

/** The most common calls of a dev chain under short names. All other calls are available on `client`. */
export interface ChainActions<F extends ForkName = ForkName> {
  /** Runs slots with all validator duties; one slot by default. An aborted call stops after the current slot. */
  advance(duration?: Duration, options?: AdvanceOptions): Promise<ChainPosition>;
  /**
   * Runs slots until a condition holds. A status condition also holds if the validator has already moved past that
   * status. Fails after `timeoutSeconds` or `limit` slots, and immediately if the validator can no longer reach the
   * status. For a public key, fails early if there is no deposit.
   */
  advanceUntil(condition: ChainCondition, options?: UntilOptions): Promise<ChainPosition>;
  /** Skips slots, as if all validators were offline; one slot by default. */
  skip(duration?: Duration, options?: AdvanceOptions): Promise<ChainPosition>;
  /** Replaces the last `depth` blocks with another branch; one block by default. */
  reorg(depth?: number | bigint, options?: CallOptions): Result<"dev_reorg">;
  /** Takes a snapshot of the whole chain. */
  snapshot(): Promise<Snapshot>;
  /** Returns the slots and roots of the head, justified and finalized blocks. */
  head(): Result<"getChainHead">;
  /** Returns a signed block; the head by default. */
  block(id?: BlockId): Promise<SignedBeaconBlock<F>>;
  /** Returns a full state; the head's state by default. */
  state(id?: StateId): Promise<BeaconState<F>>;
  /** Returns the actions of one validator, by index or public key. */
  validator(id: ValidatorId): ValidatorActions;
  /** Returns the actions of one builder, by index; since gloas. */
  builder(index: number): BuilderActions;
  /** Payloads of blocks since gloas, and the votes on them. */
  readonly payload: PayloadActions;
  readonly validators: {
    /** Returns validators with their balances and statuses; all by default. */
    list(filter?: Omit<Params<"get_v1_beacon_states_stateId_validators">, "state_id">): Promise<StateValidator[]>;
    /** Makes deposits for new validators, using the chain's next keys. */
    deposit<const Text extends Hex = Hex>(options?: NewValidators<Text>): Result<"dev_deposit">;
    /** From the next slot on, these validators are online and all others offline. */
    setOnline(selection: ValidatorSelection): Result<"dev_setValidators">;
    /** From the next slot on, these validators are offline and all others online. */
    setOffline(selection: ValidatorSelection): Result<"dev_setValidators">;
  };
  /** Merkle proofs. */
  readonly prove: {
    /** Proves a field of a validator, or the whole validator. */
    validator(
      id: ValidatorId,
      field: keyof Validator | undefined,
      options: StateProofOptions & { readonly upTo: "block" },
    ): Promise<StateProofUpToBlock<F>>;
    validator(id: ValidatorId, field?: keyof Validator, options?: StateProofOptions): Promise<StateProof>;
    /** Proves part of a state. */
    state(path: ProofPath, options: StateProofOptions & { readonly upTo: "block" }): Promise<StateProofUpToBlock<F>>;
    state(path: ProofPath, options?: StateProofOptions): Promise<StateProof>;
    /** Proves part of a block. */
    block(path: ProofPath, options?: BlockProofOptions): Promise<BlockProof>;
  };
}

export function chainActions<F extends ForkName>(client: Client<F>): ChainActions<F> {
  // The assertion holds for proofs up to a block, since a block without a canonical child is rejected.
  const proveState = async (path: ProofPath, { state = "head", upTo = "state" }: StateProofOptions = {}) => {
    const proof = await client.getStateProof({ state_id: state, path, up_to: upTo });
    if (upTo === "block" && proof.timestamp === null) await requireChild(client, proof);
    return proof as StateProofUpToBlock<F>;
  };
  return {
    advance: async (duration, { timeoutSeconds, ...call } = {}) =>
      client.dev_advance({ ...checkDuration("advance", duration), ...timeout(timeoutSeconds) }, call),
    advanceUntil: async (until, { limit, timeoutSeconds, ...call } = {}) => {
      if (until === undefined) {
        throw new TypeError('chain.advanceUntil takes a condition. Write chain.advanceUntil("finalized").');
      }
      return client.dev_advance({ until, ...(limit !== undefined && { limit }), ...timeout(timeoutSeconds) }, call);
    },
    skip: async (duration, { timeoutSeconds, ...call } = {}) =>
      client.dev_skip({ ...checkDuration("skip", duration), ...timeout(timeoutSeconds) }, call),
    reorg: (depth = 1, call = {}) => client.dev_reorg({ depth }, call),
    snapshot: () => takeSnapshot(client),
    head: () => client.getChainHead(),
    block: (id = "head") => client.get_v2_beacon_blocks_blockId({ block_id: id }),
    state: (id = "head") => client.get_v2_debug_beacon_states_stateId({ state_id: id }),
    validator: (id) => validatorActions(client, id),
    builder: (index) => builderActions(client, index),
    payload: payloadActions(client),
    validators: {
      list: (filter) => client.get_v1_beacon_states_stateId_validators({ state_id: "head", ...filter }),
      deposit: ({ credentials, ...options } = {}) =>
        client.dev_deposit({ ...options, ...(credentials !== undefined && { withdrawal_credentials: credentials }) }),
      setOnline: (online) => client.dev_setValidators({ online }),
      setOffline: (offline) => client.dev_setValidators({ offline }),
    },
    prove: {
      validator: async (id, field, options = {}) => {
        const query = { state_id: options.state ?? "head", validator_id: id };
        const index =
          typeof id === "string"
            ? Number((await client.get_v1_beacon_states_stateId_validators_validatorId(query)).index)
            : id;
        return proveState(["validators", index, ...(field === undefined ? [] : [field])], options);
      },
      state: proveState,
      block: (path, { block = "head" } = {}) => client.getBlockProof({ block_id: block, path }),
    },
  };
}

const timeout = (seconds: number | undefined) => (seconds === undefined ? {} : { timeout_seconds: seconds });

/**
 * Rejects arguments that JavaScript programs may pass: a bare number, an object without a number, or an object that
 * contains call options.
 */
function checkDuration(action: "advance" | "skip", duration: unknown): Duration | undefined {
  if (duration === undefined) return undefined;
  if (typeof duration !== "object" || duration === null) {
    const slots = /^\d+$/.test(String(duration)) ? String(duration) : "3";
    throw new TypeError(
      `chain.${action} takes an object, got ${String(duration)}. Write chain.${action}({ slots: ${slots} }).`,
    );
  }
  for (const option of ["signal", "timeoutSeconds"] satisfies (keyof AdvanceOptions)[]) {
    if (!(option in duration)) continue;
    const call = `chain.${action}({ slots: 3 }, { ${option} })`;
    throw new TypeError(`chain.${action} takes ${option} in its second argument. Write ${call}.`);
  }
  const { slots, epochs } = duration as Duration;
  if (slots !== undefined || epochs !== undefined) return duration;
  throw new TypeError(
    `chain.${action} got neither slots nor epochs. ` +
      `Write chain.${action}({ slots: 3 }), or chain.${action}() for one slot.`,
  );
}

/**
 * Rejects a proof whose block has no canonical child. Before deneb, the timestamp is missing even if there is a child.
 */
async function requireChild(client: Client, { slot, block_root }: StateProof): Promise<void> {
  const { head_slot } = await client.getChainHead();
  if (slot === head_slot) {
    throw new Error(
      `The block of slot ${slot} has no child yet, so contracts do not know its root. ` +
        `Run chain.advanceUntil("block") first, then prove { state: ${slot}, upTo: "block" }.`,
    );
  }
  const canonical = await client.get_v1_beacon_blocks_blockId_root({ block_id: slot }).catch(() => undefined);
  if (canonical?.root === block_root) return;
  throw new Error(
    `The block ${block_root} of slot ${slot} is not on the canonical chain, so contracts do not know its root. ` +
      "Prove a state of that chain.",
  );
}

async function takeSnapshot(client: Client): Promise<Snapshot> {
  const id = await client.dev_snapshot();
  let isReverted = false;
  const revert = async () => {
    isReverted = true;
    await client.dev_revert({ id });
  };
  const dispose = async () => {
    if (!isReverted) await revert();
  };
  return { id, revert, [Symbol.asyncDispose]: dispose };
}
