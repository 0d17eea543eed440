import { pino } from "pino";
import { LineWriter } from "./line-writer.ts";
import { applyLogSpec, DEFAULT_SELECTION, LEVEL_VALUES, type LogSelection, topicThreshold } from "./log-spec.ts";
import { plainLogValue } from "./log-value.ts";
import { LOG_LEVELS, LOG_TOPICS, type LogFields, type Logger, type LogLevel, type LogTopic } from "./logger.ts";
import { type LogFile, RotatingFile } from "./rotating-file.ts";
import { standardOutput } from "./standard-output.ts";
import { formatText, type LogRecord } from "./text-format.ts";

export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Where finished lines go. */
interface LogDestination {
  write(record: string): void;
  flush?(): void;
}

interface LoggerOptions {
  format: LogFormat;
  /** A log specification such as `INFO` or `DEBUG; TRACE:chain; DISABLED:rpc`. */
  spec: string;
  /** Standard output unless given. */
  destination?: LogDestination;
  /** Where everything is written, too. */
  file?: LogFile;
  /** Only the text format has colours. By default they are used on a terminal unless NO_COLOR is set. */
  colour?: boolean;
  now?: () => Date;
}

/** The logger, and the handle by which its selection is changed while the program runs. */
export interface LogControl {
  logger: Logger;
  /** Ignores unknown topics with a warning. Throws a `LogSpecError` and changes nothing if the specification is malformed. */
  setSpec(spec: string): void;
  /** Writes what waits for its readers, as far as they take it within a moment. Nothing is to be logged after it. */
  flush(): void;
}

/** The topic of records made by a logger nobody asked for a topic of its own. */
const ROOT_TOPIC: LogTopic = "node";

type Sink = (record: LogRecord) => void;

/** These names belong to the record itself; a field of the same name is written with an underscore before it. */
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

function terminalWantsColour(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR;
}

/** The threshold of one topic, kept ready so that a record nobody wants costs one comparison. */
interface TopicGate {
  threshold: number;
  logger: Logger;
}

/** Throws the system's error when the log file cannot be opened. */
export function createLogger(options: LoggerOptions): LogControl {
  const { format, file } = options;
  const now = options.now ?? (() => new Date());
  const tellDropped = (what: string) => (records: number) =>
    root.warn(`Records were dropped because ${what}`, { records });
  const console: LogDestination =
    options.destination ?? new LineWriter(standardOutput(), tellDropped("nobody read the log"));
  const colour = options.colour ?? (options.destination === undefined && terminalWantsColour());
  const destinations = [console];
  const sinks = [sinkTo(console, format, colour)];
  if (file) {
    const writer = new LineWriter(new RotatingFile(file), tellDropped("the log file could not be written"));
    destinations.push(writer);
    sinks.push(sinkTo(writer, format, false));
  }

  let selection: LogSelection = applyLogSpec(DEFAULT_SELECTION, options.spec);
  const gates = new Map<LogTopic, TopicGate>();

  function topicLogger(topic: LogTopic): Logger {
    const known = gates.get(topic);
    if (known !== undefined) return known.logger;
    const methodOf = (level: LogLevel) => (message: string, fields?: LogFields) => {
      if (LEVEL_VALUES[level] < gate.threshold) return;
      const record = { time: now(), level, topic, message, fields };
      for (const sink of sinks) sink(record);
    };
    const methods = Object.fromEntries(LOG_LEVELS.map((level) => [level, methodOf(level)]));
    const logger = { ...methods, topic: topicLogger } as Logger;
    const gate: TopicGate = { threshold: topicThreshold(selection, topic), logger };
    gates.set(topic, gate);
    return logger;
  }

  const root = topicLogger(ROOT_TOPIC);
  return {
    logger: root,
    setSpec(spec) {
      const unknown: string[] = [];
      selection = applyLogSpec(selection, spec, (topic) => unknown.push(topic));
      for (const [topic, gate] of gates) gate.threshold = topicThreshold(selection, topic);
      if (unknown.length > 0) root.warn("Ignored unknown log topics", { unknown, topics: LOG_TOPICS });
    },
    flush() {
      for (const destination of destinations) destination.flush?.();
    },
  };
}
