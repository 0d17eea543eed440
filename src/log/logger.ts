export const LOG_LEVELS = ["trace", "debug", "info", "notice", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Topics of log records. */
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

/** Writes records for one topic. `topic` returns the logger for another topic. */
export type Logger = Record<LogLevel, LogMethod> & {
  topic(name: LogTopic): Logger;
};
