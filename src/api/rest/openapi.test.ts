import { describe, expect, it } from "vitest";
import { methodGroups, methods } from "../method-groups.ts";
import { openApiDocument } from "./openapi.ts";

const document = openApiDocument(methodGroups, "1.2.3");
const operation = (verb: string, path: string) => document.paths[path]![verb]!;

describe("openApiDocument", () => {
  it("has exactly the paths that are served", () => {
    const documented = Object.entries(document.paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path}`),
    );
    const served = methods.flatMap(({ rest }) => rest.map(({ verb, path }) => `${verb} ${path}`));
    expect(documented.toSorted()).toEqual(served.toSorted());
  });

  it("gives each operation an id of its own", () => {
    const ids = Object.values(document.paths).flatMap((verbs) => Object.values(verbs).map((each) => each.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("places parameters in path, query, header and body", () => {
    const { parameters } = operation("get", "/eth/v1/beacon/states/{state_id}/validators");
    expect(parameters).toMatchObject([
      { name: "state_id", in: "path", required: true },
      { name: "id", in: "query", required: false },
      { name: "status", in: "query", required: false },
    ]);
    const publication = operation("post", "/eth/v2/beacon/blocks");
    expect(publication.parameters).toMatchObject([
      { name: "broadcast_validation", in: "query" },
      { name: "Eth-Consensus-Version", in: "header", required: true },
      { name: "Eth-Builder-Url", in: "header", required: false },
    ]);
    expect(publication.requestBody).toMatchObject({
      required: true,
      content: { "application/json": {}, "application/octet-stream": {} },
    });
  });

  it("wraps results in data, and has none where the status is the answer", () => {
    const { responses } = operation("get", "/eth/v1/beacon/genesis");
    expect(responses["200"]).toMatchObject({
      content: { "application/json": { schema: { required: ["data"], properties: { data: { type: "object" } } } } },
    });
    expect(operation("post", "/eth/v2/beacon/blocks").responses["200"]).not.toHaveProperty("content");
    expect(operation("get", "/eth/v1/events").responses["200"]).toMatchObject({ content: { "text/event-stream": {} } });
  });

  it("refers only to schemas that it contains", () => {
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!);
    expect(names.filter((name) => !(name in document.components.schemas))).toEqual([]);
  });
});
