import { describe, expect, it } from "vitest";
import { header, healthyScript, root, scriptedProbe } from "../../../test/support/gateway/doctor/scripted-probe.ts";
import { checkAgreement } from "./chain-agreement.ts";
import { inspect } from "./inspection.ts";

const agreementOf = async (...scripts: object[]) => {
  const inspected = scripts.map(async (script, index) => {
    const probe = scriptedProbe({ ...healthyScript, ...script }, `upstream${index}`);
    return { probe, inspection: await inspect(probe) };
  });
  return checkAgreement(await Promise.all(inspected));
};

describe("agreement of upstreams", () => {
  it("is the newest block that is final on all", async () => {
    const ahead = { "/eth/v1/beacon/headers/finalized": header(32, root("5")) };
    expect(await agreementOf(ahead, {})).toEqual({ block: { slot: 24, root: root("2") }, contradictions: [] });
  });

  it("is none on different chains", async () => {
    const genesis = { data: { ...healthyScript["/eth/v1/beacon/genesis"].data, genesis_validators_root: root("b") } };
    const { block, contradictions } = await agreementOf({}, { "/eth/v1/beacon/genesis": genesis });
    expect(block).toBeUndefined();
    expect(contradictions).toEqual([
      expect.stringMatching(`different chains.* ${root("a")} for upstream0, but ${root("b")} for upstream1`),
    ]);
  });

  it("is the majority's block if one differs", async () => {
    const liar = { "/eth/v1/beacon/headers/24": header(24, root("f")) };
    const { block, contradictions } = await agreementOf(liar, {}, {});
    expect(block).toEqual({ slot: 24, root: root("2") });
    expect(contradictions).toEqual([
      expect.stringMatching(
        `CONFLICTING.*slot 24 .* ${root("2")} for upstream1, upstream2, but ${root("f")} for upstream0`,
      ),
    ]);
  });

  it("is contradicted only by another checkpoint of the same epoch", async () => {
    const checkpoints = (epoch: string) => ({
      "/eth/v1/beacon/states/head/finality_checkpoints": {
        data: { current_justified: { epoch: "4" }, finalized: { epoch, root: root("e") } },
      },
    });
    expect((await agreementOf({}, checkpoints("3"))).contradictions).toEqual([
      expect.stringContaining("checkpoint of epoch 3"),
    ]);
    expect((await agreementOf({}, checkpoints("2"))).contradictions).toEqual([]);
    const silent = { "/eth/v1/beacon/headers/24": {}, "/eth/v1/beacon/headers/finalized": {} };
    expect(await agreementOf({}, silent)).toEqual({ block: { slot: 24, root: root("2") }, contradictions: [] });
    expect(await agreementOf(silent)).toEqual({ contradictions: [] });
  });
});
