import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect } from "vitest";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import { chainPayloads } from "../../src/dev/evm/chain-payloads.ts";
import { createEvmCrypto } from "../../src/evm/crypto.ts";
import { EvmEngine } from "../../src/evm/engine/evm-engine.ts";
import { rulesFromConsensus } from "../../src/evm/execution/forks.ts";
import { ChainRules } from "../../src/evm/execution/rules.ts";
import { createGenesis } from "../../src/evm/genesis.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";

/** Executes all canonical payloads of a chain with a second engine, which knows nothing but the genesis. */
export async function expectVerified({ chain, config }: Pick<DevChain, "chain" | "config">): Promise<EvmEngine> {
  const { genesis } = chain;
  const options = { chainId: config.DEPOSIT_CHAIN_ID, genesisTime: genesis.time, slotsPerEpoch: SLOTS_PER_EPOCH };
  const rules = new ChainRules(rulesFromConsensus(config, options), await createEvmCrypto());
  const block0 = createGenesis(rules, { timestamp: genesis.time, depositContract: config.DEPOSIT_CONTRACT_ADDRESS });
  const secondsPerSlot = config.SECONDS_PER_SLOT;
  const engine = new EvmEngine({ rules, genesis: block0, secondsPerSlot, logger: createRecordingLogger() });
  const payloads = chainPayloads(chain);
  for (let slot = 1; slot <= chain.head.slot; slot++) {
    const block = await chain.blocks.canonicalAtSlot(slot);
    if (block === null) continue;
    const { fork, payload, context } = (await payloads.read(block.root))!;
    expect(await engine.notifyNewPayload(fork, payload, context), `slot ${slot}`).toEqual({ status: "valid" });
  }
  return engine;
}
