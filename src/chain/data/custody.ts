import type { BeaconConfig } from "@lodestar/config";
import { columnsOfGroups, custodyGroupsOf } from "../../data/custody.ts";

export interface CustodyOptions {
  /** 32-byte discovery node ID. Omitted if the node has no network, in which case it stores all columns. */
  nodeId?: Uint8Array;
  /** Minimum custody group count; defaults to CUSTODY_REQUIREMENT. */
  groupCount?: number;
}

type CustodyListener = (groupCount: number) => void;

/** Columns that the node stores and serves, and columns that it samples before import (fulu/das-core.md). */
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

  /** Columns stored and served, in ascending order. */
  get columns(): readonly number[] {
    return this.#columns;
  }

  /** Columns required for import: all stored columns, and at least SAMPLES_PER_SLOT groups. */
  get sampled(): readonly number[] {
    return this.#sampled;
  }

  /**
   * Raises the custody group count. The count never decreases, because it has been advertised (fulu/validator.md,
   * Validator custody).
   */
  raiseTo(groupCount: number): void {
    const raised = Math.min(groupCount, this.#config.NUMBER_OF_CUSTODY_GROUPS);
    if (raised <= this.#groupCount) return;
    this.#groupCount = raised;
    this.#assign();
    for (const listener of this.#listeners) listener(raised);
  }

  /** Returns an unsubscribe function. */
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
