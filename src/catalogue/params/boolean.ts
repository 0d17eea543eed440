import { paramSchema } from "./schema.ts";

export const boolean = paramSchema("true or false", { type: "boolean" }, (value) =>
  typeof value === "boolean" ? value : undefined,
);
