import { describe, expect, it } from "vitest";
import type { Finding, Report } from "../../gateway/doctor/report.ts";
import { formatReport } from "./format-report.ts";

const upstream = (number: number) => ({
  upstream: `host${number}`,
  url: `http://host${number}`,
  version: "Example/v1.0.0",
  head: { slot: 42, root: "0x01" },
  behindClock: 0,
  behindBest: 0,
  justifiedEpoch: 4,
  finalized: { epoch: 3, root: "0x02" },
  connectedPeers: 7,
  latency: { cheap: { median: 1.25, p95: 2.5, calls: 15 } },
  problems: [],
});

const operation = (path: string, ...findings: Finding[]) => ({ method: path, verb: "GET", path, findings }) as const;

const LONG_PATH = `/eth/v1/${"x".repeat(60)}`;

describe("report", () => {
  it("fits into 100 columns with any number of upstreams", () => {
    const upstreams = [1, 2, 3, 4, 5, 6].map(upstream);
    const ok: Finding = { outcome: "ok", ssz: "ok" };
    const report: Report = {
      upstreams,
      contradictions: [],
      operations: [operation(LONG_PATH, ...upstreams.map(() => ok))],
      differences: [],
    };
    const lines = formatReport(report).split("\n");
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    const heads = lines.filter((line) => line.startsWith("operation "));
    expect(heads.flatMap((line) => line.split(/ +/).slice(1))).toEqual(["1", "2", "3", "4", "5", "6"]);
    expect(lines).toContain("1    42         0        0          4          3      7  1.3 (2.5)           ?");
  });

  it("lists each reason once, and groups skipped operations by reason", () => {
    const absent: Finding = { outcome: "absent", reason: "HTTP status 404: no\u001b[2J such state" };
    const refused: Finding = { outcome: "refused", reason: "HTTP status 400: because" };
    const withoutSsz: Finding = { outcome: "ok", ssz: "refused", reason: "as SSZ, HTTP status 400: because" };
    const declined: Finding = { outcome: "declined", reason: "HTTP status 400: No data" };
    const notTested: Finding = { outcome: "not-asked", reason: "it is a submission" };
    const text = formatReport({
      upstreams: [upstream(1), upstream(2), { ...upstream(3), failure: "It is gone.", problems: ["It is gone."] }],
      contradictions: ["THEY CONTRADICT EACH OTHER."],
      comparedAt: { slot: 24, root: "0xab" },
      operations: [
        operation("/absent", absent, absent, { outcome: "not-asked" }),
        operation("/refused", refused, withoutSsz, declined),
        operation("/submission", notTested, notTested, { outcome: "not-asked" }),
      ],
      differences: [
        {
          request: "GET /eth/v1/x",
          path: "data.root",
          said: [
            { upstreams: ["host1"], value: '"0x01"' },
            { upstreams: ["host2"], value: '"0x02"' },
          ],
        },
      ],
    });
    expect(text).toMatch(/^THEY CONTRADICT EACH OTHER\.\n/);
    expect(text).toMatch(/^GET \/absent +no +no +-$/m);
    expect(text).toContain("GET /absent\n    1, 2: ");
    expect(text).toMatch(/^GET \/refused +REFUSED +yes\+ERROR +declined$/m);
    expect(text).toContain("GET /refused\n    1: HTTP status 400: because\n    2: as SSZ, HTTP status 400: because\n");
    expect(text).not.toContain("\u001b");
    expect(text).toContain("Skipped, because it is a submission:\n    GET /submission\n");
    expect(text).toContain('GET /eth/v1/x\n  data.root\n    "0x01"  host1\n    "0x02"  host2\n');
    expect(text).toMatch(/^1 {2}No problems found\.\n2 {2}No problems found\.\n3 {2}It is gone\.\n$/m);
  });
});
