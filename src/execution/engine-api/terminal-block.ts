import type { ChainConfig } from "@lodestar/config";
import type { RootHex } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { ParentPayload, TerminalBlockVerdict } from "../engine.ts";
import type { ExecutionBlock } from "./execution-block.ts";

/** Reads blocks from a client's chain. */
export interface BlockReader {
  byHash(hash: RootHex): Promise<ExecutionBlock | null>;
  byNumber(number: number | "latest"): Promise<ExecutionBlock | null>;
}

const ZERO_HASH: RootHex = toRootHex(new Uint8Array(32));

/** Clients build no proof-of-work blocks on the terminal block, so it is at or near the head. */
const MAX_STEPS = 128;

type TerminalConfig = Pick<ChainConfig, "TERMINAL_BLOCK_HASH" | "TERMINAL_TOTAL_DIFFICULTY">;

/**
 * Returns the configured terminal block, or else the block that reached the terminal total difficulty
 * (bellatrix/validator.md, get_terminal_pow_block).
 */
export async function findTerminalBlock(config: TerminalConfig, blocks: BlockReader): Promise<ParentPayload | null> {
  const configuredHash = toRootHex(config.TERMINAL_BLOCK_HASH);
  if (configuredHash !== ZERO_HASH) return asParent(await blocks.byHash(configuredHash));
  if (config.TERMINAL_TOTAL_DIFFICULTY === 0n) return asParent(await blocks.byNumber(0));
  let block = await blocks.byNumber("latest");
  for (let steps = 0; block !== null && steps < MAX_STEPS; steps++) {
    if (block.totalDifficulty === null || block.totalDifficulty < config.TERMINAL_TOTAL_DIFFICULTY) return null;
    if (reachesDifficulty(block, block.totalDifficulty, config)) return asParent(block);
    block = await blocks.byHash(block.parentHash);
  }
  return null;
}

/** bellatrix/fork-choice.md, validate_merge_block. */
export async function judgeTerminalBlock(
  hash: RootHex,
  config: TerminalConfig,
  blocks: BlockReader,
): Promise<TerminalBlockVerdict> {
  const configuredHash = toRootHex(config.TERMINAL_BLOCK_HASH);
  if (configuredHash !== ZERO_HASH) return verdict(hash === configuredHash);
  const block = await blocks.byHash(hash);
  if (block === null) return "unknown";
  if (config.TERMINAL_TOTAL_DIFFICULTY === 0n) return verdict(isGenesis(block));
  if (block.totalDifficulty !== null) return verdict(reachesDifficulty(block, block.totalDifficulty, config));
  return judgeByChild(block, blocks);
}

/** `is_valid_terminal_pow_block`: the block has reached the terminal difficulty, but its parent has not. */
function reachesDifficulty(
  block: ExecutionBlock,
  totalDifficulty: bigint,
  { TERMINAL_TOTAL_DIFFICULTY: terminal }: TerminalConfig,
): boolean {
  if (totalDifficulty < terminal) return false;
  return isGenesis(block) || totalDifficulty - block.difficulty < terminal;
}

/**
 * For clients that report no total difficulty, the canonical chain shows where proof of work ended: the terminal
 * block's child has zero difficulty.
 */
async function judgeByChild(block: ExecutionBlock, blocks: BlockReader): Promise<TerminalBlockVerdict> {
  if (block.difficulty === 0n) return "not-terminal";
  const child = await blocks.byNumber(block.number + 1);
  if (child === null || child.parentHash !== block.hash) return "unknown";
  return verdict(child.difficulty === 0n);
}

const isGenesis = ({ parentHash }: ExecutionBlock): boolean => parentHash === ZERO_HASH;
const verdict = (isTerminal: boolean): TerminalBlockVerdict => (isTerminal ? "terminal" : "not-terminal");

function asParent(block: ExecutionBlock | null): ParentPayload | null {
  return block && { blockHash: fromHex(block.hash), blockNumber: block.number };
}
