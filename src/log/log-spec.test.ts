import { describe, expect, it } from "vitest";
import { applyLogSpec, LEVEL_VALUES, LogSpecError, parseLogSpec, topicThreshold } from "./log-spec.ts";
import { LOG_LEVELS, LOG_TOPICS, type LogTopic } from "./logger.ts";

const NOTHING = Number.POSITIVE_INFINITY;
const thresholds = (specs: string[], topics: LogTopic[]) => {
  const filter = specs.reduce((filter, spec) => applyLogSpec(filter, spec), parseLogSpec("INFO"));
  return topics.map((topic) => topicThreshold(filter, topic));
};

describe("log specification", () => {
  it("accepts each level in any case", () => {
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
      says: "combines the level of a topic with REQUIRED",
    },
    {
      specs: ["INFO; REQUIRED:chain; TRACE:chain"],
      chain: 10,
      rpc: NOTHING,
      says: "does not depend on the order of the clauses",
    },
    {
      specs: ["INFO; REQUIRED:none; DISABLED:none"],
      chain: 30,
      rpc: 30,
      says: "accepts none as the empty list of topics",
    },
    {
      specs: ["INFO; TRACE:chain", "WARN"],
      chain: 10,
      rpc: 40,
      says: "keeps the settings of topics that are not named",
    },
    {
      specs: ["INFO; DISABLED:chain,rpc", "INFO; DEBUG:rpc"],
      chain: NOTHING,
      rpc: 20,
      says: "resets a named topic",
    },
    {
      specs: ["INFO; REQUIRED:chain", "INFO; REQUIRED:none"],
      chain: 30,
      rpc: 30,
      says: "clears REQUIRED with none",
    },
    { specs: ["INFO; DISABLED:rpc", "INFO; DISABLED:NONE"], chain: 30, rpc: 30, says: "clears DISABLED with none" },
    {
      specs: ["INFO; TRACE:rpc", "INFO; TRACE:none"],
      chain: 30,
      rpc: 30,
      says: "clears the level of a topic with none",
    },
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

  it("accepts every topic with a level and a state within the length limit", () => {
    const topics = LOG_TOPICS.join(",");
    const filter = parseLogSpec(`INFO; TRACE:${topics}; REQUIRED:${topics}`);
    for (const topic of LOG_TOPICS) expect(topicThreshold(filter, topic)).toBe(LEVEL_VALUES.trace);
  });

  const malformed: [spec: string, message: RegExp][] = [
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
    ["INFO; REQUIRED:none,chain", /Write "none" alone/],
    ["INFO; TRACE:rpc,chian", /unknown topic "chian". Did you mean "chain"\? The topics are node, chain,/],
    ["INFO; DISABLED:everything", /unknown topic "everything". The topics are node, chain,/],
    [`INFO; TRACE:${"chain,".repeat(200)}rpc`, /1215 characters. The limit is 1000/],
  ];
  for (const [spec, message] of malformed) {
    it(`rejects ${JSON.stringify(spec)}`, () => {
      expect(() => parseLogSpec(spec)).toThrow(LogSpecError);
      expect(() => parseLogSpec(spec)).toThrow(message);
    });
  }
});
