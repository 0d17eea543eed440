import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Slot } from "@lodestar/types";
import { Child } from "../support/child.ts";
import { type KeptState, placedInTime } from "./kept-state.ts";
import { SECONDS_PER_SLOT } from "./state.ts";

export interface RecordOrder {
  validators: number;
  stateFile: string;
  keysFile: string;
  /** Those that get a block. */
  slots: readonly Slot[];
  /** Where the blocks are left. */
  directory: string;
}

export interface Recorded {
  /** What the library needed to get to each slot, in the order of the slots. */
  slotsMs: number[];
}

export const blockFile = (directory: string, slot: Slot) => join(directory, `${slot}.ssz`);

/** A chain that was made ahead of its time: the state it begins with, and blocks to be published. */
export class RecordedBlocks {
  readonly stateFile: string;
  readonly slots: readonly Slot[];
  /** What the library needed to get to each of the slots, in their order. */
  readonly slotsMs: readonly number[];
  readonly #genesisTime: number;
  readonly #directory: string;

  /**
   * @param now the slot that it is when the recording begins
   * @param directory where the files are left
   */
  static async record(kept: KeptState, now: Slot, slots: readonly Slot[], directory: string): Promise<RecordedBlocks> {
    const genesisTime = Math.floor(Date.now() / 1000) - now * SECONDS_PER_SLOT;
    const stateFile = placedInTime(kept, genesisTime, directory);
    const blocks = join(directory, "blocks");
    mkdirSync(blocks);
    const { child } = await Child.start("recorder-process", import.meta.url, "mainnet");
    try {
      const order: RecordOrder = { ...kept, stateFile, slots, directory: blocks };
      const { slotsMs } = await child.ask<Recorded>(order);
      return new RecordedBlocks({ genesisTime, stateFile, slots, slotsMs, directory: blocks });
    } finally {
      await child.end();
    }
  }

  private constructor(recorded: {
    genesisTime: number;
    stateFile: string;
    slots: readonly Slot[];
    slotsMs: readonly number[];
    directory: string;
  }) {
    this.stateFile = recorded.stateFile;
    this.slots = recorded.slots;
    this.slotsMs = recorded.slotsMs;
    this.#genesisTime = recorded.genesisTime;
    this.#directory = recorded.directory;
  }

  /** In the time of day, in milliseconds. */
  startOf(slot: Slot): number {
    return (this.#genesisTime + slot * SECONDS_PER_SLOT) * 1000;
  }

  /** Resolves when the node has imported the block. */
  async publish(slot: Slot, restUrl: string): Promise<void> {
    const response = await fetch(`${restUrl}/eth/v2/beacon/blocks`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream", "Eth-Consensus-Version": "fulu" },
      body: readFileSync(blockFile(this.#directory, slot)),
    });
    if (response.status === 200) return;
    throw new Error(`The block of slot ${slot} was answered with ${response.status}: ${await response.text()}`);
  }
}
