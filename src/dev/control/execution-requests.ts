import {
  isForkPostElectra,
  MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD,
  MAX_DEPOSIT_REQUESTS_PER_PAYLOAD,
  MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD,
} from "@lodestar/params";
import { type electra, type RootHex, type SignedBeaconBlock, type Slot, ssz } from "@lodestar/types";
import { fromHex, toHex, toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { LruMap } from "../../chain/lru-map.ts";
import { SerialQueue } from "../../chain/serial-queue.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";

const KINDS = {
  deposits: { type: ssz.electra.DepositRequest, most: MAX_DEPOSIT_REQUESTS_PER_PAYLOAD },
  withdrawals: { type: ssz.electra.WithdrawalRequest, most: MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD },
  consolidations: { type: ssz.electra.ConsolidationRequest, most: MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD },
};

type Kind = keyof typeof KINDS;

interface QueuedRequest {
  id: number;
  kind: Kind;
  /** SSZ in hexadecimal digits. */
  bytes: string;
  /** The slot of the head when it was made: only later blocks can hold it. */
  since: Slot;
}

interface Stored {
  nextId: number;
  /** The index of the next deposit; undefined before there was one. */
  nextDepositIndex?: number;
  requests: QueuedRequest[];
}

const NAME = "executionRequests";
/** More than the blocks of a chain that finalizes. */
const REMEMBERED_BLOCKS = 1024;

/**
 * The execution requests of a dev chain whose execution engine is the built-in one. Elsewhere they come from transactions. A
 * request stays until a block that holds it is final, so that each branch holds it once. All of it is in the database.
 */
export class ExecutionRequestQueue {
  readonly #chain: BeaconChain;
  readonly #db: BeaconDb;
  readonly #changes = new SerialQueue();
  /** The ids of the requests that a block or those before it hold. */
  readonly #heldAfter = new LruMap<RootHex, ReadonlySet<number>>(REMEMBERED_BLOCKS);

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

  /** Gives the deposits their indices, from `firstIndex` on if there were none before. */
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

  /** The deposits that no final block holds yet. */
  async waitingDeposits(): Promise<electra.DepositRequest[]> {
    const { requests } = await this.#read();
    return requests
      .filter(({ kind }) => kind === "deposits")
      .map(({ bytes }) => ssz.electra.DepositRequest.deserialize(fromHex(bytes)));
  }

  /** What the next block on that one is to hold. */
  async after(parentRoot: RootHex): Promise<electra.ExecutionRequests> {
    const { requests } = await this.#read();
    if (requests.length === 0) return ssz.electra.ExecutionRequests.defaultValue();
    const held = await this.#heldBy(parentRoot, requests);
    await this.#dropFinal();
    const waiting = requests.filter(({ id }) => !held.has(id));
    const next = <K extends Kind>(wanted: K) =>
      waiting
        .filter(({ kind }) => kind === wanted)
        .slice(0, KINDS[wanted].most)
        .map(({ bytes }) => fromHex(bytes));
    return {
      deposits: next("deposits").map((bytes) => ssz.electra.DepositRequest.deserialize(bytes)),
      withdrawals: next("withdrawals").map((bytes) => ssz.electra.WithdrawalRequest.deserialize(bytes)),
      consolidations: next("consolidations").map((bytes) => ssz.electra.ConsolidationRequest.deserialize(bytes)),
    };
  }

  /** Looks at the blocks since the oldest request, as far as they are not known yet. */
  async #heldBy(root: RootHex, requests: readonly QueuedRequest[]): Promise<ReadonlySet<number>> {
    const oldest = Math.min(...requests.map(({ since }) => since));
    const unknown: { root: RootHex; signed: SignedBeaconBlock }[] = [];
    let at = root;
    let known = this.#heldAfter.get(at);
    while (!known) {
      const signed = await this.#chain.blocks.signedByRoot(at);
      if (!signed || signed.message.slot <= oldest) break;
      unknown.push({ root: at, signed });
      at = toRootHex(signed.message.parentRoot);
      known = this.#heldAfter.get(at);
    }
    let held = known ?? new Set();
    for (const { root, signed } of unknown.reverse()) {
      held = this.#heldWith(signed, requests, held);
      this.#heldAfter.set(root, held);
    }
    return held;
  }

  #heldWith(
    { message: { slot, body } }: SignedBeaconBlock,
    requests: readonly QueuedRequest[],
    before: ReadonlySet<number>,
  ): ReadonlySet<number> {
    if (!isForkPostElectra(this.#chain.config.getForkName(slot))) return before;
    const held = new Set(before);
    const { executionRequests } = body as electra.BeaconBlockBody;
    for (const kind of Object.keys(KINDS) as Kind[]) {
      for (const bytes of serialized(executionRequests, kind)) {
        const found = requests.find(
          (each) => each.kind === kind && each.bytes === bytes && each.since < slot && !held.has(each.id),
        );
        if (found) held.add(found.id);
      }
    }
    return held;
  }

  async #dropFinal(): Promise<void> {
    const final = this.#heldAfter.get(this.#chain.forkChoice.finalized.root);
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

function serialized({ deposits, withdrawals, consolidations }: electra.ExecutionRequests, kind: Kind): string[] {
  if (kind === "deposits") return deposits.map((each) => toHex(KINDS.deposits.type.serialize(each)));
  if (kind === "withdrawals") return withdrawals.map((each) => toHex(KINDS.withdrawals.type.serialize(each)));
  return consolidations.map((each) => toHex(KINDS.consolidations.type.serialize(each)));
}
