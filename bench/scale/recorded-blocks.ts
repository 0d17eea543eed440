import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Slot } from "@lodestar/types";
import { configYaml } from "../../src/dev/config-yaml.ts";
import { Child } from "../support/child.ts";
import { type KeptState, placedInTime } from "./kept-state.ts";
import { scaleConfig } from "./state.ts";

export interface RecordOrder {
  validators: number;
  stateFile: string;
  keysFile: string;
  /** Those that get a block. */
  slots: readonly Slot[];
  slotSeconds: number;
  /** Where the blocks are left. */
  directory: string;
}

export interface Recorded {
  /** What the library needed to get to each slot, in the order of the slots. */
  slotsMs: number[];
}

export const blockFile = (directory: string, slot: Slot) => join(directory, `${slot}.ssz`);

/** When a chain is, and what is recorded of it. */
interface Plan {
  /** The slot that it is now. */
  now: Slot;
  /** Those that get a block. */
  slots: readonly Slot[];
  slotSeconds: number;
}

/** A chain that is made ahead of its time: the state it begins with, and blocks to be published. */
export class RecordedBlocks {
  readonly stateFile: string;
  /** The directory that describes its network. */
  readonly network: string;
  readonly slots: readonly Slot[];
  readonly #kept: KeptState;
  readonly #slotSeconds: number;
  readonly #genesisTime: number;
  readonly #directory: string;
  /** What the library needed to get to each of the slots, in their order. */
  slotsMs: readonly number[] = [];

  /** Puts the state in its place in time. @param directory where the files are left */
  constructor(kept: KeptState, { now, slots, slotSeconds }: Plan, directory: string) {
    this.#kept = kept;
    this.slots = slots;
    this.#slotSeconds = slotSeconds;
    this.#genesisTime = Math.floor(Date.now() / 1000) - now * slotSeconds;
    this.stateFile = placedInTime(kept, this.#genesisTime, directory);
    this.network = join(directory, "network");
    this.#directory = join(directory, "blocks");
    for (const made of [this.network, this.#directory]) mkdirSync(made);
    writeFileSync(join(this.network, "config.yaml"), configYaml(scaleConfig(slotSeconds)));
  }

  /** Makes the blocks, in a process of its own, whose memory is free afterwards. */
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

  /** In the time of day, in milliseconds. */
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
    throw new Error(`The block of slot ${slot} was answered with ${response.status}: ${await response.text()}`);
  }
}
