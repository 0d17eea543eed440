import { expect, it } from "vitest";
import { ScriptedGateway } from "../../../test/support/gateway/calls/scripted-gateway.ts";

const ZERO_ROOT = rootOf(0);

function rootOf(byte: number): string {
  return `0x${byte.toString(16).padStart(2, "0").repeat(32)}`;
}

function headerOf(slot: number, root = rootOf(slot % 256)) {
  return { root, header: { message: { slot: String(slot) } } };
}

interface Told {
  /** Epochs and roots in the state of the head. */
  finalized: [epoch: number, root: string];
  previousJustified: [epoch: number, root: string];
  justified: [epoch: number, root: string];
  /** By fork choice. Undefined if the upstream does not have the block. */
  finalizedBlock?: ReturnType<typeof headerOf>;
}

/** Returns the chain head that a gateway composes for an upstream with head block 279. */
function chainHeadOf({ finalized, previousJustified, justified, finalizedBlock }: Told): Promise<unknown> {
  const checkpoint = ([epoch, root]: [number, string]) => ({ epoch: String(epoch), root });
  const answers: Record<string, unknown> = {
    "/eth/v1/beacon/headers/head": headerOf(279),
    "/eth/v1/beacon/headers/finalized": finalizedBlock,
    "/eth/v1/beacon/states/head/finality_checkpoints": {
      previous_justified: checkpoint(previousJustified),
      current_justified: checkpoint(justified),
      finalized: checkpoint(finalized),
    },
  };
  const gateway = new ScriptedGateway(({ request: { url } }) =>
    answers[url] === undefined
      ? { status: 404, body: { code: 404, message: "There is no such block." } }
      : { body: { data: answers[url] } },
  );
  return gateway.result("getChainHead");
}

it.each<[string, Told, finalizedSlot: string, finalizedRoot: string]>([
  [
    "what fork choice holds for final before the first block of an epoch",
    {
      finalized: [32, rootOf(1)],
      previousJustified: [33, rootOf(2)],
      justified: [33, rootOf(2)],
      finalizedBlock: headerOf(264, rootOf(2)),
    },
    "264",
    rootOf(2),
  ],
  [
    "a checkpoint whose first slot is empty by its epoch",
    {
      finalized: [32, rootOf(1)],
      previousJustified: [33, rootOf(2)],
      justified: [34, rootOf(3)],
      finalizedBlock: headerOf(261, rootOf(2)),
    },
    "264",
    rootOf(2),
  ],
  [
    "the oldest of the checkpoints that one block is of",
    {
      finalized: [32, rootOf(1)],
      previousJustified: [33, rootOf(1)],
      justified: [34, rootOf(1)],
      finalizedBlock: headerOf(256, rootOf(1)),
    },
    "256",
    rootOf(1),
  ],
  [
    "nothing as final while only genesis is",
    {
      finalized: [0, ZERO_ROOT],
      previousJustified: [0, ZERO_ROOT],
      justified: [1, rootOf(9)],
      finalizedBlock: headerOf(0, rootOf(9)),
    },
    "0",
    ZERO_ROOT,
  ],
  [
    "what is final by the head's state where an upstream lacks the block",
    { finalized: [32, rootOf(1)], previousJustified: [33, rootOf(2)], justified: [33, rootOf(2)] },
    "256",
    rootOf(1),
  ],
])("the chain's head is told with %s", async (_, input, finalizedSlot, finalizedRoot) => {
  expect(await chainHeadOf(input)).toEqual({
    head_slot: "279",
    head_block_root: rootOf(279 % 256),
    finalized_slot: finalizedSlot,
    finalized_block_root: finalizedRoot,
    justified_slot: String(input.justified[0] * 8),
    justified_block_root: input.justified[1],
  });
});
