import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const DIRECTORY = join(import.meta.dirname, "../../docs/monitoring");

/** Path of the alert rules. */
export const ALERTS = join(DIRECTORY, "alerts.yml");

/** Returns the expressions of the alert rules. */
export const alerts = (): string[] => expressionsIn(parse(readFileSync(ALERTS, "utf8")));

/** Returns the expressions of the Grafana dashboard. */
export const dashboard = (): string[] =>
  expressionsIn(JSON.parse(readFileSync(join(DIRECTORY, "grafana-dashboard.json"), "utf8")));

/** Returns every value of the key "expr" in a document. */
function expressionsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "expr" && typeof inner === "string" ? [inner] : expressionsIn(inner),
  );
}
