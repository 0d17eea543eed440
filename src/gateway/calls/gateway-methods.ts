import type { MethodDefinition } from "../../api/definition.ts";
import { loadRecordedCalls, type MethodGroup, openRpcDocument } from "../../api/openrpc.ts";
import { unsupported } from "../../errors/failure.ts";
import { encodeJson } from "../../json/encode.ts";
import { VERSION } from "../../runtime/version.ts";
import type { Caller, MethodResponse } from "../../server/method-table.ts";
import type { GatewayEvents } from "../events/gateway-events.ts";
import { describeState, unmetQuorum } from "../upstream/selection/no-upstream-error.ts";
import { type HealthTracker, isUsable, type UpstreamHealth } from "../upstream/upstream-health.ts";
import type { ComposedHandler } from "./composed-methods.ts";

interface GatewayMethodsDeps {
  readonly health: HealthTracker;
  readonly events: GatewayEvents;
  /** Number of upstreams that must be usable. */
  quorum(): number;
  /** True while the gateway shuts down. */
  isClosing(): boolean;
  /** Methods listed by `rpc.discover`. */
  readonly groups: readonly MethodGroup[];
}

/** Handlers of the methods that a gateway answers itself, by method name. */
export function gatewayMethods({
  health,
  events,
  quorum,
  isClosing,
  groups,
}: GatewayMethodsDeps): Readonly<Record<string, ComposedHandler>> {
  let description: Buffer | undefined;
  return {
    getReadiness: async () => jsonAnswer(readiness(health.all, { quorum: quorum(), isClosing: isClosing() })),
    async get_v1_node_health({ syncingStatus = SYNCING }) {
      const status = healthStatus(health.all, quorum());
      return jsonAnswer({ health: status === SYNCING ? syncingStatus : status });
    },
    async subscribe({ topics }, { caller }) {
      return jsonAnswer(await requireCaller(caller).subscribe(events.feed(topics as string[])));
    },
    async unsubscribe({ subscription }, { caller }) {
      return jsonAnswer(await requireCaller(caller).unsubscribe(subscription as string));
    },
    async "rpc.discover"() {
      description ??= encodeJson(openRpcDocument(groups, VERSION, await loadRecordedCalls()));
      return { body: description };
    },
  };
}

const SYNCING = 206;

/** Returns the status of `/eth/v1/node/health`: 200 ready, 206 syncing, 503 not available. */
export function healthStatus(health: readonly UpstreamHealth[], quorum: number): number {
  if (health.filter(isUsable).length < quorum) return 503;
  if (health.some(({ state }) => state === "ready")) return 200;
  return health.some(({ state }) => state === "behind") ? SYNCING : 503;
}

/**
 * Returns the result of `getReadiness`, with the health of each upstream. A gateway is ready if one upstream is ready
 * and enough of them are usable for a quorum. Otherwise, `reasons` contains the causes as sentences.
 */
export function readiness(health: readonly UpstreamHealth[], options: { quorum: number; isClosing: boolean }) {
  const { quorum, isClosing } = options;
  const usable = health.filter(isUsable);
  const isReady = health.some(({ state }) => state === "ready");
  const reasons = [
    isClosing ? "The gateway is shutting down." : [],
    usable.length < quorum && quorum > 1 ? unmetQuorum(quorum, health) : isReady ? [] : noUpstreamReady(health),
  ].flat();
  return {
    ready: reasons.length === 0,
    ...(reasons.length > 0 && { reasons }),
    warmed_up: true,
    synced: isReady,
    database_writable: true,
    execution_online: usable.some(({ isExecutionOffline }) => !isExecutionOffline),
    upstreams: health.map(({ upstream, state, reasons }) => ({ upstream, condition: state, reasons })),
  };
}

function noUpstreamReady(health: readonly UpstreamHealth[]): string {
  return ["No upstream is ready.", ...health.map(describeState)].join(" ");
}

function jsonAnswer(value: unknown): MethodResponse {
  return { body: encodeJson(value) };
}

function requireCaller(caller: Caller | undefined): Caller {
  if (!caller) throw unsupported("Events are not available on this transport.");
  return caller;
}

/** Returns why a gateway does not serve a method, or undefined if it does. */
export function unsupportedReason({ name, access, needsEvm }: MethodDefinition): string | undefined {
  if (needsEvm) return `${name} needs the EVM of a dev chain, which a gateway lacks. Call the dev node directly.`;
  if (access !== "dev") return undefined;
  return `${name} is only available on dev chains, not on a gateway. Call the dev node directly.`;
}
