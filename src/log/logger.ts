export const LOG_LEVELS = ["trace", "debug", "info", "notice", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What records are about; a logger of the program has one of these. */
export const LOG_TOPICS = [
  "node",
  "chain",
  "execution",
  "validators",
  "rpc",
  "rest",
  "peers",
  "gossip",
  "sync",
  "discovery",
  "eth1",
] as const;
export type LogTopic = (typeof LOG_TOPICS)[number];

export type LogFields = Record<string, unknown>;
type LogMethod = (message: string, fields?: LogFields) => void;

/** A record belongs to one topic, by which log specifications select it. */
export type Logger = Record<LogLevel, LogMethod> & {
  topic(name: LogTopic): Logger;
};
