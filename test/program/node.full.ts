import "./node.test.ts";
