import type { Lanes } from "../api/lanes.ts";
import type { ServerLoad } from "../server/http/server.ts";
import type { LaneLoad } from "../server/lane.ts";
import type { Instruments } from "./instruments.ts";

/** The most recently reported server load. */
export interface WatchedServers {
  /** Load by server name. */
  readonly loads: Iterable<readonly [server: string, load: ServerLoad]>;
  /** Event loop lag of the server thread in seconds. Undefined if the servers have no thread of their own. */
  readonly lag: Readonly<Record<"p50" | "p99" | "max", number>> | undefined;
  /** Load from EVM calls that bypass the main thread. */
  readonly directLoad?: LaneLoad | undefined;
  /** Fetches the current load. */
  refresh(): Promise<void>;
}

export function addServerMetrics(instruments: Instruments, servers: () => WatchedServers | undefined): void {
  const loads = () => servers()?.loads ?? [];
  const each = (read: (load: ServerLoad) => number) => () =>
    Array.from(loads(), ([server, load]) => [{ server }, read(load)] as const);
  instruments.gauges(
    "fanal_server_connections",
    "Open connections, including WebSocket",
    ["server"],
    each(({ connections }) => connections),
  );
  instruments.gauges(
    "fanal_server_open_requests",
    "HTTP requests in flight, including event streams",
    ["server"],
    each(({ requests }) => requests),
  );
  instruments.gauges(
    "fanal_server_request_bytes",
    "Buffered bytes of large requests in flight",
    ["server"],
    each(({ requestBytes }) => requestBytes),
  );
  instruments.gauges(
    "fanal_server_answer_bytes",
    "Buffered bytes of large responses",
    ["server"],
    each(({ responseBytes }) => responseBytes),
  );
  instruments.totals(
    "fanal_server_refused_total",
    "Connections and requests rejected by a limit of the server",
    ["server", "limit"],
    () =>
      Array.from(loads(), ([server, { refused }]) =>
        Object.entries(refused).map(([limit, count]) => [{ server, limit }, count] as const),
      ).flat(),
  );
  const lag = (which: "p50" | "p99" | "max", meaning: string) =>
    instruments.gauge(`fanal_servers_eventloop_lag_${which}_seconds`, meaning, () => servers()?.lag?.[which] ?? 0);
  lag("p50", "Median event loop lag of the server thread since the last scrape");
  lag("p99", "99th percentile of the event loop lag of the server thread since the last scrape");
  lag("max", "Maximum event loop lag of the server thread since the last scrape");
}

export function addLaneMetrics(
  instruments: Instruments,
  lanes: Lanes,
  servers: () => Pick<WatchedServers, "directLoad"> | undefined,
): void {
  const each = (read: keyof LaneLoad) => () => {
    const { load } = lanes;
    const direct = servers()?.directLoad?.[read] ?? 0;
    return (["duty", "heavy", "evm"] as const).map(
      (lane) => [{ lane }, load[lane][read] + (lane === "evm" ? direct : 0)] as const,
    );
  };
  instruments.gauges("fanal_api_lane_running", "Expensive calls that are running", ["lane"], each("running"));
  instruments.gauges("fanal_api_lane_waiting", "Expensive calls that are queued", ["lane"], each("waiting"));
  instruments.totals(
    "fanal_api_lane_refused_total",
    "Expensive calls rejected because the queue was full",
    ["lane"],
    each("rejected"),
  );
  instruments.gauge("fanal_api_streams", "Large responses that are being streamed", () => lanes.load.streams);
}

export function addEventMetrics(
  instruments: Instruments,
  events: { subscribers(): ReadonlyMap<string, number> },
): void {
  instruments.gauges("fanal_event_subscribers", "Event subscriptions", ["topic"], () =>
    Array.from(events.subscribers(), ([topic, count]) => [{ topic }, count] as const),
  );
}
