import { pino } from "pino";
import { LineWriter } from "./line-writer.ts";
import { applyLogSpec, DEFAULT_LOG_FILTER, LEVEL_VALUES, type LogFilter, topicThreshold } from "./log-spec.ts";
import { plainLogValue } from "./log-value.ts";
import { LOG_LEVELS, LOG_TOPICS, type LogFields, type Logger, type LogLevel, type LogTopic } from "./logger.ts";
import { type LogFile, RotatingFile } from "./rotating-file.ts";
import { standardOutput } from "./standard-output.ts";
import { formatText, type LogRecord } from "./text-format.ts";

export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Receives formatted records. */
interface LogDestination {
  write(record: string): void;
  flush?(): void;
}

interface LoggerOptions {
  format: LogFormat;
  /** A log specification such as `INFO` or `DEBUG; TRACE:chain; DISABLED:rpc`. */
  spec: string;
  /** Standard output by default. */
  destination?: LogDestination;
  /** Log file to write in addition to the destination. */
  file?: LogFile;
  /** True if a person reads the console. Defaults to whether standard output is a terminal. */
  isTerminal?: boolean;
  /** Whether the text format uses colours. On by default for a terminal, unless NO_COLOR is set. */
  colour?: boolean;
  now?: () => Date;
}

/** A logger whose filter can be changed at runtime. */
export interface LogControl {
  logger: Logger;
  /** Applies a log specification. Warns about unknown topics. Throws a `LogSpecError` if it is malformed. */
  setSpec(spec: string): void;
  /**
   * Prints text to the terminal if it shows notices as text. Otherwise returns false, and the notice is logged instead.
   */
  print(text: string): boolean;
  /** Writes buffered records before the process exits, up to a timeout. */
  flush(): void;
}

/** Topic of the root logger. */
const ROOT_TOPIC: LogTopic = "node";

type Sink = (record: LogRecord) => void;

/** Keys of the record itself. A field with the same name gets the prefix `_`. */
const RECORD_KEYS = new Set(["level", "time", "topic", "msg"]);

function jsonFields(topic: string, fields: LogFields | undefined): Record<string, unknown> {
  const plain: Record<string, unknown> = { topic };
  for (const [key, value] of Object.entries(fields ?? {})) {
    plain[RECORD_KEYS.has(key) ? `_${key}` : key] = plainLogValue(value);
  }
  return plain;
}

function jsonSink(destination: LogDestination): Sink {
  let time = new Date(0);
  const writer = pino(
    {
      base: null,
      level: "trace",
      customLevels: { notice: LEVEL_VALUES.notice },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${time.toISOString()}"`,
      serializers: {},
    },
    destination,
  );
  return (record) => {
    time = record.time;
    writer[record.level](jsonFields(record.topic, record.fields), record.message);
  };
}

function textSink(destination: LogDestination, colour: boolean): Sink {
  return (record) => destination.write(formatText(record, colour));
}

function sinkTo(destination: LogDestination, format: LogFormat, colour: boolean): Sink {
  return format === "json" ? jsonSink(destination) : textSink(destination, colour);
}

/** A topic's logger with its cached threshold: a suppressed record costs one comparison. */
interface TopicLogger {
  threshold: number;
  logger: Logger;
}

/** Creates the root logger. Throws the system's error if the log file cannot be opened. */
export function createLogger(options: LoggerOptions): LogControl {
  const { format, file } = options;
  const now = options.now ?? (() => new Date());
  const console: LogDestination =
    options.destination ??
    new LineWriter(standardOutput(), (records) => root.warn("Log records dropped, output blocked", { records }));
  const isTerminal = options.isTerminal ?? (options.destination === undefined && process.stdout.isTTY === true);
  const colour = options.colour ?? (isTerminal && !process.env.NO_COLOR);
  const destinations = [console];
  const sinks = [sinkTo(console, format, colour)];
  if (file) {
    const writer = new LineWriter(new RotatingFile(file), (records) =>
      root.warn("Log records dropped, log file not writable", { records }),
    );
    destinations.push(writer);
    sinks.push(sinkTo(writer, format, false));
  }

  let filter: LogFilter = applyLogSpec(DEFAULT_LOG_FILTER, options.spec);
  const topics = new Map<LogTopic, TopicLogger>();

  function topicLogger(topic: LogTopic): Logger {
    const existing = topics.get(topic);
    if (existing !== undefined) return existing.logger;
    const methodOf = (level: LogLevel) => (message: string, fields?: LogFields) => {
      if (LEVEL_VALUES[level] < entry.threshold) return;
      const record = { time: now(), level, topic, message, fields };
      for (const sink of sinks) sink(record);
    };
    const methods = Object.fromEntries(LOG_LEVELS.map((level) => [level, methodOf(level)]));
    const logger = { ...methods, topic: topicLogger } as Logger;
    const entry: TopicLogger = { threshold: topicThreshold(filter, topic), logger };
    topics.set(topic, entry);
    return logger;
  }

  const root = topicLogger(ROOT_TOPIC);
  return {
    logger: root,
    setSpec(spec) {
      const unknown: string[] = [];
      filter = applyLogSpec(filter, spec, (topic) => unknown.push(topic));
      for (const [topic, entry] of topics) entry.threshold = topicThreshold(filter, topic);
      if (unknown.length > 0) root.warn("Ignored unknown log topics", { unknown, topics: LOG_TOPICS });
    },
    print(text) {
      if (!isTerminal || format === "json" || topicThreshold(filter, ROOT_TOPIC) > LEVEL_VALUES.notice) return false;
      console.write(`${text}\n`);
      return true;
    },
    flush() {
      for (const destination of destinations) destination.flush?.();
    },
  };
}
