import "./resume.test.ts";
