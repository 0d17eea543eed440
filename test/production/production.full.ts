import "./production.test.ts";
