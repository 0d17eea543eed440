import { ForkName } from "@lodestar/params";
import type { EvmServices } from "../../../../src/evm/engine/evm-engine.ts";
import { EvmEngine } from "../../../../src/evm/engine/evm-engine.ts";
import { LocalEthService } from "../../../../src/evm/eth/local-eth-service.ts";
import type { ExecutedBlock } from "../../../../src/evm/execution/block.ts";
import { toHex } from "../../../../src/evm/execution/payload.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";
import { optionsOf, SLOT_SECONDS, TestChain } from "../evm.ts";

export const FORK = ForkName.fulu;

/** Service over an engine in this thread, with a chain that grows block by block. */
export async function openEth(services?: EvmServices, options = optionsOf("osaka")) {
  const chain = await TestChain.open(options);
  const { rules, genesis } = chain;
  const logger = createRecordingLogger();
  const engine = new EvmEngine({ rules, genesis, secondsPerSlot: SLOT_SECONDS, logger });
  if (services) engine.connect(services);
  const service = new LocalEthService(engine);
  const hashes = { safe: toHex(genesis.hash), finalized: toHex(genesis.hash) };
  /** Makes a block the latest one. */
  const setHead = async (block: ExecutedBlock, finalized = hashes.finalized) => {
    hashes.finalized = finalized;
    engine.blocks.add(block);
    await engine.forkchoiceUpdated(FORK, {
      headBlockHash: toHex(block.hash),
      safeBlockHash: hashes.safe,
      finalizedBlockHash: finalized,
    });
    await service.setTags({ ...hashes, latest: toHex(block.hash) });
  };
  /** Builds a block from the pool on the head, or on another block, and makes it the latest one. */
  const mine = async (parent: ExecutedBlock = engine.head) => {
    const block = await engine.buildPending(parent);
    await setHead(block);
    return block;
  };
  return { chain, engine, service, mine, setHead, logger };
}
