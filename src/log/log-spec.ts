import { nearestName } from "../errors/nearest-name.ts";
import { LOG_LEVELS, LOG_TOPICS, type LogLevel, type LogTopic } from "./logger.ts";

/** Numeric severity, on pino's scale. */
export const LEVEL_VALUES: Readonly<Record<LogLevel, number>> = {
  trace: 10,
  debug: 20,
  info: 30,
  notice: 35,
  warn: 40,
  error: 50,
  fatal: 60,
};

type TopicState = "normal" | "required" | "disabled";

interface TopicSetting {
  /** Undefined if the global level applies. */
  readonly level: LogLevel | undefined;
  readonly state: TopicState;
}

/** Determines which records are written: the global level and the settings of individual topics. */
export interface LogFilter {
  readonly level: LogLevel;
  readonly topics: ReadonlyMap<LogTopic, TopicSetting>;
}

export const DEFAULT_LOG_FILTER: LogFilter = { level: "info", topics: new Map() };

/** Thrown for a malformed log specification. The previous filter stays in effect. */
export class LogSpecError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "LogSpecError";
  }
}

type ClauseKey = LogLevel | "required" | "disabled";

interface Clause {
  key: ClauseKey;
  topics: LogTopic[] | "none";
}

/** Called for each unknown topic. May throw. */
type OnUnknownTopic = (topic: string) => void;

const LEVEL_LIST = LOG_LEVELS.map((level) => level.toUpperCase()).join(", ");
const TOPIC = /^[^\s,:;]+$/;
const MAX_SPEC_LENGTH = 1000;

function isLevel(word: string): word is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(word);
}

function parseClause(part: string, onUnknownTopic: OnUnknownTopic): Clause {
  const colon = part.indexOf(":");
  if (colon === -1) {
    throw new LogSpecError(`The part "${part}" of the log specification has no colon. Write it as KEY:topic,topic.`);
  }
  const keyText = part.slice(0, colon).trim();
  const key = keyText.toLowerCase();
  if (!isLevel(key) && key !== "required" && key !== "disabled") {
    throw new LogSpecError(
      `The log specification has the unknown key "${keyText}". Use ${LEVEL_LIST}, REQUIRED or DISABLED.`,
    );
  }
  const words = part
    .slice(colon + 1)
    .split(",")
    .map((topic) => topic.trim());
  if (words.length === 1 && words[0]?.toLowerCase() === "none") return { key, topics: "none" };
  const topics = words.filter((topic): topic is LogTopic => {
    if (!TOPIC.test(topic)) {
      throw new LogSpecError(
        `The part "${part}" of the log specification has the invalid topic "${topic}". Separate topics by commas.`,
      );
    }
    if (topic.toLowerCase() === "none") {
      throw new LogSpecError(
        `The part "${part}" of the log specification mixes "none" with topics. Write "none" alone.`,
      );
    }
    if (isTopic(topic)) return true;
    onUnknownTopic(topic);
    return false;
  });
  return { key, topics };
}

function isTopic(word: string): word is LogTopic {
  return (LOG_TOPICS as readonly string[]).includes(word);
}

function rejectUnknownTopic(word: string): never {
  const nearest = nearestName(word, LOG_TOPICS);
  const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
  throw new LogSpecError(
    `The log specification has the unknown topic "${word}".${hint} The topics are ${LOG_TOPICS.join(", ")}.`,
  );
}

/** Applies `KEY:none`, which removes the setting from every topic. */
function withoutSetting(setting: TopicSetting, key: ClauseKey): TopicSetting {
  if (key === "required" || key === "disabled") {
    return setting.state === key ? { ...setting, state: "normal" } : setting;
  }
  return setting.level === key ? { ...setting, level: undefined } : setting;
}

/**
 * Applies a specification such as `DEBUG; TRACE:chain,rpc; REQUIRED:chain; DISABLED:none` to a filter. Replaces the
 * global level and resets the topics named in the specification. Other topics keep their settings. Unknown topics are
 * an error unless `onUnknownTopic` accepts them.
 */
export function applyLogSpec(
  current: LogFilter,
  spec: string,
  onUnknownTopic: OnUnknownTopic = rejectUnknownTopic,
): LogFilter {
  if (spec.length > MAX_SPEC_LENGTH) {
    throw new LogSpecError(`The log specification has ${spec.length} characters. The limit is ${MAX_SPEC_LENGTH}.`);
  }
  const [levelText = "", ...parts] = spec.split(";").map((part) => part.trim());
  const level = levelText.toLowerCase();
  if (!isLevel(level)) {
    throw new LogSpecError(
      `The log specification starts with "${levelText}". It must start with a level: ${LEVEL_LIST}.`,
    );
  }
  const clauses = parts.map((part) => parseClause(part, onUnknownTopic));

  const topics = new Map(current.topics);
  for (const clause of clauses) {
    if (clause.topics === "none") {
      for (const [topic, setting] of topics) topics.set(topic, withoutSetting(setting, clause.key));
      continue;
    }
    for (const topic of clause.topics) topics.delete(topic);
  }
  for (const { key, topics: named } of clauses) {
    if (named === "none") continue;
    for (const topic of named) {
      const setting = topics.get(topic) ?? { level: undefined, state: "normal" };
      topics.set(topic, isLevel(key) ? { ...setting, level: key } : { ...setting, state: key });
    }
  }
  return { level, topics };
}

/** Parses a log specification. Throws a `LogSpecError` if it is malformed. */
export function parseLogSpec(spec: string): LogFilter {
  return applyLogSpec(DEFAULT_LOG_FILTER, spec);
}

/** Returns the lowest severity written for a topic, or `Infinity` for a muted topic. */
export function topicThreshold(filter: LogFilter, topic: LogTopic): number {
  const setting = filter.topics.get(topic);
  const state = setting?.state ?? "normal";
  if (state === "disabled") return Number.POSITIVE_INFINITY;
  if (state !== "required") {
    for (const other of filter.topics.values()) {
      if (other.state === "required") return Number.POSITIVE_INFINITY;
    }
  }
  return LEVEL_VALUES[setting?.level ?? filter.level];
}
