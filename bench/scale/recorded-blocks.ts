import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Slot } from "@lodestar/types";
import { configYaml } from "../../src/dev/config-yaml.ts";
import { Child } from "../support/child.ts";
import { copyWithGenesisTime, type KeptState } from "./kept-state.ts";
import { scaleConfig } from "./state.ts";

export interface RecordOrder {
  validators: number;
  stateFile: string;
  keysFile: string;
  /** Slots with a block. */
  slots: readonly Slot[];
  slotSeconds: number;
  /** Output directory. */
  directory: string;
}

export interface Recorded {
  /** The library's time to advance the state to each slot. */
  slotsMs: number[];
}

export const blockFile = (directory: string, slot: Slot) => join(directory, `${slot}.ssz`);

interface Plan {
  /** Current slot. */
  now: Slot;
  /** Slots with a block. */
  slots: readonly Slot[];
  slotSeconds: number;
}

/** Chain recorded ahead of time: its initial state, and blocks to publish. */
export class RecordedBlocks {
  readonly stateFile: string;
  /** Network directory. */
  readonly network: string;
  readonly slots: readonly Slot[];
  readonly #kept: KeptState;
  readonly #slotSeconds: number;
  readonly #genesisTime: number;
  readonly #directory: string;
  /** The library's time to advance the state to each slot. */
  slotsMs: readonly number[] = [];

  /** Sets the genesis time of the state. @param directory for all files */
  constructor(kept: KeptState, { now, slots, slotSeconds }: Plan, directory: string) {
    this.#kept = kept;
    this.slots = slots;
    this.#slotSeconds = slotSeconds;
    this.#genesisTime = Math.floor(Date.now() / 1000) - now * slotSeconds;
    this.stateFile = copyWithGenesisTime(kept, this.#genesisTime, directory);
    this.network = join(directory, "network");
    this.#directory = join(directory, "blocks");
    for (const made of [this.network, this.#directory]) mkdirSync(made);
    writeFileSync(join(this.network, "config.yaml"), configYaml(scaleConfig(slotSeconds)));
  }

  /** Builds the blocks in a separate process, which frees its memory. */
  async record(): Promise<void> {
    const { child } = await Child.start("recorder-process", import.meta.url, "mainnet");
    try {
      const { slots, stateFile } = this;
      const placed = { slots, stateFile, slotSeconds: this.#slotSeconds, directory: this.#directory };
      const order: RecordOrder = { ...this.#kept, ...placed };
      this.slotsMs = (await child.ask<Recorded>(order)).slotsMs;
    } finally {
      await child.end();
    }
  }

  /** Unix time of the start of the slot in milliseconds. */
  startOf(slot: Slot): number {
    return (this.#genesisTime + slot * this.#slotSeconds) * 1000;
  }

  /** Resolves when the node has imported the block. */
  async publish(slot: Slot, restUrl: string): Promise<void> {
    const response = await fetch(`${restUrl}/eth/v2/beacon/blocks`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream", "Eth-Consensus-Version": "fulu" },
      body: readFileSync(blockFile(this.#directory, slot)),
    });
    if (response.status === 200) return;
    throw new Error(`Publishing the block of slot ${slot} failed with ${response.status}: ${await response.text()}`);
  }
}
