import type { ForkName } from "@lodestar/params";
import type { BeaconStateAllForks, CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type SignedBeaconBlock, sszTypesFor } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { type BlsVerifier, createBlsVerifier } from "../../../../src/bls/verifier.ts";
import { verifyBlock } from "../../../../src/chain/import/verify-block.ts";
import { Pubkeys } from "../../../../src/chain/pubkeys/pubkeys.ts";
import { advanceToSlot } from "../../../../src/chain/states/advance.ts";
import { withCaches } from "../../../../src/chain/states/cached-state.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";
import type { VectorCase } from "../vector-case.ts";
import { isRefusal, VectorChain } from "../vector-chain.ts";
import { forkBefore, vectorConfig } from "../vector-config.ts";
import { expectPost, forkOf, readState } from "./vector-states.ts";

interface BlocksMeta {
  blocks_count: number;
  /** Cases of `transition`: epoch of the upgrade, and index of the last block before it. */
  fork_epoch?: number;
  fork_block?: number;
}

/** Imports blocks one after the other. */
interface BlockChain {
  import(signed: SignedBeaconBlock): Promise<void>;
  /** State after the last block. */
  state(): Promise<BeaconStateAllForks>;
  close(): Promise<void>;
}

/**
 * Runs a case that consists of blocks: those of `sanity/blocks`, `finality`, `random` and `transition`. A case without
 * a state after it has a block that is invalid.
 */
export async function runBlocks(vector: VectorCase): Promise<void> {
  const { blocks_count, fork_epoch = 0, fork_block = -1 } = vector.yaml<BlocksMeta>("meta");
  const fork = forkOf(vector);
  const before = vector.path.runner === "transition" ? forkBefore(fork) : fork;
  const chain = await openChain(vector, before, fork_epoch);
  try {
    for (let index = 0; index < blocks_count; index++) {
      const types = sszTypesFor(index <= fork_block ? before : fork);
      const signed: SignedBeaconBlock = vector.ssz(`blocks_${index}`, types.SignedBeaconBlock);
      try {
        await chain.import(signed);
      } catch (error) {
        if (!vector.has("post") && isRefusal(error)) return;
        throw error;
      }
    }
    if (!vector.has("post")) throw new Error("The case is invalid, but its blocks were accepted.");
    expectPost(vector, await chain.state());
  } finally {
    await chain.close();
  }
}

/** Opens the chain before a case of `sanity/slots`, and advances it. */
export async function runSlots(vector: VectorCase): Promise<void> {
  const state = readState(vector, "pre");
  const config = vectorConfig(vector, state.genesisValidatorsRoot);
  const pubkeyCache = new Pubkeys({ logger: createRecordingLogger() });
  try {
    const cached = await withCaches(state, { config, pubkeyCache });
    expectPost(vector, await advanceToSlot(cached, state.slot + vector.yaml<number>("slots")));
  } finally {
    await pubkeyCache.close();
  }
}

/** Forks whose blocks go through the import of the chain. The others go through the verification of its import. */
const IMPORTED_FORKS: ReadonlySet<ForkName> = new Set(["fulu"] as ForkName[]);

async function openChain(vector: VectorCase, fork: ForkName, forkEpoch: number): Promise<BlockChain> {
  const state = readState(vector, "pre", fork);
  // The cases have blocks with blobs, but no columns, so that no block may need them any more.
  const changes = { MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS: -1 };
  const config = vectorConfig(vector, state.genesisValidatorsRoot, { forkEpoch, changes });
  if (IMPORTED_FORKS.has(forkOf(vector))) return ImportingChain.open({ config, state });
  return VerifyingChain.open({ config, state });
}

type Anchor = Parameters<typeof VectorChain.open>[0];

/** The whole chain. */
class ImportingChain implements BlockChain {
  readonly #vectorChain: VectorChain;
  #root: string;

  static async open(anchor: Anchor): Promise<ImportingChain> {
    return new ImportingChain(await VectorChain.open(anchor));
  }

  private constructor(vectorChain: VectorChain) {
    this.#vectorChain = vectorChain;
    this.#root = vectorChain.chain.head.root;
  }

  async import(signed: SignedBeaconBlock): Promise<void> {
    this.#root = (await this.#vectorChain.importInSlot(signed)).root;
  }

  state(): Promise<BeaconStateAllForks> {
    return this.#vectorChain.chain.states.afterBlock(this.#root);
  }

  close(): Promise<void> {
    return this.#vectorChain.close();
  }
}

/** Verification of blocks with their signatures, as in the import, without fork choice and database. */
class VerifyingChain implements BlockChain {
  readonly #config: Anchor["config"];
  readonly #pubkeys: Pubkeys;
  readonly #bls: BlsVerifier;
  #state: CachedBeaconStateAllForks;

  static async open({ config, state }: Anchor): Promise<VerifyingChain> {
    const pubkeyCache = new Pubkeys({ logger: createRecordingLogger() });
    return new VerifyingChain(config, pubkeyCache, await withCaches(state, { config, pubkeyCache }));
  }

  private constructor(config: Anchor["config"], pubkeys: Pubkeys, state: CachedBeaconStateAllForks) {
    this.#config = config;
    this.#pubkeys = pubkeys;
    this.#bls = createBlsVerifier({ pubkeyCache: pubkeys });
    this.#state = state;
  }

  async import(signed: SignedBeaconBlock): Promise<void> {
    const { message } = signed;
    const root = toRootHex(this.#config.getForkTypes(message.slot).BeaconBlock.hashTreeRoot(message));
    const { state } = await verifyBlock(
      { signed, root, arrivedAt: 0 },
      await advanceToSlot(this.#state, message.slot),
      {
        config: this.#config,
        bls: this.#bls,
        verifyPayload: async () => ({ status: "pre-merge" }),
      },
    );
    this.#state = state;
  }

  async state(): Promise<BeaconStateAllForks> {
    return this.#state;
  }

  async close(): Promise<void> {
    await this.#bls.close();
    await this.#pubkeys.close();
  }
}
