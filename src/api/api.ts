import type { BeaconConfig } from "@lodestar/config";
import { type Broadcast, NO_BROADCAST } from "../network/broadcast.ts";
import { clientVersion } from "../runtime/version.ts";
import { withFailures } from "./chain-failures.ts";
import type { Family } from "./codecs.ts";
import type { ApiContext, NodeHealth } from "./context.ts";
import type { DevControl } from "./dev-control.ts";
import { createEventStream } from "./event-stream.ts";
import { methods, type typedMethods } from "./method-groups.ts";

/** Dependencies of the API. */
interface ApiDependencies extends Pick<ApiContext, "chain" | "network" | "setLogSpec" | "futures"> {
  /** Omitted if the node has no network. */
  broadcast?: Broadcast;
  /** Omitted if the node is always healthy. */
  health?: NodeHealth;
  /** Omitted if there is no dev chain. Evaluated for each call, because the dev chain is created after its API. */
  control?(): DevControl | undefined;
  /** Omitted if there is no EVM. Evaluated for each call, like `control`. */
  eth?(): ApiContext["eth"];
}

const HEALTHY: NodeHealth = { isWarmedUp: true, isDatabaseWritable: true, executionClient: null };

/** Handlers by their operation in @lodestar/api, for in-process callers. */
type Handlers = { readonly [F in Family]: HandlersOf<F> };

type Operation = (typeof typedMethods)[number];

type HandlersOf<F extends Family> = {
  [M in Extract<Operation, Handled<F>> as NameIn<F, M["operation"]>]: HandlerOf<M>;
};

/** Operations that only write JSON do not have a handler. */
type Handled<F extends Family> = { operation: `${F}.${string}`; handler: (context: never, args: never) => unknown };

type NameIn<F extends Family, Id extends string> = Id extends `${F}.${infer Name}` ? Name : never;

type HandlerOf<M extends { handler: (context: never, args: never) => unknown }> = (
  ...args: Record<never, never> extends Parameters<M["handler"]>[1]
    ? [args?: Parameters<M["handler"]>[1]]
    : [args: Parameters<M["handler"]>[1]]
) => ReturnType<M["handler"]>;

export interface Api extends Handlers {
  /** The dependencies of the handlers. */
  readonly context: ApiContext;
  /** Maps slots to forks. */
  readonly chainConfig: BeaconConfig;
}

/** Creates a node's API. */
export function createApi(dependencies: ApiDependencies): Api {
  const { chain, broadcast = NO_BROADCAST, health = HEALTHY, control, eth, ...rest } = dependencies;
  const context: ApiContext = {
    ...rest,
    chain,
    broadcast,
    health,
    get control() {
      return control?.();
    },
    get eth() {
      return eth?.();
    },
    events: createEventStream(chain),
    version: clientVersion(),
  };
  return { ...bindHandlers(context), context, chainConfig: chain.config };
}

function bindHandlers(context: ApiContext): Handlers {
  const families: Record<string, Record<string, unknown>> = {};
  for (const { operation, handler } of methods) {
    if (operation === undefined || !handler) continue;
    const [family, name] = operation.split(".") as [Family, string];
    families[family] ??= {};
    families[family][name] = withFailures((args: Record<string, unknown> = {}) => handler(context, args));
  }
  return families as unknown as Handlers;
}
