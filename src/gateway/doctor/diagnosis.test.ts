import { describe, expect, it } from "vitest";
import { Answer, healthyScript, root, scriptedProbe } from "../../../test/support/gateway/doctor/scripted-probe.ts";
import { diagnose } from "./diagnosis.ts";
import { inspect } from "./inspection.ts";
import { isHealthy } from "./report.ts";

/** Diagnoses an upstream that reports its version and then answers everything with one status. */
async function diagnosisOf(status: number) {
  // In the middle of its head's slot.
  const inspection = { ...(await inspect(scriptedProbe(healthyScript))), observedAt: (1000 + 2 * 42 + 1) * 1000 };
  const probe = scriptedProbe({}, "a", new Answer(status, "application/json", '{"message":"because"}'));
  const upstream = { url: "http://a", probe, inspection };
  return diagnose([upstream], { withStates: false });
}

describe("an upstream that answers every operation with one status", () => {
  const refusal = /^\d+ operations got a refusal\.$/;
  const failure = /^\d+ operations failed\.$/;
  const cases: [status: number, problem: RegExp][] = [
    [400, refusal],
    [403, refusal],
    [404, failure],
    [405, failure],
    [410, failure],
    [415, refusal],
    [429, refusal],
    [500, failure],
    [501, failure],
    [503, failure],
  ];
  for (const [status, problem] of cases) {
    it(`has problems for ${status}, reported per operation`, async () => {
      const report = await diagnosisOf(status);
      expect(isHealthy(report)).toBe(false);
      expect(report.upstreams[0]!.problems).toEqual([expect.stringMatching(problem)]);
      for (const { path, findings } of report.operations) {
        const [{ outcome, reason }] = findings as [(typeof findings)[number]];
        // Health is answered by status alone.
        if (outcome === "not-asked" || (status === 503 && path === "/eth/v1/node/health")) continue;
        expect(outcome, path).not.toBe("ok");
        expect(reason, path).toContain(`HTTP status ${status}: because`);
      }
    });
  }
});

describe("two conforming upstreams", () => {
  const SPEC_URL = "/eth/v1/config/spec";
  const GENESIS_URL = "/eth/v1/beacon/genesis";
  const genesis = healthyScript[GENESIS_URL].data;
  const SCHEDULE_URL = "/eth/v1/config/fork_schedule";
  const BLOBS_URL = "/eth/v1/beacon/blobs/24";
  const CONTRACT_URL = "/eth/v1/config/deposit_contract";
  const ROOT_URL = "/eth/v1/beacon/states/24/root";
  const FAR_FUTURE_EPOCH = "18446744073709551615";
  const spec = { ...healthyScript[SPEC_URL].data, FULU_FORK_EPOCH: "0", FULU_FORK_VERSION: "0x06000001" };
  const fulu = { previous_version: "0x05000001", current_version: "0x06000001", epoch: "0" };

  async function differencesOf(...scripts: object[]) {
    const names = ["a", "b"];
    const upstreams = await Promise.all(
      scripts.map(async (script, index) => {
        const probe = scriptedProbe({ ...healthyScript, ...script }, names[index]);
        return { url: `http://${names[index]}`, probe, inspection: await inspect(probe) };
      }),
    );
    return (await diagnose(upstreams, { withStates: false })).differences;
  }

  const alike: [what: string, first: object, second: object][] = [
    [
      "only one of them lists a fork without a date",
      { [SCHEDULE_URL]: { data: [fulu] } },
      {
        [SCHEDULE_URL]: {
          data: [fulu, { previous_version: "0x06000001", current_version: "0x07000001", epoch: FAR_FUTURE_EPOCH }],
        },
      },
    ],
    [
      "the versions of a fork without a date differ",
      { [SPEC_URL]: { data: { ...spec, GLOAS_FORK_EPOCH: FAR_FUTURE_EPOCH, GLOAS_FORK_VERSION: "0x07000001" } } },
      { [SPEC_URL]: { data: { ...spec, GLOAS_FORK_EPOCH: FAR_FUTURE_EPOCH, GLOAS_FORK_VERSION: "0x07000002" } } },
    ],
    [
      "a constant of a fork without a date differs",
      { [SPEC_URL]: { data: { ...spec, GLOAS_FORK_EPOCH: FAR_FUTURE_EPOCH, PTC_SIZE: "2" } } },
      { [SPEC_URL]: { data: { ...spec, GLOAS_FORK_EPOCH: FAR_FUTURE_EPOCH, PTC_SIZE: "512" } } },
    ],
    [
      "several forks start at genesis",
      { [GENESIS_URL]: { data: { ...genesis, genesis_fork_version: "0x06000001" } } },
      {},
    ],
    [
      "one writes an address with a checksum",
      { [CONTRACT_URL]: { data: { chain_id: "1", address: "0x00000000219ab540356cBB839Cbe05303d7705Fa" } } },
      { [CONTRACT_URL]: { data: { chain_id: "1", address: "0x00000000219ab540356cbb839cbe05303d7705fa" } } },
    ],
    [
      "one holds no blobs",
      {
        [BLOBS_URL]: { data: [`0x${"00".repeat(131_072)}`] },
        [`SSZ ${BLOBS_URL}`]: new Answer(200, "application/octet-stream", "\0"),
      },
      { [BLOBS_URL]: { data: [] }, [`SSZ ${BLOBS_URL}`]: new Answer(200, "application/octet-stream", "") },
    ],
    [
      "one is optimistic and does not tell what is finalized",
      { [ROOT_URL]: { data: { root: root("c") }, execution_optimistic: false, finalized: true } },
      { [ROOT_URL]: { data: { root: root("c") }, execution_optimistic: true } },
    ],
  ];
  for (const [what, first, second] of alike) {
    it(`do not differ when ${what}`, async () => {
      expect(await differencesOf(first, second)).toEqual([]);
    });
  }

  const different: [what: string, first: object, second: object][] = [
    [
      "a constant of a fork with a date differs",
      { [SPEC_URL]: { data: { ...spec, GLOAS_FORK_EPOCH: "9", PTC_SIZE: "2" } } },
      { [SPEC_URL]: { data: { ...spec, GLOAS_FORK_EPOCH: "9", PTC_SIZE: "512" } } },
    ],
    ["one does not know a fork with a date", { [SCHEDULE_URL]: { data: [fulu] } }, { [SCHEDULE_URL]: { data: [] } }],
    [
      "the version of a fork differs",
      { [SPEC_URL]: { data: spec } },
      { [SPEC_URL]: { data: { ...spec, FULU_FORK_VERSION: "0x06000002" } } },
    ],
    [
      "one holds another blob",
      { [BLOBS_URL]: { data: [`0x${"00".repeat(131_072)}`] } },
      { [BLOBS_URL]: { data: [`0x${"01".repeat(131_072)}`] } },
    ],
  ];
  for (const [what, first, second] of different) {
    it(`differ when ${what}`, async () => {
      expect(await differencesOf(first, second)).toHaveLength(1);
    });
  }
});

describe("the epoch of tested duties", () => {
  const SLOT_SECONDS = 600;

  /** Returns the outcome of proposer duties on an upstream that serves a single epoch. Its head is at slot 42. */
  async function outcomeAt(clockSlot: number, servedEpoch: number) {
    const genesisTime = Math.floor(Date.now() / 1000) - (clockSlot + 0.5) * SLOT_SECONDS;
    const genesis = { ...healthyScript["/eth/v1/beacon/genesis"].data, genesis_time: String(genesisTime) };
    const spec = { ...healthyScript["/eth/v1/config/spec"].data, SECONDS_PER_SLOT: String(SLOT_SECONDS) };
    const probe = scriptedProbe({
      ...healthyScript,
      "/eth/v1/beacon/genesis": { data: genesis },
      "/eth/v1/config/spec": { data: spec },
      [`/eth/v1/validator/duties/proposer/${servedEpoch}`]: { data: [] },
    });
    const upstream = { url: "http://a", probe, inspection: await inspect(probe) };
    const { operations } = await diagnose([upstream], { withStates: false });
    return operations.find(({ path }) => path === "/eth/v1/validator/duties/proposer/{epoch}")!.findings[0]!.outcome;
  }

  it("is that of the head, or of the clock when it has moved on", async () => {
    expect(await outcomeAt(43, 5)).toBe("ok");
    expect(await outcomeAt(48, 6)).toBe("ok");
    expect(await outcomeAt(20, 5)).toBe("ok");
  });

  it("is none when the head is more than an epoch behind the clock", async () => {
    expect(await outcomeAt(51, 6)).toBe("not-asked");
  });
});

describe("two upstreams with different metadata", () => {
  const ROOT_URL = "/eth/v1/beacon/states/24/root";

  async function upstream(name: string, metadata: object) {
    const probe = scriptedProbe({ ...healthyScript, [ROOT_URL]: { data: { root: root("c") }, ...metadata } }, name);
    return { url: `http://${name}`, probe, inspection: await inspect(probe) };
  }

  it("differ, which is a problem of both", async () => {
    const diagnosed = [await upstream("a", { finalized: true }), await upstream("b", { finalized: false })];
    const { differences, upstreams } = await diagnose(diagnosed, { withStates: false });
    expect(differences).toEqual([
      {
        request: `GET ${ROOT_URL}`,
        path: "answer.finalized",
        said: [
          { upstreams: ["a"], value: "true" },
          { upstreams: ["b"], value: "false" },
        ],
      },
    ]);
    for (const { problems } of upstreams)
      expect(problems).toContain("It answers one request differently from other upstreams.");
  });
});
