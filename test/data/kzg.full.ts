import "./kzg.test.ts";
