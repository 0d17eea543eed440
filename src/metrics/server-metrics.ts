import type { EventStream } from "../api/event-stream.ts";
import type { Lanes } from "../api/lanes.ts";
import type { ServerLoad } from "../server/http/server.ts";
import type { Instruments } from "./instruments.ts";

/** The servers that are watched, by name. */
export type WatchedServers = ReadonlyMap<string, { load(): ServerLoad }>;

export function addServerMetrics(instruments: Instruments, servers: WatchedServers): void {
  const each = (read: (load: ServerLoad) => number) => () =>
    Array.from(servers, ([server, { load }]) => [{ server }, read(load())] as const);
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
      Array.from(servers, ([server, { load }]) =>
        Object.entries(load().refused).map(([limit, count]) => [{ server, limit }, count] as const),
      ).flat(),
  );
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

export function addEventMetrics(instruments: Instruments, events: Pick<EventStream, "subscribers">): void {
  instruments.gauges("fanal_event_subscribers", "Subscriptions to events", ["topic"], () =>
    Array.from(events.subscribers(), ([topic, count]) => [{ topic }, count] as const),
  );
}
