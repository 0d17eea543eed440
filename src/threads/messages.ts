type FieldsOf<Message> = Message extends [unknown, ...infer Fields] ? Fields : never;

/** Handlers by kind of message. */
export type Handlers<Message extends [kind: string, ...unknown[]]> = {
  [Kind in Message[0]]: (...fields: FieldsOf<Extract<Message, [Kind, ...unknown[]]>>) => void;
};

/** Dispatches messages to their handlers. */
export function dispatchAll<Message extends [kind: string, ...unknown[]]>(
  handlers: Handlers<Message>,
  messages: readonly Message[],
): void {
  for (const message of messages) dispatch(handlers, message);
}

/** Dispatches a message to its handler. */
export function dispatch<Message extends [kind: string, ...unknown[]]>(
  handlers: Handlers<Message>,
  [kind, ...fields]: Message,
): void {
  // The type of `Handlers` guarantees that the fields match the kind.
  (handlers[kind as Message[0]] as (...fields: unknown[]) => void)(...fields);
}
