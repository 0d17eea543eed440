import { nearestName } from "../errors/nearest-name.ts";
import type { CallableMethod, Cancellation, ListedMethodTable, Params } from "../server/method-table.ts";
import type { Api } from "./api.ts";
import { type Args, bind } from "./bind.ts";
import { cachePolicyOf } from "./cache-policy.ts";
import { LazyCallContext } from "./call-context.ts";
import { type Codecs, codecOf, type RequestCodec, type ResponseCodec } from "./codecs.ts";
import type { ApiContext } from "./context.ts";
import { createCodecs } from "./create-codecs.ts";
import type { DispatchedMethod, Param } from "./definition.ts";
import { type Executor, jsonExecutor, sszExecutor } from "./encoding.ts";
import { Lanes } from "./lanes.ts";
import { methods as allMethods } from "./method-groups.ts";

/** A method bound to a node, in the form in which all servers call it. */
export interface BoundMethod extends CallableMethod {
  readonly definition: DispatchedMethod;
  readonly context: ApiContext;
  /** REST parameters, with schemas for the chain. */
  readonly restParams: readonly Param[];
  readonly codec: ResponseCodec<unknown, unknown> | undefined;
  /** Parses SSZ request bodies, if supported. */
  readonly requestCodec: RequestCodec | undefined;
  readonly executeJson: Executor;
  /** Encodes SSZ responses, if supported. */
  readonly executeSsz: Executor;
  /** Runs a call as soon as its lane has a free slot. */
  schedule<T>(args: Args, cancellation: Cancellation | undefined, work: () => Promise<T>): Promise<T>;
}

interface MethodTableOptions {
  methods?: readonly DispatchedMethod[];
  lanes?: Lanes;
}

export interface BoundMethods extends Required<ListedMethodTable> {
  readonly all: readonly BoundMethod[];
}

/** Binds all methods to a node and creates a table of their names. */
export function createMethodTable({ context }: Api, options: MethodTableOptions = {}): BoundMethods {
  const { methods = allMethods, lanes = new Lanes() } = options;
  const codecs = createCodecs(context.chain.config);
  const bound = methods.map((definition) => bindMethod(definition, { context, codecs, lanes }));
  const byName = new Map<string, BoundMethod>();
  for (const method of bound) {
    for (const name of [method.name, ...method.definition.aliases]) {
      if (byName.has(name)) throw new Error(`Duplicate method name: ${name}`);
      byName.set(name, method);
    }
  }
  return {
    all: bound,
    entries: () => byName.entries(),
    find: (name) => byName.get(name),
    suggest: (name) => nearestName(name, byName.keys()),
  };
}

interface BindingDeps {
  context: ApiContext;
  codecs: Codecs;
  lanes: Lanes;
}

function bindMethod(definition: DispatchedMethod, { context, codecs, lanes }: BindingDeps): BoundMethod {
  const { name, sameAs, normalizePositional, cost, access, operation, rest, dependsOn } = definition;
  const route = operation === undefined ? undefined : codecOf(codecs, operation);
  const codec = definition.codec?.(codecs, context) ?? route?.resp;
  const ofChain = ({ schemaFor, ...param }: Param): Param =>
    schemaFor ? { ...param, schema: schemaFor(context.chain.config) } : param;
  const signature = { name: sameAs ?? name, params: definition.params.map(ofChain), normalizePositional };
  const executeJson = jsonExecutor(definition, codec, context, lanes);
  const schedule: BoundMethod["schedule"] = (args, cancellation, work) =>
    cost === "cheap" || (cost === "state" && args.stateId === "head") ? work() : lanes.run(cost, cancellation, work);
  return {
    definition,
    context,
    restParams: definition.restParams.map(ofChain),
    codec,
    requestCodec: definition.requestCodec?.(codecs, context) ?? route?.req,
    executeJson,
    executeSsz: sszExecutor(definition, codec, context, lanes),
    schedule: schedule,
    name,
    cost,
    access,
    takesLargeBody: definition.takesLargeBody ?? rest.some(({ verb, takesText }) => verb === "POST" && !takesText),
    isCacheable: dependsOn !== undefined,
    cachePolicy: (params) => cachePolicyOf(definition, params),
    elementOf: definition.elementOf,
    // This is not an async function because that would take three more microtasks to return a promise.
    call: (params: Params, caller, cancellation) => {
      try {
        const args = bind(signature, params);
        const run = (bound: Args) =>
          schedule(bound, cancellation, () => executeJson(bound, new LazyCallContext(caller, cancellation)));
        return args instanceof Promise ? args.then(run) : run(args);
      } catch (failure) {
        // Invalid parameters lead to a rejection rather than an exception.
        return Promise.reject(failure);
      }
    },
  };
}
