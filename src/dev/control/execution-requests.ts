import {
  isForkPostElectra,
  isForkPostGloas,
  MAX_BUILDER_DEPOSIT_REQUESTS_PER_PAYLOAD,
  MAX_BUILDER_EXIT_REQUESTS_PER_PAYLOAD,
  MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD,
  MAX_DEPOSIT_REQUESTS_PER_PAYLOAD,
  MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD,
} from "@lodestar/params";
import {
  type electra,
  type gloas,
  type phase0,
  type RootHex,
  type SignedBeaconBlock,
  type Slot,
  ssz,
} from "@lodestar/types";
import { fromHex, toHex, toRootHex } from "@lodestar/utils";
import { SerialQueue } from "../../async/serial-queue.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { LruMap } from "../../collections/lru-map.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";

const KINDS = {
  deposits: { type: ssz.electra.DepositRequest, limit: MAX_DEPOSIT_REQUESTS_PER_PAYLOAD },
  withdrawals: { type: ssz.electra.WithdrawalRequest, limit: MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD },
  consolidations: { type: ssz.electra.ConsolidationRequest, limit: MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD },
  /** Since gloas. */
  builderDeposits: { type: ssz.gloas.BuilderDepositRequest, limit: MAX_BUILDER_DEPOSIT_REQUESTS_PER_PAYLOAD },
  builderExits: { type: ssz.gloas.BuilderExitRequest, limit: MAX_BUILDER_EXIT_REQUESTS_PER_PAYLOAD },
};

type Kind = keyof typeof KINDS;

/** Requests since electra, and since gloas with those of builders. */
type SomeRequests = electra.ExecutionRequests & Partial<gloas.ExecutionRequests>;

interface QueuedRequest {
  id: number;
  kind: Kind;
  /** SSZ as a hex string. */
  bytes: string;
  /** Head slot when the request was queued. Only later blocks can include the request. */
  since: Slot;
}

interface Stored {
  nextId: number;
  /** Index of the next deposit. Undefined before the first deposit. */
  nextDepositIndex?: number;
  requests: QueuedRequest[];
}

const NAME = "executionRequests";
/** More than the number of unfinalized blocks on a finalizing chain. */
const MAX_CACHED_BLOCKS = 1024;

/** Queues execution requests for upcoming payloads. */
export interface ExecutionRequestSink {
  addWithdrawal(request: electra.WithdrawalRequest): Promise<void>;
  addConsolidation(request: electra.ConsolidationRequest): Promise<void>;
  addBuilderDeposit(request: gloas.BuilderDepositRequest): Promise<void>;
  addBuilderExit(request: gloas.BuilderExitRequest): Promise<void>;
  /**
   * Returns the deposits with their indices, which start at `firstIndex` unless the sink has already numbered deposits.
   */
  addDeposits(deposits: readonly phase0.DepositData[], firstIndex: number): Promise<electra.DepositRequest[]>;
  /** Returns the deposits that the registry does not contain yet. */
  pendingDeposits(): Promise<phase0.DepositData[]>;
}

/**
 * Persistent queue of execution requests for the built-in execution engine, which has no transactions to derive
 * requests from. A request stays queued until a block that includes it is final, so every branch includes the request
 * once.
 */
export class ExecutionRequestQueue implements ExecutionRequestSink {
  readonly #chain: BeaconChain;
  readonly #db: BeaconDb;
  readonly #changes = new SerialQueue();
  /** Ids of the requests included by a block or its ancestors. */
  readonly #includedAfter = new LruMap<RootHex, ReadonlySet<number>>(MAX_CACHED_BLOCKS);

  constructor(chain: BeaconChain, db: BeaconDb) {
    this.#chain = chain;
    this.#db = db;
  }

  addWithdrawal(request: electra.WithdrawalRequest): Promise<void> {
    return this.#add("withdrawals", [ssz.electra.WithdrawalRequest.serialize(request)]);
  }

  addConsolidation(request: electra.ConsolidationRequest): Promise<void> {
    return this.#add("consolidations", [ssz.electra.ConsolidationRequest.serialize(request)]);
  }

  addBuilderDeposit(request: gloas.BuilderDepositRequest): Promise<void> {
    return this.#add("builderDeposits", [ssz.gloas.BuilderDepositRequest.serialize(request)]);
  }

  addBuilderExit(request: gloas.BuilderExitRequest): Promise<void> {
    return this.#add("builderExits", [ssz.gloas.BuilderExitRequest.serialize(request)]);
  }

  /** Assigns deposit indices, which start at `firstIndex` for the first deposits, and queues the requests. */
  async addDeposits(
    deposits: readonly Omit<electra.DepositRequest, "index">[],
    firstIndex: number,
  ): Promise<electra.DepositRequest[]> {
    return this.#changes.run(async () => {
      const stored = await this.#read();
      const first = stored.nextDepositIndex ?? firstIndex;
      const requests = deposits.map((deposit, n) => ({ ...deposit, index: BigInt(first + n) }));
      const bytes = requests.map((request) => ssz.electra.DepositRequest.serialize(request));
      await this.#write({ ...this.#with(stored, "deposits", bytes), nextDepositIndex: first + deposits.length });
      return requests;
    });
  }

  /** Returns the deposits not yet included in a final block. */
  async pendingDeposits(): Promise<electra.DepositRequest[]> {
    const { requests } = await this.#read();
    return requests
      .filter(({ kind }) => kind === "deposits")
      .map(({ bytes }) => ssz.electra.DepositRequest.deserialize(fromHex(bytes)));
  }

  /** Clears the cache. Required after a revert, which also resets the ids of future requests. */
  forgetBlocks(): void {
    this.#includedAfter.clear();
  }

  /**
   * Selects the requests for a payload on the given payload, in a block on the given parent, within the limits of a
   * payload. Requests in payloads that were withheld are selected again.
   */
  async selectFor(parentRoot: RootHex, parentHash?: RootHex): Promise<SomeRequests> {
    const { requests } = await this.#read();
    if (requests.length === 0) return ssz.electra.ExecutionRequests.defaultValue();
    const applied = await this.#includedUpTo(parentRoot, requests);
    const included = parentHash ? await this.#includedWithPayload(parentRoot, parentHash, requests, applied) : applied;
    await this.#dropFinal();
    const pending = requests.filter(({ id }) => !included.has(id));
    const next = <K extends Kind>(selected: K) =>
      pending
        .filter(({ kind }) => kind === selected)
        .slice(0, KINDS[selected].limit)
        .map(({ bytes }) => fromHex(bytes));
    const builderDeposits = next("builderDeposits").map((bytes) => ssz.gloas.BuilderDepositRequest.deserialize(bytes));
    const builderExits = next("builderExits").map((bytes) => ssz.gloas.BuilderExitRequest.deserialize(bytes));
    return {
      // Requests from before gloas do not have these lists.
      ...(builderDeposits.length > 0 && { builderDeposits }),
      ...(builderExits.length > 0 && { builderExits }),
      deposits: next("deposits").map((bytes) => ssz.electra.DepositRequest.deserialize(bytes)),
      withdrawals: next("withdrawals").map((bytes) => ssz.electra.WithdrawalRequest.deserialize(bytes)),
      consolidations: next("consolidations").map((bytes) => ssz.electra.ConsolidationRequest.deserialize(bytes)),
    };
  }

  /**
   * Returns the ids of the requests included up to a block. Reads the blocks since the oldest request, unless they are
   * cached.
   */
  async #includedUpTo(root: RootHex, requests: readonly QueuedRequest[]): Promise<ReadonlySet<number>> {
    const oldest = Math.min(...requests.map(({ since }) => since));
    const unknown: { root: RootHex; signed: SignedBeaconBlock }[] = [];
    let at = root;
    let known = this.#includedAfter.get(at);
    while (!known) {
      const signed = await this.#chain.blocks.signedByRoot(at);
      if (!signed || signed.message.slot <= oldest) break;
      unknown.push({ root: at, signed });
      at = toRootHex(signed.message.parentRoot);
      known = this.#includedAfter.get(at);
    }
    let included = known ?? new Set();
    for (const { root, signed } of unknown.reverse()) {
      included = await this.#includedWith(signed, requests, included);
      this.#includedAfter.set(root, included);
    }
    return included;
  }

  /** Since gloas, a block includes the requests in its parent's payload. */
  async #includedWith(
    { message: { slot, parentRoot, body } }: SignedBeaconBlock,
    requests: readonly QueuedRequest[],
    before: ReadonlySet<number>,
  ): Promise<ReadonlySet<number>> {
    const fork = this.#chain.config.getForkName(slot);
    if (!isForkPostElectra(fork)) return before;
    if (!isForkPostGloas(fork)) {
      const { executionRequests } = body as electra.BeaconBlockBody;
      return including(executionRequests, { requests, before, madeAt: slot });
    }
    const { parentExecutionRequests } = body as gloas.BeaconBlockBody;
    const parent = await this.#chain.blocks.link(toRootHex(parentRoot));
    return including(parentExecutionRequests, { requests, before, madeAt: parent?.slot ?? slot });
  }

  /** Adds the requests in the parent's own payload if the next payload is built on it. */
  async #includedWithPayload(
    parentRoot: RootHex,
    parentHash: RootHex,
    requests: readonly QueuedRequest[],
    before: ReadonlySet<number>,
  ): Promise<ReadonlySet<number>> {
    const envelope = await this.#chain.payloadStore.get(parentRoot);
    if (!envelope || toRootHex(envelope.message.payload.blockHash) !== parentHash) return before;
    const { executionRequests, payload } = envelope.message;
    return including(executionRequests, { requests, before, madeAt: payload.slotNumber });
  }

  async #dropFinal(): Promise<void> {
    const final = this.#includedAfter.get(this.#chain.forkChoice.finalized.root);
    if (!final || final.size === 0) return;
    await this.#changes.run(async () => {
      const stored = await this.#read();
      const requests = stored.requests.filter(({ id }) => !final.has(id));
      if (requests.length < stored.requests.length) await this.#write({ ...stored, requests });
    });
  }

  #add(kind: Kind, bytes: readonly Uint8Array[]): Promise<void> {
    return this.#changes.run(async () => this.#write(this.#with(await this.#read(), kind, bytes)));
  }

  #with(stored: Stored, kind: Kind, added: readonly Uint8Array[]): Stored {
    const since = this.#chain.head.slot;
    const requests = added.map((bytes, n) => ({ id: stored.nextId + n, kind, bytes: toHex(bytes), since }));
    return { ...stored, nextId: stored.nextId + added.length, requests: [...stored.requests, ...requests] };
  }

  async #read(): Promise<Stored> {
    const bytes = await this.#db.meta.getCustom(NAME);
    return bytes === null ? { nextId: 0, requests: [] } : (JSON.parse(new TextDecoder().decode(bytes)) as Stored);
  }

  async #write(stored: Stored): Promise<void> {
    const batch = this.#db.batch();
    batch.meta.putCustom(NAME, new TextEncoder().encode(JSON.stringify(stored)));
    await batch.write();
  }
}

/** Adds the ids of queued requests that a payload of the slot `madeAt` contains. */
function including(
  requestsOfPayload: SomeRequests,
  { requests, before, madeAt }: { requests: readonly QueuedRequest[]; before: ReadonlySet<number>; madeAt: Slot },
): ReadonlySet<number> {
  const included = new Set(before);
  for (const kind of Object.keys(KINDS) as Kind[]) {
    for (const bytes of serialized(requestsOfPayload, kind)) {
      const found = requests.find(
        (each) => each.kind === kind && each.bytes === bytes && each.since < madeAt && !included.has(each.id),
      );
      if (found) included.add(found.id);
    }
  }
  return included;
}

function serialized(requests: SomeRequests, kind: Kind): string[] {
  const { deposits, withdrawals, consolidations, builderDeposits = [], builderExits = [] } = requests;
  if (kind === "deposits") return deposits.map((each) => toHex(KINDS.deposits.type.serialize(each)));
  if (kind === "withdrawals") return withdrawals.map((each) => toHex(KINDS.withdrawals.type.serialize(each)));
  if (kind === "consolidations") return consolidations.map((each) => toHex(KINDS.consolidations.type.serialize(each)));
  if (kind === "builderExits") return builderExits.map((each) => toHex(KINDS.builderExits.type.serialize(each)));
  return builderDeposits.map((each) => toHex(KINDS.builderDeposits.type.serialize(each)));
}
