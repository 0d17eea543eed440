import "./builders.test.ts";
