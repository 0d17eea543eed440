import type { Api } from "../api/api.ts";
import { nearestName } from "../nearest-name.ts";
import type { Method, MethodTable } from "../server/method-table.ts";
import { bind } from "./bind.ts";
import { catalogue } from "./catalogue.ts";
import type { Entry, EntryParam } from "./entry.ts";

export function createMethodTable(api: Api, entries: readonly Entry[] = catalogue): Required<MethodTable> {
  const methods = new Map<string, Method>();
  for (const entry of entries) {
    const params = entry.params.map((param) => forChain(param, api));
    const signature = { ...entry, name: entry.sameAs ?? entry.name, params };
    const method: Method = {
      name: entry.name,
      submission: entry.submission,
      // Not an async function, which would take three turns more to settle than the promise that it returns.
      call: (params, caller) => {
        try {
          return entry.invoke(api, bind(signature, params), caller);
        } catch (failure) {
          // A wrong parameter is a rejection like every other failure, not an exception of the caller.
          return Promise.reject(failure);
        }
      },
    };
    for (const name of [entry.name, ...entry.aliases]) {
      if (methods.has(name)) throw new Error(`The catalogue has two methods called ${name}; a name stands for one.`);
      methods.set(name, method);
    }
  }
  return {
    find: (name) => methods.get(name),
    suggest: (name) => nearestName(name, methods.keys()),
  };
}

function forChain(param: EntryParam, { chainConfig }: Api): EntryParam {
  return param.schemaFor ? { ...param, schema: param.schemaFor(chainConfig) } : param;
}
