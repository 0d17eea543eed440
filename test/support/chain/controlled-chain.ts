import type { BeaconBlock, electra, gloas, SignedBeaconBlock } from "@lodestar/types";
import { expect, onTestFinished } from "vitest";
import { initialiseDatabase } from "../../../src/chain/anchor/anchor.ts";
import { createMemoryDatabase } from "../../../src/db/open-database.ts";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import { Caller } from "../api/caller.ts";
import { tempDirectory } from "../directories/temp-directory.ts";
import { openDevChain } from "./dev-chain.ts";
import { openFollower } from "./follower.ts";

export const ETHER = 10 ** 9;
export const VALIDATORS = 16;
export const ADDRESS = `0x${"ad".repeat(20)}`;
export const FULU: ScheduledFork[] = [{ fork: "fulu", epoch: 0 }];
export const CODES = { invalid: -32602, absent: -32001, rejected: -32003 };

/** Returns the execution requests that a block applies; since gloas, those of its parent's payload. */
export function requestsApplied({ body }: BeaconBlock): electra.ExecutionRequests {
  const { executionRequests, parentExecutionRequests } = body as Partial<
    electra.BeaconBlockBody & gloas.BeaconBlockBody
  >;
  return (executionRequests ?? parentExecutionRequests)!;
}

type Params = unknown[] | Record<string, unknown>;

/** A chain with a manual clock. */
export async function openControlled(
  forks: ScheduledFork[],
  directory?: string,
  options: Partial<DevNodeOptions> = {},
) {
  const opened = await openDevChain({ validators: VALIDATORS, forks, speed: 0, ...options }, directory);
  const { devChain, complaints } = opened;
  const { chain } = devChain;
  const caller = new Caller(devChain.api);
  const validator = (index: number) =>
    caller.call("get_v1_beacon_states_stateId_validators_validatorId", ["head", index]);
  return {
    ...opened,
    chain,
    call: (name: string, params?: Params) => caller.call(name, params),
    error: (name: string, params?: Params) => caller.error(name, params),
    advance: (slots: number) => caller.call("dev_advance", { slots }),
    until: (index: number, status: string) =>
      caller.call("dev_advance", { until: { validator: index, status }, limit: 200 }),
    validator,
    status: async (index: number): Promise<string> => (await validator(index)).status,
    balance: async (index: number): Promise<number> => Number((await validator(index)).balance),
    /** Expects no warnings except for slashed proposers. */
    expectHealth: () => expect(complaints.filter((line) => !line.includes("is slashed"))).toEqual([]),
    /** Expects that another node reaches the same state from genesis. */
    async expectFollowed() {
      const genesis = (await chain.states.genesis())!;
      const db = await createMemoryDatabase(tempDirectory());
      onTestFinished(() => db.close());
      await initialiseDatabase(db, devChain.config, { state: genesis }, {});
      const follower = await openFollower(db, devChain, chain.clock.currentSlot);
      onTestFinished(() => follower.close());
      const segment: SignedBeaconBlock[] = [];
      const importSegment = () => follower.importSegment(segment.splice(0));
      for (let slot = 1; slot <= chain.head.slot; slot++) {
        const block = await chain.blocks.canonicalAtSlot(slot);
        if (!block) continue;
        segment.push(block.signed);
        const envelope = await chain.payloadStore.get(block.root);
        if (!envelope) continue;
        await importSegment();
        await follower.importPayload(envelope);
      }
      if (segment.length > 0) await importSegment();
      expect(follower.head.root).toBe(chain.head.root);
    },
  };
}

type Controlled = Awaited<ReturnType<typeof openControlled>>;

export type Refusal = [name: string, params: Params, code: number, message: RegExp];

export async function expectRefusals({ error }: Controlled, refusals: Refusal[]): Promise<void> {
  for (const [name, params, code, message] of refusals) {
    expect(await error(name, params), `${name} ${JSON.stringify(params)}`).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  }
}
