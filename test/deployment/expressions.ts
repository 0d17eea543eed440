import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const DIRECTORY = join(import.meta.dirname, "../../docs/monitoring");

/** Path of the alert rules. */
export const ALERTS = join(DIRECTORY, "alerts.yml");

/** Path of the alert rules of gateways. */
export const GATEWAY_ALERTS = join(DIRECTORY, "gateway-alerts.yml");

/** Returns the expressions of alert rules. */
export const alerts = (file = ALERTS): string[] => expressionsIn(parse(readFileSync(file, "utf8")));

/** Returns the expressions of a Grafana dashboard. */
export const dashboard = (name = "grafana-dashboard.json"): string[] =>
  expressionsIn(JSON.parse(readFileSync(join(DIRECTORY, name), "utf8")));

/** Returns every value of the key "expr" in a document. */
function expressionsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "expr" && typeof inner === "string" ? [inner] : expressionsIn(inner),
  );
}
