import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { processSlots } from "@lodestar/state-transition";
import { expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { ChainEvents, type HeadEvent } from "../events.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import { Revision } from "../revision.ts";
import { HeadTracker } from "./head-tracker.ts";

const GENESIS_TIME = 1_700_000_000;
const ANCHOR_ROOT = `0x${"aa".repeat(32)}`;
const CHILD_ROOT = `0x${"bb".repeat(32)}`;

it("the head returns to an anchor whose state is epochs past its block", async () => {
  const chainConfig = devChainConfig({
    forks: [{ fork: "fulu", epoch: 0 }],
    slotSeconds: 6,
    genesisTime: GENESIS_TIME,
  });
  const { state: genesis } = createDevGenesis({ chainConfig, validatorCount: 8, genesisTime: GENESIS_TIME });
  const state = processSlots(genesis, 5 * SLOTS_PER_EPOCH);
  const justified = { epoch: 5, root: ANCHOR_ROOT };
  const anchor = { slot: 0, root: ANCHOR_ROOT, stateRoot: ANCHOR_ROOT, execution: { status: "valid" } };
  const child = { ...anchor, slot: 5 * SLOTS_PER_EPOCH + 1, root: CHILD_ROOT, parentRoot: ANCHOR_ROOT };
  const logger = createRecordingLogger();
  const events = new ChainEvents(logger);
  const heads: HeadEvent[] = [];
  events.on("head", (event) => heads.push(event));

  const forkChoice = {
    revision: new Revision(),
    headNode: { root: ANCHOR_ROOT, payloadStatus: "full" },
    justified,
    needsBalances: () => null,
    updateHead: () => anchor,
    commonAncestor: () => anchor,
  };
  const tracker = new HeadTracker(
    {
      forkChoice: forkChoice as unknown as ForkChoice,
      states: { afterBlock: async () => state } as never,
      payloads: { isNodeOptimistic: () => false } as never,
      events,
      logger,
    },
    child as unknown as ForkChoiceBlock,
    state,
  );
  await tracker.refresh();
  expect(tracker.head.root).toBe(ANCHOR_ROOT);
  const genesisRoot = state.epochCtx.getShufflingDecisionRoot(4);
  expect(heads).toMatchObject([
    { slot: 0, root: ANCHOR_ROOT, previousDutyDependentRoot: genesisRoot, currentDutyDependentRoot: genesisRoot },
  ]);
});
