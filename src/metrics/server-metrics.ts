import type { Lanes } from "../api/lanes.ts";
import type { ServerLoad } from "../server/http/server.ts";
import type { Instruments } from "./instruments.ts";

/** Servers of which is known what they had under way when they were last asked. */
export interface WatchedServers {
  /** By the names of the servers. */
  readonly loads: Iterable<readonly [server: string, load: ServerLoad]>;
  /** How late the event loop of their thread was, in seconds; undefined when they have none of their own. */
  readonly lag: Readonly<Record<"p50" | "p99" | "max", number>> | undefined;
  /** Asks them. */
  refresh(): Promise<void>;
}

export function addServerMetrics(instruments: Instruments, servers: () => WatchedServers | undefined): void {
  const loads = () => servers()?.loads ?? [];
  const each = (read: (load: ServerLoad) => number) => () =>
    Array.from(loads(), ([server, load]) => [{ server }, read(load)] as const);
  instruments.gauges(
    "fanal_server_connections",
    "Connections to a server, those of WebSocket included",
    ["server"],
    each(({ connections }) => connections),
  );
  instruments.gauges(
    "fanal_server_open_requests",
    "HTTP requests that are not wholly answered, event streams included",
    ["server"],
    each(({ requests }) => requests),
  );
  instruments.gauges(
    "fanal_server_request_bytes",
    "Bytes held of large requests that are not answered yet",
    ["server"],
    each(({ requestBytes }) => requestBytes),
  );
  instruments.gauges(
    "fanal_server_answer_bytes",
    "Bytes held of large answers that are not read yet",
    ["server"],
    each(({ answerBytes }) => answerBytes),
  );
  instruments.totals(
    "fanal_server_refused_total",
    "Connections and requests that were refused because a limit of the server was reached",
    ["server", "limit"],
    () =>
      Array.from(loads(), ([server, { refused }]) =>
        Object.entries(refused).map(([limit, count]) => [{ server, limit }, count] as const),
      ).flat(),
  );
  const lag = (which: "p50" | "p99" | "max", meaning: string) =>
    instruments.gauge(`fanal_servers_eventloop_lag_${which}_seconds`, meaning, () => servers()?.lag?.[which] ?? 0);
  lag("p50", "The median delay of the event loop of the servers' thread since it was last looked at");
  lag("p99", "The 99th percentile of these delays");
  lag("max", "The largest of these delays");
}

export function addLaneMetrics(instruments: Instruments, lanes: Lanes): void {
  const each = (read: "running" | "waiting" | "refused") => () => {
    const { duty, heavy } = lanes.load;
    return [[{ lane: "duty" }, duty[read]] as const, [{ lane: "heavy" }, heavy[read]] as const];
  };
  instruments.gauges("fanal_api_lane_running", "Costly calls that are worked on", ["lane"], each("running"));
  instruments.gauges("fanal_api_lane_waiting", "Costly calls that wait for their turn", ["lane"], each("waiting"));
  instruments.totals(
    "fanal_api_lane_refused_total",
    "Costly calls that were refused because too many waited",
    ["lane"],
    each("refused"),
  );
  instruments.gauge(
    "fanal_api_streams",
    "Large answers that are on their way to their readers",
    () => lanes.load.streams,
  );
}

export function addEventMetrics(
  instruments: Instruments,
  events: { subscribers(): ReadonlyMap<string, number> },
): void {
  instruments.gauges("fanal_event_subscribers", "Subscriptions to events", ["topic"], () =>
    Array.from(events.subscribers(), ([topic, count]) => [{ topic }, count] as const),
  );
}
