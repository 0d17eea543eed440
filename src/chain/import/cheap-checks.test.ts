import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type BeaconBlock, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { addBlock, EPOCH, makeForkChoice, optimistic, root } from "../../../test/support/chain/fork-choice/blocks.ts";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { checkBeforeTransition, requireSignedEpochSkip } from "./cheap-checks.ts";

const clockAt = (slot: number) => ({ currentSlot: slot }) as unknown as Clock;

function blockAt(slot: number, parent: number): BeaconBlock {
  return { ...ssz.phase0.BeaconBlock.defaultValue(), slot, parentRoot: fromHex(root(parent)) };
}

function reasonAgainst(forkChoice: ForkChoice, block: BeaconBlock, currentSlot = 100): unknown {
  try {
    checkBeforeTransition(block, { forkChoice, clock: clockAt(currentSlot) });
    return null;
  } catch (error) {
    return (error as { reason: unknown }).reason;
  }
}

/** Genesis is block 1; block 2 is its child at slot 2, block 3 at slot 5. */
function smallTree(): ForkChoice {
  const forkChoice = makeForkChoice();
  addBlock(forkChoice, 2, 1, 2);
  addBlock(forkChoice, 3, 2, 5);
  return forkChoice;
}

it("accepts a child of a known block on any branch", () => {
  expect(reasonAgainst(smallTree(), blockAt(6, 3))).toBeNull();
  expect(reasonAgainst(smallTree(), blockAt(6, 2))).toBeNull();
});

it("accepts blocks up to the current slot", () => {
  expect(reasonAgainst(smallTree(), blockAt(7, 3), 7)).toBeNull();
  expect(reasonAgainst(smallTree(), blockAt(8, 3), 7)).toBe("future-slot");
});

it("requires a known, earlier parent", () => {
  expect(reasonAgainst(smallTree(), blockAt(6, 9))).toBe("unknown-parent");
  expect(reasonAgainst(smallTree(), blockAt(5, 3))).toBe("not-later-than-parent");
  expect(reasonAgainst(smallTree(), blockAt(4, 3))).toBe("not-later-than-parent");
});

it("rejects children of a block with an invalid payload", () => {
  const forkChoice = smallTree();
  addBlock(forkChoice, 4, 3, 6, { execution: optimistic(4) });
  expect(reasonAgainst(forkChoice, blockAt(7, 4))).toBeNull();

  forkChoice.onInvalidPayload(root(4), null);

  expect(reasonAgainst(forkChoice, blockAt(7, 4))).toBe("invalid-parent");
});

it("rejects finalized slots and branches off the finalized chain", () => {
  const forkChoice = smallTree();
  const finalized = { epoch: 1, root: root(4) };
  addBlock(forkChoice, 4, 3, EPOCH);
  // A sibling of the finalized block that has not been pruned yet.
  addBlock(forkChoice, 5, 3, EPOCH + 1);
  addBlock(forkChoice, 6, 4, EPOCH + 2, { justified: finalized, finalized });
  expect(forkChoice.finalized).toEqual(finalized);

  expect(reasonAgainst(forkChoice, blockAt(EPOCH, 3))).toBe("finalized-slot");
  expect(reasonAgainst(forkChoice, blockAt(EPOCH + 3, 5))).toBe("not-descendant-of-finalized");
  expect(reasonAgainst(forkChoice, blockAt(EPOCH + 3, 6))).toBeNull();
});

it.each([
  ["one slot less than an epoch", SLOTS_PER_EPOCH - 1, 0],
  ["exactly an epoch", SLOTS_PER_EPOCH, 0],
  ["one slot more than an epoch", SLOTS_PER_EPOCH + 1, 1],
])(
  "a block that is %s after its parent has its signature verified up front only for a leap",
  async (_, slots, checks) => {
    const parentSlot = 3;
    const signed = ssz.phase0.SignedBeaconBlock.defaultValue();
    signed.message.slot = parentSlot + slots;
    let verified = 0;
    const config = createBeaconConfig(chainConfig, new Uint8Array(32));
    const refusal = (isSigned: boolean) => {
      const bls: Pick<BlsVerifier, "verify"> = {
        verify: async () => {
          verified++;
          return isSigned;
        },
      };
      return requireSignedEpochSkip(signed, parentSlot, { config, bls: bls as BlsVerifier });
    };

    if (checks > 0) await expect(refusal(false)).rejects.toMatchObject({ reason: "invalid-signature" });
    else await refusal(false);
    await refusal(true);
    expect(verified).toBe(2 * checks);
  },
);
