import { nearestName } from "../errors/nearest-name.ts";
import { LOG_LEVELS, LOG_TOPICS, type LogLevel, type LogTopic } from "./logger.ts";

/** Severity as a number, spaced as pino spaces its own levels so that the two orders never disagree. */
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
  /** Undefined: the topic follows the level of the whole log. */
  readonly level: LogLevel | undefined;
  readonly state: TopicState;
}

/** Which records are written: the level of the whole log and what was said about single topics. */
export interface LogSelection {
  readonly level: LogLevel;
  readonly topics: ReadonlyMap<LogTopic, TopicSetting>;
}

export const DEFAULT_SELECTION: LogSelection = { level: "info", topics: new Map() };

/** The log specification cannot be read; whatever was selected before stays selected. */
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

/** Takes a topic that does not exist. It may throw. */
type OnUnknownTopic = (topic: string) => void;

const LEVEL_LIST = LOG_LEVELS.map((level) => level.toUpperCase()).join(", ");
const TOPIC = /^[^\s,:;]+$/;
/** Every topic at a level of its own takes a sixth of it. */
const LONGEST_SPEC = 1000;

function isLevel(word: string): word is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(word);
}

function parseClause(part: string, onUnknownTopic: OnUnknownTopic): Clause {
  const colon = part.indexOf(":");
  if (colon === -1) {
    throw new LogSpecError(
      `The part "${part}" of the log specification has no colon; a part after the first is written KEY:topic,topic.`,
    );
  }
  const keyText = part.slice(0, colon).trim();
  const key = keyText.toLowerCase();
  if (!isLevel(key) && key !== "required" && key !== "disabled") {
    throw new LogSpecError(
      `The word "${keyText}" in the log specification is not known; before a colon stands one of ${LEVEL_LIST}, REQUIRED or DISABLED.`,
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
        `The part "${part}" of the log specification names the topic "${topic}"; a topic is a word, and several are separated by commas.`,
      );
    }
    if (topic.toLowerCase() === "none") {
      throw new LogSpecError(
        `The part "${part}" of the log specification mixes "none" with topics; "none" stands alone.`,
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

function refuseUnknownTopic(word: string): never {
  const nearest = nearestName(word, LOG_TOPICS);
  const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
  throw new LogSpecError(
    `The log specification names the unknown topic "${word}".${hint} The topics are ${LOG_TOPICS.join(", ")}.`,
  );
}

/** `KEY:none` says that no topic has that setting, so it is taken away wherever it was. */
function withoutSetting(setting: TopicSetting, key: ClauseKey): TopicSetting {
  if (key === "required" || key === "disabled") {
    return setting.state === key ? { ...setting, state: "normal" } : setting;
  }
  return setting.level === key ? { ...setting, level: undefined } : setting;
}

/**
 * Applies a specification such as `DEBUG; TRACE:chain,rpc; REQUIRED:chain; DISABLED:none` on top of what is selected.
 * The level of the whole log is always replaced. A topic that the specification names starts afresh; every other topic
 * keeps its earlier setting. An unknown topic is refused unless `onUnknownTopic` accepts it.
 */
export function applyLogSpec(
  current: LogSelection,
  spec: string,
  onUnknownTopic: OnUnknownTopic = refuseUnknownTopic,
): LogSelection {
  if (spec.length > LONGEST_SPEC) {
    throw new LogSpecError(`The log specification has ${spec.length} characters; it may have ${LONGEST_SPEC} at most.`);
  }
  const [levelText = "", ...parts] = spec.split(";").map((part) => part.trim());
  const level = levelText.toLowerCase();
  if (!isLevel(level)) {
    throw new LogSpecError(
      `The log specification starts with "${levelText}", which is not a level; it must start with one of ${LEVEL_LIST}.`,
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

/** Throws a `LogSpecError` when the specification cannot be read. */
export function parseLogSpec(spec: string): LogSelection {
  return applyLogSpec(DEFAULT_SELECTION, spec);
}

/** The lowest severity that is written for a topic; `Infinity` when nothing of it is. */
export function topicThreshold(selection: LogSelection, topic: LogTopic): number {
  const setting = selection.topics.get(topic);
  const state = setting?.state ?? "normal";
  if (state === "disabled") return Number.POSITIVE_INFINITY;
  if (state !== "required") {
    for (const other of selection.topics.values()) {
      if (other.state === "required") return Number.POSITIVE_INFINITY;
    }
  }
  return LEVEL_VALUES[setting?.level ?? selection.level];
}
