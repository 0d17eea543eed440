import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { DevTime } from "../../src/dev/control/time.ts";
import { CONSENSUS_FORKS, type ScheduledFork } from "../../src/dev/forks.ts";
import type { DutyPlan } from "../../src/dev/validators/duty-plan.ts";
import { createDevValidators } from "../../src/dev/validators/validators.ts";
import { advance, openDevChain } from "../support/chain/dev-chain.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";

const GLOAS: ScheduledFork[] = [{ fork: "gloas", epoch: 0 }];
const ACROSS: ScheduledFork[] = [
  { fork: "fulu", epoch: 0 },
  { fork: "gloas", epoch: 2 },
];

describe("a dev chain on gloas", () => {
  it.each<[string, ScheduledFork[]]>([
    ["from genesis", GLOAS],
    ["from fulu", ACROSS],
    ["from every earlier fork", CONSENSUS_FORKS.map((fork, epoch) => ({ fork, epoch }))],
  ])("finalizes %s, with all payloads", async (_, forks) => {
    const { devChain, complaints } = await openDevChain({ speed: 0, forks });
    const { chain } = devChain;
    const epochs = forks.at(-1)!.epoch + 4;
    await advance(devChain, epochs * SLOTS_PER_EPOCH);
    expect(complaints).toEqual([]);
    expect(chain.finalizedCheckpoint.epoch).toBe(epochs - 2);
    expect(chain.head.slot).toBe(epochs * SLOTS_PER_EPOCH);
    expect(chain.headNode.payloadStatus).toBe("full");
  });

  it("with blobs", async () => {
    const { devChain, complaints } = await openDevChain({ speed: 0, forks: ACROSS, devBlobs: { min: 0, max: 2 } });
    await advance(devChain, 5 * SLOTS_PER_EPOCH);
    expect(complaints).toEqual([]);
    expect(devChain.chain.finalizedCheckpoint.epoch).toBe(3);
    expect(devChain.chain.headNode.payloadStatus).toBe("full");
  });

  it.each<[string, ScheduledFork[]]>([
    ["from genesis", GLOAS],
    ["from fulu", ACROSS],
  ])("with the EVM %s", async (_, forks) => {
    const { devChain, complaints } = await openDevChain({ speed: 0, forks, evm: { chainId: 31_337 } });
    await advance(devChain, 5 * SLOTS_PER_EPOCH);
    expect(complaints).toEqual([]);
    expect(devChain.chain.finalizedCheckpoint.epoch).toBe(3);
  });
});

describe("validators that follow the clock", () => {
  it("propose, reveal, attest and vote on payloads at the deadlines of gloas, also after empty slots", async () => {
    const { devChain, complaints } = await openDevChain({ speed: 0, activeValidators: [], forks: GLOAS });
    const { chain, clock, config, api, keys, control } = devChain;
    const logger = createRecordingLogger();
    const plans = new Map<number, DutyPlan>([
      [11, { payload: "withhold" }],
      [12, { online: new Set() }],
    ]);
    const validators = createDevValidators({
      ...{ api, clock, config, keys, logger },
      plan: (slot) => plans.get(slot) ?? {},
      fastPath: { chain, isAllowed: () => false },
    });
    onTestFinished(() => validators.close());
    const times: [event: string, share: number][] = [];
    const note = (event: string) => () =>
      times.push([event, (clock.nowSeconds() - clock.slotStartSeconds(clock.currentSlot)) / clock.secondsPerSlot]);
    chain.events.on("block", note("block"));
    chain.events.on("payload", note("payload"));
    chain.events.on("attestation", note("attestation"));
    const ownPayloadAttestation = vi.spyOn(chain.processor, "ownPayloadAttestation");
    ownPayloadAttestation.mockImplementationOnce((...args) => {
      note("payload attestation")();
      ownPayloadAttestation.mockRestore();
      chain.processor.ownPayloadAttestation(...args);
    });
    chain.events.on("head", (head) => validators.onHead(head));
    (control.time as DevTime).onSlot((slot) => validators.onSlot(slot, "clock"));

    await advance(devChain, 1);
    expect([...new Map(times)]).toEqual([
      ["block", 0],
      ["payload", 0],
      ["attestation", 0.5],
      ["payload attestation", 0.75],
    ]);
    await advance(devChain, 12);
    expect([chain.head.slot, chain.headNode.payloadStatus]).toEqual([11, "empty"]);
    await advance(devChain, 5 * SLOTS_PER_EPOCH);
    expect(chain.finalizedCheckpoint.epoch).toBe(3);
    expect(logger.records.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
