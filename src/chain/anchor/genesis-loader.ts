import type { BeaconConfig } from "@lodestar/config";
import type { BeaconStateAllForks, CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { Pubkeys } from "../pubkeys/pubkeys.ts";
import { withCaches } from "../states/cached-state.ts";
import { genesisBlock, latestBlockHeader } from "./anchor.ts";

/** Loads the network's genesis state; null if unavailable. */
export type ReadGenesisState = () => Promise<BeaconStateAllForks | null>;

interface GenesisInfo {
  root: RootHex;
  stateRoot: RootHex;
  block: SignedBeaconBlock;
}

/**
 * Lazily loads the genesis of a chain that was started from a later state. Caches the block and the roots, but not the
 * state.
 */
export class GenesisLoader {
  readonly #config: BeaconConfig;
  readonly #pubkeyCache: Pubkeys;
  readonly #read: ReadGenesisState;
  #info: Promise<GenesisInfo | null> | undefined;

  constructor(parts: { config: BeaconConfig; pubkeyCache: Pubkeys; read: ReadGenesisState }) {
    this.#config = parts.config;
    this.#pubkeyCache = parts.pubkeyCache;
    this.#read = parts.read;
  }

  info(): Promise<GenesisInfo | null> {
    this.#info ??= this.#load();
    return this.#info;
  }

  async state(): Promise<CachedBeaconStateAllForks | null> {
    const state = await this.#read();
    return state && withCaches(state, { config: this.#config, pubkeyCache: this.#pubkeyCache });
  }

  async #load(): Promise<GenesisInfo | null> {
    const state = await this.#read();
    if (!state) return null;
    const header = latestBlockHeader(state);
    return {
      root: toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header)),
      stateRoot: toRootHex(header.stateRoot),
      block: genesisBlock(this.#config, state),
    };
  }
}
