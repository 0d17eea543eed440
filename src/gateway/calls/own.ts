import type { Method } from "../../api/definition.ts";
import { type MethodGroup, openRpcDocument } from "../../api/openrpc.ts";
import { unsupported } from "../../errors/failure.ts";
import { encodeJson } from "../../json/encode.ts";
import { VERSION } from "../../runtime/version.ts";
import type { Answer, Caller } from "../../server/method-table.ts";
import type { Condition, Conditions } from "../condition.ts";
import type { GatewayEvents } from "../events.ts";
import type { Composition } from "./composed.ts";

interface OwnParts {
  readonly conditions: Conditions;
  readonly events: GatewayEvents;
  /** Whether nothing more is accepted. */
  isClosing(): boolean;
  /** What is served. */
  readonly groups: readonly MethodGroup[];
}

/** By their names, the methods that a gateway answers by what it knows itself. */
export function ownMethods({ conditions, events, isClosing, groups }: OwnParts): Readonly<Record<string, Composition>> {
  let description: Buffer | undefined;
  return {
    getReadiness: async () => told(readinessOf(conditions.all, isClosing())),
    async subscribe({ topics }, { caller }) {
      return told(await reachable(caller).subscribe(events.feed(topics as string[])));
    },
    async unsubscribe({ subscription }, { caller }) {
      return told(await reachable(caller).unsubscribe(subscription as string));
    },
    async "rpc.discover"() {
      description ??= encodeJson(openRpcDocument(groups, VERSION));
      return { body: description };
    },
  };
}

/** Returns the status that the standard has for a node in the gateway's condition: ready, syncing or without a chain. */
export function healthOf(conditions: readonly Condition[]): number {
  if (conditions.some(({ fitness }) => fitness === "ready")) return 200;
  return conditions.some(({ fitness }) => fitness === "behind") ? 206 : 503;
}

/** Whether a gateway can be relied upon: in the words of a node, and with what is wrong with its upstreams. */
export function readinessOf(conditions: readonly Condition[], isClosing: boolean) {
  const asked = conditions.filter(({ fitness }) => fitness === "ready" || fitness === "behind");
  const isReady = conditions.some(({ fitness }) => fitness === "ready");
  return {
    ready: isReady && !isClosing,
    warmed_up: true,
    synced: isReady,
    database_writable: true,
    execution_online: asked.some(({ isExecutionOffline }) => !isExecutionOffline),
    upstreams: conditions.map(({ upstream, fitness, reasons }) => ({ upstream, fitness, reasons })),
  };
}

function told(value: unknown): Answer {
  return { body: encodeJson(value) };
}

function reachable(caller: Caller | undefined): Caller {
  if (!caller) throw unsupported("Events are not delivered here.");
  return caller;
}

/** Why a gateway does not serve a method; undefined when it does. */
export function refusalOf({ name, access }: Method): string | undefined {
  if (access !== "dev") return undefined;
  return `${name} is for dev chains, and a gateway has none of its own: call it at the node that has.`;
}
