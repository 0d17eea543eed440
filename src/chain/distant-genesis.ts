import type { BeaconConfig } from "@lodestar/config";
import type { BeaconStateAllForks, CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { genesisBlock, latestBlockHeader } from "./anchor.ts";
import type { Pubkeys } from "./pubkeys.ts";
import { withCaches } from "./states/cached-state.ts";

/** Reads the genesis state of the chain's network; null when it cannot be had. */
export type ReadGenesisState = () => Promise<BeaconStateAllForks | null>;

interface GenesisFacts {
  root: RootHex;
  stateRoot: RootHex;
  block: SignedBeaconBlock;
}

/**
 * The genesis of a chain that was started from a later state, which lies before the history of this node. It is read when
 * somebody first asks; the block and the roots stay, the state is read again when it is wanted again.
 */
export class DistantGenesis {
  readonly #config: BeaconConfig;
  readonly #pubkeyCache: Pubkeys;
  readonly #read: ReadGenesisState;
  #facts: Promise<GenesisFacts | null> | undefined;

  constructor(parts: { config: BeaconConfig; pubkeyCache: Pubkeys; read: ReadGenesisState }) {
    this.#config = parts.config;
    this.#pubkeyCache = parts.pubkeyCache;
    this.#read = parts.read;
  }

  facts(): Promise<GenesisFacts | null> {
    this.#facts ??= this.#readFacts();
    return this.#facts;
  }

  async state(): Promise<CachedBeaconStateAllForks | null> {
    const state = await this.#read();
    return state && withCaches(state, { config: this.#config, pubkeyCache: this.#pubkeyCache });
  }

  async #readFacts(): Promise<GenesisFacts | null> {
    const state = await this.#read();
    if (!state) return null;
    const header = latestBlockHeader(state);
    return {
      root: toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header)),
      stateRoot: toRootHex(header.stateRoot),
      block: genesisBlock(this.#config, header),
    };
  }
}
