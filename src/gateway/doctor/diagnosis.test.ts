import { describe, expect, it } from "vitest";
import { diagnose } from "./diagnosis.ts";
import { examine } from "./examination.ts";
import { isWell } from "./report.ts";
import { Answer, healthyScript, root, scriptedProbe } from "./scripted-probe.test-support.ts";

/** What is found of an upstream that says who it is, and answers everything with one status from then on. */
async function diagnosisOf(status: number) {
  // In the middle of the slot of its head.
  const examination = { ...(await examine(scriptedProbe(healthyScript))), observedAt: (1000 + 2 * 42 + 1) * 1000 };
  const probe = scriptedProbe({}, "a", new Answer(status, "application/json", '{"message":"because"}'));
  const patient = { url: "http://a", probe, examination };
  return diagnose([patient], { withStates: false });
}

describe("an upstream that answers every operation with one status", () => {
  const refusal = /^\d+ operations met with a refusal\.$/;
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
    it(`is not well by ${status}, which is told of each operation`, async () => {
      const report = await diagnosisOf(status);
      expect(isWell(report)).toBe(false);
      expect(report.upstreams[0]!.problems).toEqual([expect.stringMatching(problem)]);
      for (const { path, findings } of report.operations) {
        const [{ outcome, reason }] = findings as [(typeof findings)[number]];
        // Its health is told by the status alone.
        if (outcome === "not-asked" || (status === 503 && path === "/eth/v1/node/health")) continue;
        expect(outcome, path).not.toBe("ok");
        expect(reason, path).toContain(`HTTP status ${status}: because`);
      }
    });
  }
});

describe("two upstreams that say something else of the same data", () => {
  const ROOT_URL = "/eth/v1/beacon/states/24/root";

  async function patient(name: string, beside: object) {
    const probe = scriptedProbe({ ...healthyScript, [ROOT_URL]: { data: { root: root("c") }, ...beside } }, name);
    return { url: `http://${name}`, probe, examination: await examine(probe) };
  }

  it("differ, which is a problem of both", async () => {
    const patients = [await patient("a", { finalized: true }), await patient("b", {})];
    const { differences, upstreams } = await diagnose(patients, { withStates: false });
    expect(differences).toEqual([
      {
        request: `GET ${ROOT_URL}`,
        path: "answer.finalized",
        said: [
          { upstreams: ["a"], value: "true" },
          { upstreams: ["b"], value: "nothing" },
        ],
      },
    ]);
    for (const { problems } of upstreams)
      expect(problems).toContain("It answers one request otherwise than others do.");
  });
});
