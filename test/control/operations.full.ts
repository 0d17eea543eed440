import "./operations.test.ts";
