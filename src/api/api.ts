import type { BeaconConfig } from "@lodestar/config";
import { type Broadcast, NO_BROADCAST } from "../network/broadcast.ts";
import { clientVersion } from "../runtime/version.ts";
import { failingAsCall } from "./chain-failures.ts";
import type { Family } from "./codecs.ts";
import type { ApiContext, NodeCondition } from "./context.ts";
import type { DevControl } from "./dev-control.ts";
import { createEventStream } from "./event-stream.ts";
import { methods, type typedMethods } from "./method-groups.ts";

/** What a node gives its API; what it does not have is left out. */
interface ApiDependencies extends Pick<ApiContext, "chain" | "network" | "setLogSpec" | "futures"> {
  /** Left out by a node that speaks to no other. */
  broadcast?: Broadcast;
  /** Left out where nothing can be wrong. */
  condition?: NodeCondition;
  /** Left out where there is nothing to control; asked with each call, since a dev chain is made of its node. */
  control?(): DevControl | undefined;
}

const FAULTLESS: NodeCondition = { isWarmedUp: true, isDatabaseWritable: true, executionClient: null };

/** The handlers of the standard's operations by their names in @lodestar/api: what callers inside the process use. */
type Handlers = { readonly [F in Family]: HandlersOf<F> };

type Operation = (typeof typedMethods)[number];

type HandlersOf<F extends Family> = {
  [M in Extract<Operation, { operation: `${F}.${string}` }> as NameIn<F, M["operation"]>]: HandlerOf<M>;
};

type NameIn<F extends Family, Id extends string> = Id extends `${F}.${infer Name}` ? Name : never;

type HandlerOf<M extends { handler: (context: never, args: never) => unknown }> = (
  ...args: Record<never, never> extends Parameters<M["handler"]>[1]
    ? [args?: Parameters<M["handler"]>[1]]
    : [args: Parameters<M["handler"]>[1]]
) => ReturnType<M["handler"]>;

export interface Api extends Handlers {
  /** What the methods answer from. */
  readonly context: ApiContext;
  /** Says which fork an object belongs to. */
  readonly chainConfig: BeaconConfig;
}

export function createApi(dependencies: ApiDependencies): Api {
  const { chain, broadcast = NO_BROADCAST, condition = FAULTLESS, control, ...rest } = dependencies;
  const context: ApiContext = {
    ...rest,
    chain,
    broadcast,
    condition,
    get control() {
      return control?.();
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
    families[family][name] = failingAsCall((args: Record<string, unknown> = {}) => handler(context, args));
  }
  return families as unknown as Handlers;
}
