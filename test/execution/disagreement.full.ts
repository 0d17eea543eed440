import "./disagreement.test.ts";
