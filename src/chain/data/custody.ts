import type { BeaconConfig } from "@lodestar/config";
import { columnsOfGroups, custodyGroupsOf } from "../../data/custody.ts";

export interface CustodyOptions {
  /** The id by which discovery knows the node, 32 bytes; left out by a node that speaks to no other, and keeps every column. */
  nodeId?: Uint8Array;
  /** Of the groups that it keeps at least; those that the specification asks of every node by default. */
  groupCount?: number;
}

type CustodyListener = (groupCount: number) => void;

/** Which columns the node keeps and serves, and which it has to see before it imports a block (fulu/das-core.md). */
export class Custody {
  readonly #config: BeaconConfig;
  readonly #nodeId: Uint8Array | undefined;
  readonly #listeners = new Set<CustodyListener>();
  #groupCount: number;
  #columns: readonly number[] = [];
  #sampled: readonly number[] = [];

  constructor(config: BeaconConfig, { nodeId, groupCount }: CustodyOptions = {}) {
    this.#config = config;
    this.#nodeId = nodeId;
    this.#groupCount = nodeId ? (groupCount ?? config.CUSTODY_REQUIREMENT) : config.NUMBER_OF_CUSTODY_GROUPS;
    this.#assign();
  }

  get groupCount(): number {
    return this.#groupCount;
  }

  /** Those that are kept and served, in ascending order. */
  get columns(): readonly number[] {
    return this.#columns;
  }

  /** Those without which no block is imported: all that are kept, and never fewer than SAMPLES_PER_SLOT groups. */
  get sampled(): readonly number[] {
    return this.#sampled;
  }

  /** The number never falls: what was once told to others is kept (fulu/validator.md, Validator custody). */
  raiseTo(groupCount: number): void {
    const raised = Math.min(groupCount, this.#config.NUMBER_OF_CUSTODY_GROUPS);
    if (raised <= this.#groupCount) return;
    this.#groupCount = raised;
    this.#assign();
    for (const listener of this.#listeners) listener(raised);
  }

  /** Returns the function that ends it. */
  onRaised(listener: CustodyListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #assign(): void {
    this.#columns = this.#columnsOf(this.#groupCount);
    this.#sampled = this.#columnsOf(Math.max(this.#groupCount, this.#config.SAMPLES_PER_SLOT));
  }

  #columnsOf(groupCount: number): number[] {
    return columnsOfGroups(this.#config, custodyGroupsOf(this.#config, this.#nodeId ?? new Uint8Array(32), groupCount));
  }
}
