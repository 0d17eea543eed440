import "./attestations.test.ts";
