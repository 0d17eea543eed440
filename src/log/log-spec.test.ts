import { describe, expect, it } from "vitest";
import { applyLogSpec, LEVEL_VALUES, LogSpecError, parseLogSpec, topicThreshold } from "./log-spec.ts";
import { LOG_LEVELS, LOG_TOPICS, type LogTopic } from "./logger.ts";

const NOTHING = Number.POSITIVE_INFINITY;
const thresholds = (specs: string[], topics: LogTopic[]) => {
  const selection = specs.reduce((selection, spec) => applyLogSpec(selection, spec), parseLogSpec("INFO"));
  return topics.map((topic) => topicThreshold(selection, topic));
};

describe("log specification", () => {
  it("takes each of the seven levels in any case", () => {
    for (const level of LOG_LEVELS) {
      for (const text of [level, level.toUpperCase(), `  ${level[0]?.toUpperCase()}${level.slice(1)} `]) {
        expect(topicThreshold(parseLogSpec(text), "chain")).toBe(LEVEL_VALUES[level]);
      }
    }
  });

  it("orders the levels from trace to fatal", () => {
    const values = LOG_LEVELS.map((level) => LEVEL_VALUES[level]);
    expect(values).toEqual([10, 20, 30, 35, 40, 50, 60]);
  });

  const cases: { specs: string[]; chain: number; rpc: number; says: string }[] = [
    { specs: ["DEBUG; TRACE:chain"], chain: 10, rpc: 20, says: "gives a topic its own level" },
    { specs: ["DEBUG;trace:chain , rpc"], chain: 10, rpc: 10, says: "ignores blanks around parts and topics" },
    { specs: ["TRACE; ERROR:rpc"], chain: 10, rpc: 50, says: "lets a topic be quieter than the rest" },
    { specs: ["INFO; DISABLED:rpc"], chain: 30, rpc: NOTHING, says: "mutes a disabled topic" },
    { specs: ["INFO; REQUIRED:chain"], chain: 30, rpc: NOTHING, says: "writes only required topics" },
    {
      specs: ["DEBUG; TRACE:chain,rpc; REQUIRED:chain; DISABLED:none"],
      chain: 10,
      rpc: NOTHING,
      says: "joins a topic's level with its being required",
    },
    {
      specs: ["INFO; REQUIRED:chain; TRACE:chain"],
      chain: 10,
      rpc: NOTHING,
      says: "does not depend on the order of the clauses",
    },
    { specs: ["INFO; REQUIRED:none; DISABLED:none"], chain: 30, rpc: 30, says: "takes none for no topics" },
    { specs: ["INFO; TRACE:chain", "WARN"], chain: 10, rpc: 40, says: "keeps earlier settings of unnamed topics" },
    {
      specs: ["INFO; DISABLED:chain,rpc", "INFO; DEBUG:rpc"],
      chain: NOTHING,
      rpc: 20,
      says: "starts a named topic afresh",
    },
    {
      specs: ["INFO; REQUIRED:chain", "INFO; REQUIRED:none"],
      chain: 30,
      rpc: 30,
      says: "ends being required with none",
    },
    { specs: ["INFO; DISABLED:rpc", "INFO; DISABLED:NONE"], chain: 30, rpc: 30, says: "ends being muted with none" },
    { specs: ["INFO; TRACE:rpc", "INFO; TRACE:none"], chain: 30, rpc: 30, says: "ends a topic's level with none" },
    {
      specs: ["INFO; REQUIRED:chain,rpc", "INFO; DISABLED:rpc"],
      chain: 30,
      rpc: NOTHING,
      says: "lets a topic change from required to muted",
    },
  ];
  for (const { specs, chain, rpc, says } of cases) {
    it(`${says}: ${specs.join(" then ")}`, () => {
      expect(thresholds(specs, ["chain", "rpc"])).toEqual([chain, rpc]);
    });
  }

  it("has room for every topic with a level and a state", () => {
    const topics = LOG_TOPICS.join(",");
    const selection = parseLogSpec(`INFO; TRACE:${topics}; REQUIRED:${topics}`);
    for (const topic of LOG_TOPICS) expect(topicThreshold(selection, topic)).toBe(LEVEL_VALUES.trace);
  });

  const malformed: [spec: string, complaint: RegExp][] = [
    ["", /starts with "".*TRACE, DEBUG, INFO, NOTICE, WARN, ERROR, FATAL/],
    ["LOUD", /starts with "LOUD"/],
    ["TRACE:chain", /starts with "TRACE:chain"/],
    ["INFO; chain", /"chain".*no colon/],
    ["INFO;", /"" .*no colon/],
    ["INFO; LOUD:chain", /"LOUD".*REQUIRED or DISABLED/],
    ["INFO; TRACE:", /topic ""/],
    ["INFO; TRACE:rpc,,chain", /topic ""/],
    ["INFO; TRACE:a b", /topic "a b"/],
    ["INFO; TRACE:a:b", /topic "a:b"/],
    ["INFO; REQUIRED:none,chain", /"none" stands alone/],
    ["INFO; TRACE:rpc,chian", /unknown topic "chian". Did you mean "chain"\? The topics are node, chain,/],
    ["INFO; DISABLED:everything", /unknown topic "everything". The topics are node, chain,/],
    [`INFO; TRACE:${"chain,".repeat(200)}rpc`, /1215 characters; it may have 1000 at most/],
  ];
  for (const [spec, complaint] of malformed) {
    it(`refuses ${JSON.stringify(spec)}`, () => {
      expect(() => parseLogSpec(spec)).toThrow(LogSpecError);
      expect(() => parseLogSpec(spec)).toThrow(complaint);
    });
  }
});
