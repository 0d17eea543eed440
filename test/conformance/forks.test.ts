import { ForkName, isForkPostElectra } from "@lodestar/params";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { methods } from "../../src/api/method-groups.ts";
import { DEV_FORKS } from "../../src/dev/forks.ts";
import { ExampleDevChain, type ExampleFork } from "../support/api/example-chain.ts";
import { exampleParams, inExampleOrder, isServedOn } from "../support/api/examples.ts";
import { variants } from "../support/suite/tier.ts";
import { documentedParams, documentedResult } from "./documented.ts";

const ENDS: readonly ExampleFork[] = [ForkName.phase0, ForkName.fulu];
const FORKS = variants({
  fast: ENDS,
  full: (DEV_FORKS as readonly ExampleFork[]).filter((fork) => !ENDS.includes(fork)),
});
/** The fork in which test/conformance/results.test.ts calls all methods. */
const CALLED_ELSEWHERE = ForkName.fulu;
const NUMBERED = inExampleOrder(methods)
  .filter(({ number }) => number !== undefined)
  .map((method) => [method.name, method] as const);
const POINT_AT_INFINITY = `0xc0${"00".repeat(95)}`;

describe.each(FORKS)("on %s", (fork) => {
  let chain: ExampleDevChain;
  beforeAll(async () => {
    chain = await ExampleDevChain.open(fork, { isFinalized: false });
  });
  afterAll(() => chain?.close());

  if (fork !== CALLED_ELSEWHERE) {
    it("methods match their documentation", async () => {
      for (const [name, method] of NUMBERED) {
        if (!isServedOn(method, fork)) continue;
        const params = await exampleParams(method, chain);
        const result: unknown = await chain.caller.call(name, params);
        for (const [validate, value] of [
          ...documentedParams(method, params),
          [documentedResult(name), result] as const,
        ]) {
          validate(value);
          expect(validate.errors ?? [], name).toEqual([]);
        }
      }
    });
  }

  it("first versions return the same bytes as later versions", async () => {
    // Fills the pools.
    for (const [name, method] of NUMBERED) {
      if (method.example.stage !== "attest" || !isServedOn(method, fork)) continue;
      await chain.caller.call(name, await exampleParams(method, chain));
    }
    const { slot } = chain;
    const root = await chain.attestationDataRoot();
    const aggregate = ["get_v2_validator_aggregate_attestation", slot, root, 0];
    const block = [slot + 1, POINT_AT_INFINITY, "an example", true];
    const calls: [given: unknown[], successor: unknown[]][] = [
      [["get_v1_validator_aggregate_attestation", slot, root], aggregate],
      [["get_v1_validator_aggregate_attestation", slot, root, 0], aggregate],
      [["get_v1_validator_aggregate_and_proof", await chain.attestationData()], aggregate],
      [["get_v1_validator_aggregate_and_proof", await chain.attestationData(), 0], aggregate],
      [["get_v1_beacon_pool_attestations"], ["get_v2_beacon_pool_attestations"]],
      [["get_v1_beacon_pool_attester_slashings"], ["get_v2_beacon_pool_attester_slashings"]],
      [
        ["get_v1_beacon_blocks_blockId_attestations", slot - 1],
        ["get_v2_beacon_blocks_blockId_attestations", slot - 1],
      ],
    ];
    // Blocks of gloas are made by v4 alone.
    if (fork !== "gloas")
      calls.push([
        ["get_v1_validator_block", ...block],
        ["get_v3_validator_blocks_slot", ...block],
      ]);
    for (const [given, successor] of calls) {
      const [text, expected] = await Promise.all(
        [given, successor].map(([name, ...params]) => chain.caller.text(name as string, params)),
      );
      expect(text, String(given)).toBe(expected);
      // Slashings have the same form in all forks.
      if (given[0] === "get_v1_beacon_pool_attester_slashings") continue;
      expect(text!.includes('"committee_bits"'), String(given)).toBe(isForkPostElectra(fork));
    }
  });

  it("logged no warnings or errors", () => {
    expect(chain.complaints).toEqual([]);
  });
});
