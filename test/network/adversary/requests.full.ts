import "./requests.test.ts";
