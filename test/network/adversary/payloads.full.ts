import "./payloads.test.ts";
