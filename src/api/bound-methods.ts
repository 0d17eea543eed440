import { nearestName } from "../errors/nearest-name.ts";
import type { Method as CallableMethod, Caller, ListedMethodTable, Params, Waiting } from "../server/method-table.ts";
import type { Api } from "./api.ts";
import { type Args, bind } from "./bind.ts";
import { cachePolicyOf } from "./cache-policy.ts";
import { codecOf, createCodecs, type RequestCodec, type ResponseCodec } from "./codecs.ts";
import type { ApiContext } from "./context.ts";
import type { CallContext, Method, Param } from "./definition.ts";
import { type Executor, jsonExecutor, sszExecutor } from "./encoding.ts";
import { Lanes } from "./lanes.ts";
import { methods as allMethods } from "./method-groups.ts";

/** A method of a node: the one executor behind every server. */
export interface BoundMethod extends CallableMethod {
  readonly definition: Method;
  readonly context: ApiContext;
  /** Its parameters in REST, with the schemas of the node's chain. */
  readonly restParams: readonly Param[];
  readonly codec: ResponseCodec<unknown, unknown> | undefined;
  /** What reads it from an SSZ body, where that can be. */
  readonly requestCodec: RequestCodec | undefined;
  readonly executeJson: Executor;
  /** Where one of its paths has an SSZ answer. */
  readonly executeSsz: Executor;
  /** Runs a call of the method when its turn has come. */
  inTurn<T>(args: Args, waiting: Waiting | undefined, work: () => Promise<T>): Promise<T>;
}

interface MethodTableOptions {
  methods?: readonly Method[];
  lanes?: Lanes;
}

export interface BoundMethods extends Required<ListedMethodTable> {
  readonly all: readonly BoundMethod[];
}

export function createMethodTable({ context }: Api, options: MethodTableOptions = {}): BoundMethods {
  const { methods = allMethods, lanes = new Lanes() } = options;
  const codecs = createCodecs(context.chain.config);
  const bound = methods.map((definition) => bindMethod(definition, { context, codecs, lanes }));
  const byName = new Map<string, BoundMethod>();
  for (const method of bound) {
    for (const name of [method.name, ...method.definition.aliases]) {
      if (byName.has(name)) throw new Error(`There are two methods called ${name}; a name stands for one.`);
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

/** The signal is made only for those who look at it. */
export class Call implements CallContext {
  readonly caller: Caller | undefined;
  readonly #waiting: Waiting | undefined;

  constructor(caller: Caller | undefined, waiting: Waiting | undefined) {
    this.caller = caller;
    this.#waiting = waiting;
  }

  get signal(): AbortSignal | undefined {
    return this.#waiting?.signal;
  }
}

interface Surroundings {
  context: ApiContext;
  codecs: ReturnType<typeof createCodecs>;
  lanes: Lanes;
}

function bindMethod(definition: Method, { context, codecs, lanes }: Surroundings): BoundMethod {
  const { name, sameAs, arrange, cost, access, operation, rest, dependsOn } = definition;
  const route = operation === undefined ? undefined : codecOf(codecs, operation);
  const codec = definition.codec?.(codecs, context) ?? route?.resp;
  const ofChain = ({ schemaFor, ...param }: Param): Param =>
    schemaFor ? { ...param, schema: schemaFor(context.chain.config) } : param;
  const signature = { name: sameAs ?? name, params: definition.params.map(ofChain), arrange };
  const executeJson = jsonExecutor(definition, codec, context, lanes);
  const inTurn: BoundMethod["inTurn"] = (args, waiting, work) =>
    cost === "cheap" || (cost === "state" && args.stateId === "head") ? work() : lanes.run(cost, waiting, work);
  return {
    definition,
    context,
    restParams: definition.restParams.map(ofChain),
    codec,
    requestCodec: definition.requestCodec?.(codecs, context) ?? route?.req,
    executeJson,
    executeSsz: sszExecutor(definition, codec, context, lanes),
    inTurn,
    name,
    cost,
    access,
    takesLargeBody: definition.takesLargeBody ?? rest.some(({ verb, takesText }) => verb === "POST" && !takesText),
    isCacheable: dependsOn !== undefined,
    cachePolicy: (params) => cachePolicyOf(definition, params),
    elementOf: definition.elementOf,
    // Not an async function, which would take three turns more to settle than the promise that it returns.
    call: (params: Params, caller, waiting) => {
      try {
        const args = bind(signature, params);
        const run = (bound: Args) => inTurn(bound, waiting, () => executeJson(bound, new Call(caller, waiting)));
        return args instanceof Promise ? args.then(run) : run(args);
      } catch (failure) {
        // A wrong parameter is a rejection like every other failure, not an exception of the caller.
        return Promise.reject(failure);
      }
    },
  };
}
