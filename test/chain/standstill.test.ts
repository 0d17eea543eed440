import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { createDevValidators } from "../../src/dev/validators/validators.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import { Caller } from "../support/api/caller.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { variants } from "../support/suite/tier.ts";

/** Five minutes per slot, so that hours pass. */
const EMPTY_SLOTS = 3 * SLOTS_PER_EPOCH + 4;

it.each(variants({ fast: ["fulu"], full: ["phase0"] } as const))(
  "validators that start hours late continue a dev chain of %s",
  async (fork) => {
    const { devChain, complaints } = await openDevChain({
      ...QUIET,
      forks: [{ fork, epoch: 0 }],
      slotSeconds: 300,
    });
    const { api, clock, config, keys, chain } = devChain;
    await clock.advanceTo(EMPTY_SLOTS);
    const caller = new Caller(api);
    expect(await caller.call("get_v1_node_syncing")).toMatchObject({
      head_slot: "0",
      is_syncing: false,
      sync_distance: "0",
    });
    expect(await caller.call("get_v1_node_health")).toEqual({ health: 200 });

    // They use the API like any client, and log rejections.
    const { logger } = createLogger({
      format: "text",
      spec: "WARN",
      destination: { write: (line) => complaints.push(line) },
    });
    const validators = createDevValidators({ api, clock, config, keys, logger });
    for (let slot = EMPTY_SLOTS + 1; slot <= EMPTY_SLOTS + 4 * SLOTS_PER_EPOCH; slot++) {
      await clock.advanceTo(slot);
      await validators.onSlot(slot, "lockstep");
      expect(chain.head.slot).toBe(slot);
    }
    expect(complaints).toEqual([]);
    expect(chain.forkChoice.finalized.epoch).toBeGreaterThan(0);
  },
);

it("votes for the head before a standstill are accepted even after the first new block", async () => {
  const { devChain } = await openDevChain({ ...QUIET, forks: [{ fork: "fulu", epoch: 0 }] });
  const { clock, chain, api } = devChain;
  await clock.advanceTo(EMPTY_SLOTS + 1);
  const byHand = new ByHand(devChain);
  const { root } = await byHand.propose(EMPTY_SLOTS + 1, chain.head.root);
  expect(chain.head.root).toBe(root);
  const { beacon_block_root: old } = await new Caller(api).call("get_v1_validator_attestation_data", [EMPTY_SLOTS, 0]);
  expect(old).not.toBe(root);
  expect(await byHand.attest(EMPTY_SLOTS, old)).not.toEqual([]);
});
