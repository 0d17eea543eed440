/** Methods of a service as seen from another thread. An `AbortSignal` passed as the last argument cancels the call. */
export type Remote<Service> = {
  [Name in keyof Service as Service[Name] extends (...args: never[]) => unknown ? Name : never]: Service[Name] extends (
    ...args: infer Args
  ) => infer Result
    ? (...args: Args | [...Args, signal?: AbortSignal]) => Promise<Awaited<Result>>
    : never;
};

type Method = (...args: readonly unknown[]) => unknown;

/** Returns a proxy for a service at the other end of a channel. `call` sends a method's name and arguments. */
export function remoteService<Service extends object>(
  call: (method: string, args: readonly unknown[]) => Promise<unknown>,
): Remote<Service> {
  return new Proxy({} as Remote<Service>, {
    get:
      (_, method: string) =>
      (...args: unknown[]) =>
        call(method, args),
  });
}

/** Calls a service's method on behalf of the other end. */
export function callService(service: object | undefined, method: string, args: readonly unknown[]): unknown {
  const called = (service as Readonly<Record<string, Method>> | undefined)?.[method];
  if (called === undefined) throw new Error(`The thread has no method ${method}.`);
  return called.apply(service, args as unknown[]);
}
