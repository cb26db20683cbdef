// Builds the package into dist/: src/ as ES modules beside the tests, and src/ once more as CommonJS.
import { execSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";

const run = (command) => execSync(command, { stdio: ["ignore", 2, 2] });

if (!existsSync("node_modules/typescript")) {
  // "npm install FOLDER" makes a link to the folder, and installs nothing in it.
  run("npm install --prefix=. --no-global --include=dev --ignore-scripts --no-audit --no-fund");
}
rmSync("dist", { recursive: true, force: true });
run("npx tsc");
// The nearest package.json says whether TypeScript makes CommonJS of a file.
mkdirSync("dist/cjs");
writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');
cpSync("src", "dist/cjs/src", { recursive: true });
run("npx tsc --project tsconfig.cjs.json");
rmSync("dist/cjs/src", { recursive: true });
